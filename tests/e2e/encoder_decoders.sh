#!/bin/sh
# Encoder-decoders of shared/data/families as programs: transformers' logits, with rows at once or one at a time, and its greedy
# tokens; one of them on ARM. (tests/families/same_bits.sh and slow-same_bits.sh have the bits of all.)
. tests/lib.sh
families=$SHARED/data/families
need "encoder-decoders" "$families/bart" "$families/marian" "$families/t5" "$families/flan" "$families/whisper"

# source FAMILY: the recorded one as an option
source_of() {
    for _input in input_ids input_features; do
        [ ! -f "$families/$1/$_input.npy" ] || echo "--input $_input=$families/$1/$_input.npy"
    done
}

# shellcheck disable=SC2086 # words
family() {
    _folder=$families/$1 _source=$(source_of "$1") _program=$WORK/$1
    _decoder="--decoder-tokens $("$BUILD/tools/npy_ids" "$_folder/decoder_input_ids.npy")"
    _cpus="--mcpu=x86-64-v3"
    [ "$(uname -m)" = x86_64 ] || _cpus=
    check "$1 builds" "$BURIN" build "$_folder" $_cpus -o "$_program"
    for _chunk in 1 64; do
        check "$1 runs in chunks of $_chunk" "$_program" $_source $_decoder -n 0 --chunk $_chunk --logits "$WORK/logits.npy"
        check "$1: logits in chunks of $_chunk" "$BUILD/tools/npy_near" "$WORK/logits.npy" "$_folder/logits.npy" 2e-4 largest
    done
    "$BUILD/tools/expected" "$_folder/expected.json" greedy next > "$WORK/expected"
    "$_program" $_source -n 32 --ignore-eos > "$WORK/got" 2>&1
    same "$1: greedy tokens" "$WORK/expected" "$WORK/got"
}
for name in bart marian t5 flan whisper; do family $name; done

# On ARM.
# shellcheck disable=SC2046 # words
bits() {
    "$@" $(source_of t5) --decoder-tokens 0,5,9,100 -n 0 --logits-hash -t 2
}
bits "$WORK/t5" > "$WORK/expected"
check "t5 builds for ARM" "$BURIN" build "$families/t5" --target=aarch64-linux-gnu --mcpu=armv8-a -o "$WORK/arm"
bits qemu-aarch64-static -cpu cortex-a72 "$WORK/arm" > "$WORK/got" 2>&1
same "t5: the same bits on ARM" "$WORK/expected" "$WORK/got"

# The encoder's results do not depend on the unused context: another --ctx, the same bits.
# shellcheck disable=SC2086 # an option or none
check "bart builds with a shorter context" "$BURIN" build "$families/bart" --ctx 40 $_cpus -o "$WORK/short"
for program in bart short; do
    "$WORK/$program" --tokens 5,6,7,8,9 --decoder-tokens 2,4 -n 3 --ignore-eos --logits-hash > "$WORK/$program.hash" 2>&1
done
same "bart: the same bits with a shorter context" "$WORK/bart.hash" "$WORK/short.hash"
"$BURIN" build "$families/marian" --emit=c > "$WORK/marian.c"
check "marian: the table of both embeddings and of the output is stored once" \
    test "$(grep -c 'encoder->model_shared\|encoder->shared' "$WORK/marian.c")" -ge 2
