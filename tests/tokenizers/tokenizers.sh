#!/bin/sh
# tokenizer.json of every kind: the ids of hostile texts and what they become again, as Hugging Face's tokenizers (generate.py).
. tests/lib.sh
for _ids in tests/tokenizers/*.ids; do
    _name=$(basename "$_ids" .ids)
    "$BUILD/tools/tokenize" "tests/tokenizers/$_name.json" tests/tokenizers/texts.json > "$WORK/got" 2>&1
    same "tokenizers: $_name" "$_ids" "$WORK/got"
done
