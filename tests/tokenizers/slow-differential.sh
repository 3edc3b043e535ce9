#!/bin/sh
# Real tokenizers against Hugging Face's package (PYTHON has it): 20,000 texts of every sort, 1 MB without a space, a book of wiki text.
. tests/lib.sh
PYTHON=${PYTHON:-python3} models=${BURIN_MODELS:-$HOME/.cache/burin-models}
"$PYTHON" -c 'import tokenizers' 2> /dev/null || { skip "tokenizers: 20,000 texts" "no package tokenizers" && exit 0; }
need "tokenizers: 20,000 texts" "$SHARED/data/tokenizers" "$SHARED/data/text/wiki.test.raw"
for file in "$SHARED"/data/tokenizers/*/tokenizer.json "$SHARED/data/tokenizers/gpt2/encoder.json" "$models/minilm/tokenizer.json"; do
    [ -e "$file" ] || { skip "tokenizers: 20,000 texts" "$file is missing" && continue; }
    check "tokenizers: 20,000 texts and wiki.test.raw: $(basename "$(dirname "$file")")" \
        "$PYTHON" tests/tokenizers/differential.py "$BUILD/tools/tokenize" "$file" 20000 1 "$SHARED/data/text/wiki.test.raw"
done
