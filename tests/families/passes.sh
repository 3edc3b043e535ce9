#!/bin/sh
# Every family against transformers after all passes, in the interpreter; programs.sh compiles a
# few. interpreter.sh has the graphs of the descriptions.
. tests/lib.sh
. tests/lib_families.sh
for folder in "$models"/*; do
    name=${folder##*/}
    [ -e "$folder/input_features.npy" ] && continue # tests/e2e
    kind=$(kind_of "$folder")
    results "$kind" "$folder" "$BURIN" run "$folder" --interpret > "$WORK/log" 2>&1 || sed 's/^/# /' "$WORK/log"
    as_expected "passes: $name" "$kind" "$folder"
done
