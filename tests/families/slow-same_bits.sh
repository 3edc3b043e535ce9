#!/bin/sh
# Every family of ../shared/data/families as a program, on the inputs that were recorded with it: one hash over all CPUs, threads
# and chunks, and the interpreter's. Arguments: "host" (without ARM and plain C) and the only names.
. tests/lib.sh
unsanitized "same bits: families"
. tests/bits.sh
families=$SHARED/data/families
need "same bits: families" "$families"
arm=yes
[ "${1-}" != host ] || { arm= && shift; }
levels="x86-64-v3 x86-64-v4"
[ -z "$arm" ] || levels="x86-64 $levels"
[ "$(uname -m)" = x86_64 ] || levels=armv8-a

# what FOLDER: sets what its program is asked, and in which chunks
what() {
    asked= chunks="1 7 64"
    for _input in input_ids input_features input_values pixel_values; do
        [ ! -f "$1/$_input.npy" ] || asked="$asked --input $_input=$1/$_input.npy"
    done
    if [ -f "$1/decoder_input_ids.npy" ]; then
        asked="$asked --decoder-tokens $("$BUILD/tools/npy_ids" "$1/decoder_input_ids.npy") -n 0 --logits-hash"
    elif [ -f "$1/logits.npy" ]; then
        asked="--tokens $("$BUILD/tools/npy_ids" "$1/input_ids.npy") -n 0 --logits-hash"
    else
        asked="$asked --hash" chunks=all
    fi
}

# table NAME CPUS PROGRAM...: the interpreter's hash is one cell more
table() {
    _family=$1 _levels=$2 missing=
    shift 2
    : > "$WORK/cells"
    cells "$_levels" "$@"
    judge "$_family" "$_levels"
    sed -n '1s/ .*//p' "$WORK/cells" > "$WORK/hash" # the last cell may have had no CPU
    same "same bits: $_family in the interpreter" "$WORK/interpreted" "$WORK/hash"
}

for folder in "$families"/*/; do
    folder=${folder%/} name=$(basename "$folder")
    case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
    what "$folder"
    # shellcheck disable=SC2086 # words
    "$BURIN" run "$folder" --interpret $asked > "$WORK/interpreted" 2>&1
    check "same bits: $name builds" emulated "$BURIN" build "$folder" --mcpu="$(echo "$levels" | tr ' ' ,)" -o "$WORK/here"
    table "$name" "$levels" "$WORK/here"
    [ -n "$arm" ] || continue
    check "same bits: $name builds for ARM" "$BURIN" build "$folder" --target=aarch64-linux-gnu --mcpu=armv8-a -o "$WORK/arm"
    table "$name on ARM" armv8-a qemu-aarch64-static -cpu cortex-a72 "$WORK/arm"
done
