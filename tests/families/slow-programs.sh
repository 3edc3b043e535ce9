#!/bin/sh
# Every model of tests/families and ../shared/data/families as a program: its results against transformers', and for
# decoders the same bits when tokens are fed one at a time. Arguments: only these names.
. tests/lib.sh
. tests/lib_families.sh

# The integers of an .npy file with commas between.
integers() {
    if head -c 128 "$1" | grep -qa '<i8'; then set -- "$1" d8; else set -- "$1" d4; fi
    od -An -v -w8 -j 128 -t "$2" "$1" | xargs | tr ' ' ,
}
tolerance=1e-5 # tests/tools/family.c has the same

# decoder NAME FOLDER
decoder() {
    _tokens=$(integers "$2/input_ids.npy")
    "$WORK/program" --tokens "$_tokens" -n 0 --logits "$WORK/all.npy" && "$WORK/program" --tokens "$_tokens" -n 0 --chunk 1 --logits "$WORK/single.npy"
    check "program $1: logits" "$BUILD/tools/npy_near" "$WORK/all.npy" "$2/logits.npy" $tolerance largest
    check "program $1: tokens fed one at a time" cmp "$WORK/all.npy" "$WORK/single.npy"
}

# network NAME FOLDER: an encoder of texts or images, an encoder and a decoder that give states
network() {
    _inputs=
    for _input in input_ids decoder_input_ids pixel_values; do [ -f "$2/$_input.npy" ] && _inputs="$_inputs --input $_input=$2/$_input.npy"; done
    # shellcheck disable=SC2086 # a list of words
    "$WORK/program" $_inputs --output "$WORK/out"
    for _file in "$2"/*.npy; do
        case ${_file##*/} in input_ids.npy | decoder_input_ids.npy | pixel_values.npy) continue ;; esac
        check "program $1: $(basename "$_file" .npy)" "$BUILD/tools/npy_near" "$WORK/out/${_file##*/}" "$_file" $tolerance largest
    done
}

# pair NAME FOLDER: an encoder-decoder of texts
pair() {
    _tokens=$(integers "$2/input_ids.npy") _decoder=$(integers "$2/decoder_input_ids.npy")
    for _chunk in 64 1; do
        "$WORK/program" --tokens "$_tokens" --decoder-tokens "$_decoder" -n 0 --chunk $_chunk --logits "$WORK/$_chunk.npy"
    done
    check "program $1: logits" "$BUILD/tools/npy_near" "$WORK/64.npy" "$2/logits.npy" $tolerance largest
    check "program $1: tokens fed one at a time" cmp "$WORK/64.npy" "$WORK/1.npy"
}

for folder in "$models"/*; do
    name=${folder##*/} kind=decoder
    case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
    [ -e "$folder/input_features.npy" ] && continue # tests/e2e
    check "program $name" "$BURIN" build "$folder" --mcpu=x86-64-v3 -o "$WORK/program"
    "$WORK/program" --info 2> "$WORK/log" | grep -q '^input ' && kind=network
    [ -e "$folder/decoder_input_ids.npy" ] && [ ! -e "$folder/last_hidden_state.npy" ] && kind=pair
    $kind "$name" "$folder" 2> "$WORK/log" || sed 's/^/# /' "$WORK/log"
    rm -rf "$WORK/program" "$WORK"/*.npy "$WORK/out"
done
