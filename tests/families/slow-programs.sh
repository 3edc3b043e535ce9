#!/bin/sh
# Every model of tests/families and ../shared/data/families as a program: its results against transformers', and for
# decoders the same bits when tokens are fed one at a time. Arguments: only these names.
. tests/lib.sh
. tests/lib_families.sh

# one_at_a_time NAME KIND FOLDER: the bits of $WORK/out
one_at_a_time() {
    cp "$WORK/out/logits.npy" "$WORK/all.npy"
    results "$2" "$3" "$WORK/program" --chunk 1
    check "program $1: tokens fed one at a time" cmp "$WORK/all.npy" "$WORK/out/logits.npy"
}

for folder in "$models"/*; do
    name=${folder##*/}
    case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
    [ -e "$folder/input_features.npy" ] && continue # tests/e2e
    kind=$(kind_of "$folder")
    check "program $name" "$BURIN" build "$folder" --mcpu=x86-64-v3 -o "$WORK/program"
    results "$kind" "$folder" "$WORK/program" 2> "$WORK/log" || sed 's/^/# /' "$WORK/log"
    as_expected "program $name" "$kind" "$folder"
    [ "$kind" = network ] || one_at_a_time "$name" "$kind" "$folder"
    rm -f "$WORK/program"
done
