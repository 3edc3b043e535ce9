#!/bin/sh
# Emitted programs for aarch64 under qemu, against the interpreter.
. tests/lib.sh
unsanitized "arm: emitted"
. tests/lib_emit.sh
command -v qemu-aarch64-static > /dev/null || { skip "arm: emitted" "qemu-aarch64-static is missing" && exit 0; }
command -v aarch64-linux-gnu-gcc > /dev/null || { skip "arm: emitted" "aarch64-linux-gnu-gcc is missing" && exit 0; }
cpus="armv8-a:armv8_a:-march=armv8-a armv8.2-a+dotprod:armv8_2_a_dotprod:-march=armv8.2-a+dotprod"
for ir in tests/golden/emit/*.ir; do
    name=$(basename "$ir" .ir)
    is_decoder "$name" || continue
    hash=$("$BUILD/tools/eval_ir" "$ir")
    # shellcheck disable=SC2086
    check "arm: $name builds" emitted_build "$WORK/$name" "$name" "clang-19 --target=aarch64-linux-gnu -static" $cpus
    for cell in 1:7 2:40; do
        emitted_cell "arm: $name on cortex-a72, threads:chunk $cell" "$hash" qemu-aarch64-static -cpu cortex-a72 "$WORK/$name/run" armv8-a "${cell%:*}" "${cell#*:}"
        emitted_cell "arm: $name on cortex-a76, threads:chunk $cell" "$hash" qemu-aarch64-static -cpu cortex-a76 "$WORK/$name/run" armv8.2-a+dotprod \
            "${cell%:*}" "${cell#*:}"
    done
done
