#!/bin/sh
# Every family against transformers, in the interpreter: the models of tests/families, and those of ../shared/data/families.
. tests/lib.sh
models=$WORK/models
mkdir "$models"
for config in tests/families/*/config.json; do
    folder=${config%/config.json}
    "$BUILD/tools/family_weights" "$folder" "$models/${folder##*/}" || not_ok "weights of $folder"
done
"$BUILD/tools/family" "$models"/*
[ -d "$SHARED/data/families" ] || { skip "families: shared" "$SHARED/data/families is missing"; exit 0; }
for config in "$SHARED"/data/families/*/config.json; do echo "${config%/config.json}"; done | xargs "$BUILD/tools/family"
