#!/bin/sh
# Recurrences whose steps act lane by lane are one kernel each: over CPU levels, threads and chunks the bits of the interpreter, which
# goes row after row. First scans/scans.burin, which has forms and sizes that no family has. slow-scans.sh takes all families, plain C
# and ARM. Arguments: names of families.
. tests/lib.sh
unsanitized "scans"
. tests/bits.sh
threads="1 3" chunks="1 7 64" levels=${LEVELS-x86-64-v3 x86-64-v4}
[ "$(uname -m)" = x86_64 ] || levels=armv8-a

# one_hash NAME SCANS MODEL OPTIONS...: as many scans in the emitted text, one hash
one_hash() {
    family=$1 scans=$2 missing=
    shift 2
    $BURIN build "$@" --emit=c > "$WORK/text.c" 2> "$WORK/said"
    check "scans: $family has $scans" [ "$(grep -c '^KERNEL void scan_' "$WORK/text.c")" = "$scans" ]
    $BURIN run "$@" --interpret --tokens "$tokens" -n 0 --logits-hash > "$WORK/interpreted" 2> "$WORK/said"
    check "scans: $family builds" emulated $BURIN build "$@" --mcpu="$(echo $levels | tr ' ' ,)" -o "$WORK/here"
    : > "$WORK/cells"
    cells "$levels" "$WORK/here"
    judge "$family" "$levels"
    sed -n '1s/ .*//p' "$WORK/cells" > "$WORK/hash"
    same "scans: $family in the interpreter" "$WORK/interpreted" "$WORK/hash"
    [ -n "${ARM-}" ] || return 0
    check "scans: $family builds for ARM" $BURIN build "$@" --target=aarch64-linux-gnu --mcpu=armv8-a -o "$WORK/arm"
    qemu-aarch64-static -cpu cortex-a72 "$WORK/arm" --tokens "$tokens" -n 0 --logits-hash > "$WORK/hash" 2> "$WORK/said"
    same "scans: $family on ARM" "$WORK/interpreted" "$WORK/hash"
}

# weights FOLDER: its tensors by their formulas, in $WORK/model
weights() {
    rm -rf "$WORK/model"
    check "scans: weights of $1" "$BUILD/tools/family_weights" "$1" "$WORK/model"
}

# scans_of FAMILY: how many different kernels; layers share them
scans_of() {
    case $1 in rwkv | rwkv7) echo 2 ;; *) echo 1 ;; esac
}

tokens=$(seq -s , 3 40)
weights tests/e2e/scans
one_hash forms 3 tests/e2e/scans/scans.burin --weights "$WORK/model/model.safetensors" --ctx 64
check "scans: a sum along the innermost axis is a loop of kernels" grep -q 'for (symbols\[[0-9]*\] = 0' "$WORK/text.c"
# Rows of several slots in a step: each has the bits of its text alone.
check "scans: a library" $BURIN build tests/e2e/scans/scans.burin --weights "$WORK/model/model.safetensors" --ctx 128 --mcpu=native \
    -o "$WORK/states.a"
check "scans: its host" gcc -std=gnu11 -O1 -Wall -Wextra -Werror -I. -I"$WORK" tests/e2e/recurrent_host.c "$WORK/states.a" -lm -lpthread \
    -o "$WORK/host"
check "scans: slots cut short, copied, mixed" "$WORK/host" "$tokens" recurrent
for name in ${*:-mamba2-group qwen3_next}; do
    tokens=$("$BUILD/tools/npy_ids" "$FIXTURES/families/$name/input_ids.npy")
    weights "$FIXTURES/families/$name"
    one_hash "$name" "$(scans_of "$name")" "$WORK/model"
done
