#!/bin/sh
# Emitted programs for aarch64 under qemu, against the interpreter: of some decoders, of all with EMITTED=all (slow-emitted.sh).
. tests/lib.sh
unsanitized "arm: emitted"
. tests/lib_emit.sh
command -v qemu-aarch64-static > /dev/null || { skip "arm: emitted" "qemu-aarch64-static is missing" && exit 0; }
command -v aarch64-linux-gnu-gcc > /dev/null || { skip "arm: emitted" "aarch64-linux-gnu-gcc is missing" && exit 0; }
neon=armv8-a:armv8_a:-march=armv8-a
integers="armv8.2-a+dotprod:armv8_2_a_dotprod:-march=armv8.2-a+dotprod armv8.2-a+i8mm:armv8_2_a_i8mm:-march=armv8.2-a+dotprod+i8mm"
for ir in tests/golden/emit/*.ir; do
    name=$(basename "$ir" .ir)
    is_decoder "$name" || continue
    case ${EMITTED-}$name in llama | llama_q8_0 | scan | views | all*) ;; *) continue ;; esac
    hash=$("$BUILD/tools/eval_ir" "$ir")
    cpus=$neon qemus=cortex-a72:armv8-a
    [ "$name" != llama_q8_0 ] || cpus="$neon $integers" qemus="$qemus cortex-a76:armv8.2-a+dotprod max:armv8.2-a+i8mm"
    # shellcheck disable=SC2086
    check "arm: $name builds" emitted_build "$WORK/$name" "$name" "clang-19 --target=aarch64-linux-gnu -static" $cpus
    for cell in 1:7 2:40; do
        for cpu in $qemus; do
            emitted_cell "arm: $name on ${cpu%:*}, threads:chunk $cell" "$hash" qemu-aarch64-static -cpu "${cpu%:*}" "$WORK/$name/run" "${cpu#*:}" \
                "${cell%:*}" "${cell#*:}"
        done
    done
done
