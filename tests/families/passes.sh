#!/bin/sh
# Every family against transformers behind all passes, in the interpreter: what programs.sh compiles of a few. interpreter.sh has
# the graphs as descriptions give them.
. tests/lib.sh
. tests/lib_families.sh
for folder in "$models"/*; do
    name=${folder##*/}
    [ -e "$folder/input_features.npy" ] && continue # tests/e2e
    kind=$(kind_of "$folder")
    results "$kind" "$folder" "$BURIN" run "$folder" --interpret > "$WORK/log" 2>&1 || sed 's/^/# /' "$WORK/log"
    as_expected "passes: $name" "$kind" "$folder"
done
