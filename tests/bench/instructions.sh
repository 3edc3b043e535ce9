#!/bin/sh
# Instructions that a token takes, where there is no clock to trust: qemu counts them (instructions.c). examples/austen in q8_0 writes
# 16 tokens and 48: a 32nd of the difference. The same tokens everywhere.
. tests/lib.sh
for tool in gcc qemu-aarch64 qemu-arm qemu-riscv64 qemu-system-arm arm-none-eabi-gcc; do
    command -v $tool > "$WORK/log" || { echo "instructions.sh: no $tool (apt-get install qemu-user qemu-system-arm gcc-arm-none-eabi)" && exit 1; }
done
gcc -shared -fPIC -O2 tests/bench/instructions.c -o "$WORK/count.so" || exit 1

# counted COMMAND...: how many instructions it took
counted() { "$@" 2>&1 < /dev/null | sed -n 's/^instructions //p'; }

# row NAME FEWER MORE
row() { printf '| %s | %s |\n' "$1" "$((($3 - $2) / 32))"; }

on_linux() {
    _name=$1 _triple=$2 _cpu=$3
    [ -e "$WORK/$_triple" ] || "$BURIN" build examples/austen --quant q8_0 --target="$_triple" -o "$WORK/$_triple" > "$WORK/log" || exit 1
    for _n in 16 48; do
        counted "qemu-${_triple%%-*}" -cpu "$_cpu" -plugin "$WORK/count.so" "$WORK/$_triple" "It is a truth" -n $_n --temp 0 -t 1
    done > "$WORK/counts"
    # shellcheck disable=SC2046 # words
    row "$_name" $(cat "$WORK/counts")
}

on_board() {
    for _n in 16 48; do
        make -s -C examples/boards BURIN="$PWD/$BURIN" OUT="$WORK/boards" TOKENS=$_n "$WORK/boards/text-$2.elf" > "$WORK/log" 2>&1 || exit 1
        counted qemu-system-arm -plugin "$WORK/count.so" -M "$2" -nographic -semihosting-config enable=on,target=native -kernel "$WORK/boards/text-$2.elf"
    done > "$WORK/counts"
    # shellcheck disable=SC2046
    row "$1" $(cat "$WORK/counts")
}

printf '| CPU | instructions a token |\n|---|---|\n'
on_linux "64-bit ARM, NEON" aarch64-linux-gnu cortex-a72
on_linux "with dotprod" aarch64-linux-gnu cortex-a76
on_linux "with i8mm" aarch64-linux-gnu max
on_linux "32-bit ARM, VFPv4" arm-linux-gnueabihf cortex-a7
on_linux "RISC-V, rv64gc" riscv64-linux-gnu rv64
on_linux "RISC-V, vectors of 128 bits" riscv64-linux-gnu rv64,v=true,vext_spec=v1.0,vlen=128
on_linux "RISC-V, vectors of 256 bits" riscv64-linux-gnu rv64,v=true,vext_spec=v1.0,vlen=256
on_board "Cortex-M4" mps2-an386
on_board "Cortex-M7" mps2-an500
on_board "Cortex-M55, without MVE" mps3-an547
