#!/bin/sh
# Random combinations of everything that a tokenizer.json can say, against Hugging Face's tokenizers (PYTHON has that package).
. tests/lib.sh
PYTHON=${PYTHON:-python3}
"$PYTHON" -c 'import tokenizers' 2> /dev/null || { skip "tokenizers: random files" "no package tokenizers" && exit 0; }
for _seed in 1 2; do
    "$PYTHON" tests/tokenizers/random_files.py "$WORK/files$_seed" $_seed 200 > /dev/null 2>&1
    check "tokenizers: random files, seed $_seed" "$PYTHON" tests/tokenizers/random_files.py "$WORK/files$_seed" "$BUILD/tools/tokenize"
    "$PYTHON" tests/tokenizers/wild_files.py "$WORK/wild$_seed" $_seed 200 > /dev/null 2>&1
    check "tokenizers: wild files, seed $_seed" "$PYTHON" tests/tokenizers/random_files.py "$WORK/wild$_seed" "$BUILD/tools/tokenize"
done
