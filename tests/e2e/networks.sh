#!/bin/sh
# Programs without tokens: the encoders of shared/data/families give transformers' numbers; --input, --output. (Their bits:
# tests/families/same_bits.sh.)
. tests/lib.sh
families=$SHARED/data/families
need "programs of networks" "$families/bert" "$families/roberta" "$families/distilbert" "$families/vit" "$families/clip"

levels=
[ "$(uname -m)" != x86_64 ] || levels=--mcpu=x86-64-v3
# shellcheck disable=SC2086 # an option or none
program() { check "$1 builds" "$BURIN" build "$families/$1" $levels -o "$WORK/$1"; }

# inputs FAMILY: its recorded ones as options
inputs() {
    for _input in input_ids pixel_values; do
        [ ! -f "$families/$1/$_input.npy" ] || echo "--input $_input=$families/$1/$_input.npy"
    done
}

# numbers FAMILY: every recorded output, within 2e-4 of the largest magnitude
numbers() {
    _in=$(inputs "$1")
    # shellcheck disable=SC2086 # words
    check "$1 runs" "$WORK/$1" $_in --output "$WORK/$1.out"
    for _file in "$families/$1"/*.npy; do
        _output=$(basename "$_file")
        case $_output in input_ids.npy | pixel_values.npy) continue ;; esac
        check "$1: ${_output%.npy}" "$BUILD/tools/npy_near" "$WORK/$1.out/$_output" "$_file" 2e-4 largest
    done
}

for family in bert roberta distilbert vit clip; do program $family && numbers $family; done

bert=$WORK/bert ids=$families/bert/input_ids.npy pixels=$families/vit/pixel_values.npy
says "an input is missing" 1 "nothing is given for the input input_ids: i32[T]" "$bert"
says "an input of another name" 1 "there is no input of that name" "$bert" --input "ids=$ids"
says "a file that is not there" 1 "/nowhere.npy cannot be read: No such file" "$bert" --input /nowhere.npy
says "a file of something else" 1 "is no .npy file that can be read" "$bert" --input Makefile
says "the wrong shape" 1 "has the shape [3, 32, 32], and input_ids is i32[T]" "$bert" --input "$pixels"
says "the wrong type" 1 "has elements of type f32" "$bert" --input "$families/bert/pooler_output.npy"
says "two lengths" 1 "T is 9 here and 21 before" "$bert" --input "$ids" --input "attention_mask=$families/clip/input_ids.npy"
says "an id beyond the vocabulary" 1 "element 0 is 152, and token_type_ids takes 0 to 1" "$bert" --random --input "token_type_ids=$families/clip/input_ids.npy"
says "an input twice" 1 "input_ids is given twice" "$bert" --input "$ids" --input "input_ids=$ids"
says "longer than it was built for" 1 "T is 999, and the program was built for 1 to 128" "$bert" --random --dim T=999
says "a dimension of another name" 1 "there is no dimension N" "$bert" --random --dim N=2
says "--dim without a number" 2 "expected NAME=N" "$bert" --random --dim T
says "no options of a decoder" 2 "unknown option --temp" "$bert" --temp 0
says "no prompt" 2 "inputs are .npy files: --input" "$bert" "some text"
says "a folder that cannot be" 1 "--output /proc/none" "$bert" --random --output /proc/none
says "--info names the inputs" 0 "input  attention_mask: i32[T] (ones where not given)" "$bert" --info
says "--bench" 0 "one run" "$WORK/vit" --bench
says "printed values" 0 "pooler_output: f32[64]" "$bert" --random
check "--random is the same every time" test "$("$bert" --random --hash)" = "$("$bert" --random --hash -t 1)"
check "another length, another hash" test "$("$bert" --random --hash)" != "$("$bert" --random --hash --dim T=5)"

# Damaged .npy files: one sentence each.
damage=0
for bytes in 0 5 9 60 127 130 200; do
    head -c $bytes "$ids" > "$WORK/cut.npy"
    "$bert" --input "$WORK/cut.npy" > "$WORK/says" 2>&1
    [ $? = 1 ] && [ "$(wc -l < "$WORK/says")" = 1 ] && damage=$((damage + 1))
done
check "seven files that end early" test $damage = 7
for edit in 's/<i8/>i8/' 's/<i8/<c8/' 's/(21,)/(99,)/' 's/(21,)/(-1,)/' 's/False/Maybe/' "s/'shape'/'shade'/" 's/(21,)/21   /'; do
    sed "$edit" "$ids" > "$WORK/edited.npy"
    says "a header with $edit" 1 "edited.npy" "$bert" --input "$WORK/edited.npy"
done

# Batches: files with one axis more. Each row is as if it ran alone; padding after a text changes
# nothing in it.
hidden() { values "$WORK/$1/last_hidden_state.npy"; }
values "$ids" | head -c 72 > "$WORK/short.raw" # 9 of 21 ids
{ cat "$WORK/short.raw" && head -c 96 /dev/zero; } > "$WORK/padded.raw"
{ head -c 9 /dev/zero | tr '\0' '\1' && head -c 12 /dev/zero; } > "$WORK/mask.raw"
head -c 21 /dev/zero | tr '\0' '\1' > "$WORK/ones.raw"
npy '<i8' 9 < "$WORK/short.raw" > "$WORK/short.npy"
values "$ids" | cat - "$WORK/padded.raw" "$WORK/padded.raw" | npy '<i8' 3,21 > "$WORK/ids.npy"
cat "$WORK/ones.raw" "$WORK/mask.raw" "$WORK/ones.raw" | npy '|u1' 3,21 > "$WORK/mask.npy"
npy '<i8' 21 < "$WORK/padded.raw" > "$WORK/padded.npy"
npy '|u1' 1,21 < "$WORK/ones.raw" > "$WORK/ones.npy"
"$bert" --input "input_ids=$WORK/short.npy" --output "$WORK/short"
"$bert" --input "input_ids=$WORK/padded.npy" --output "$WORK/padded"
check "a batch runs" "$bert" --input "input_ids=$WORK/ids.npy" --input "attention_mask=$WORK/mask.npy" \
    --input "token_type_ids=$WORK/ones.npy" --output "$WORK/typed"
"$bert" --input "input_ids=$WORK/ids.npy" --input "attention_mask=$WORK/mask.npy" --output "$WORK/batch"
hidden bert.out > "$WORK/first" && hidden batch | head -c 5376 > "$WORK/got"
same "a batch: its first row as alone" "$WORK/first" "$WORK/got"
hidden short > "$WORK/second" && hidden batch | tail -c +5377 | head -c 2304 > "$WORK/got"
same "a batch: a shorter row as without padding" "$WORK/second" "$WORK/got"
hidden padded > "$WORK/third" && hidden batch | tail -c 5376 > "$WORK/got"
same "a batch: its last row as alone" "$WORK/third" "$WORK/got"
check "a batch: token types for all of it" sh -c '! cmp -s "$1/typed/last_hidden_state.npy" "$1/batch/last_hidden_state.npy"' - "$WORK"
{ values "$pixels" && values "$pixels"; } | npy '<f4' 2,3,32,32 > "$WORK/pixels.npy"
"$WORK/vit" --input "$WORK/pixels.npy" --output "$WORK/images"
hidden vit.out > "$WORK/first" && hidden images | head -c 4352 > "$WORK/got"
same "a batch of images: its first as alone" "$WORK/first" "$WORK/got"
check "a batch of images: its shape" grep -qaF "'shape': (2, 17, 64)" "$WORK/images/last_hidden_state.npy"
values "$ids" | cat - "$WORK/padded.raw" | npy '<i8' 2,21 > "$WORK/two.npy"
says "batches of two sizes" 1 "a batch of 3 here and of 2 before" "$bert" --input "input_ids=$WORK/two.npy" --input "attention_mask=$WORK/mask.npy"
