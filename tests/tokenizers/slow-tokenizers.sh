#!/bin/sh
# The same with thousands of other texts, where Hugging Face's tokenizers is installed (PYTHON names the interpreter that has it).
. tests/lib.sh
PYTHON=${PYTHON:-python3}
"$PYTHON" -c 'import tokenizers' 2> /dev/null || { skip "tokenizers: thousands of texts" "no package tokenizers" && exit 0; }
for _seed in 2 3; do
    "$PYTHON" tests/tokenizers/generate.py "$WORK" $_seed
    for _ids in tests/tokenizers/*.ids; do
        _name=$(basename "$_ids" .ids)
        "$BUILD/tools/tokenize" "tests/tokenizers/$_name.json" "$WORK/texts.json" > "$WORK/got" 2>&1
        same "tokenizers: $_name, seed $_seed" "$WORK/$_name.ids" "$WORK/got"
    done
done
