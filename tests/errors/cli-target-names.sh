for name in arm64 aarch64-unknown-linux-gnu linux/arm64 Raspberry-Pi-4 rpi2 armv7-unknown-linux-gnueabihf thumbv8m.main-none-eabihf cortex-m7 \
    cortex-a76 stm32f746 riscv64gc-unknown-linux-gnu amd64 native all; do $BURIN build model --target=$name; done
for name in armv6 arm-linux-gnueabi rpi-zero thumbv7m-none-eabi cortex-m3 i686-linux-gnu s390x-linux-gnu ppc64le x86_64-apple-darwin \
    x86_64-unknown-freebsd cuda; do $BURIN build model --target=$name; done
exit $?
