#!/bin/sh
# Vocabularies of GGUF, of every model and pre-tokenizer, against llama.cpp itself, where Python's llama_cpp and gguf are installed
# (PYTHON names the interpreter that has them).
. tests/lib.sh
PYTHON=${PYTHON:-python3}
"$PYTHON" -c 'import llama_cpp, gguf, tokenizers, sentencepiece' 2> /dev/null || { skip "tokenizers: llama.cpp" "no package llama_cpp" && exit 0; }
check "tokenizers: vocabularies of GGUF as llama.cpp reads them" \
    "$PYTHON" tests/tokenizers/llama_differential.py "$BUILD/tools/tokenize" "$WORK/gguf"
