#!/bin/sh
# Vocabularies of GGUF, of every model and pre-tokenizer: the ids that llama.cpp gives (llama_differential.py --record).
. tests/lib.sh
mkdir "$WORK/gguf" && tar xJf tests/tokenizers/llama.tar.xz -C "$WORK/gguf"
for ids in "$WORK"/gguf/*.ids; do
    name=$(basename "$ids" .ids)
    "$BUILD/tools/tokenize" "$WORK/gguf/$name.gguf" "$WORK/gguf/texts.json" 2>&1 | sed 's/^\[\(\[[^]]*\]\),.*/\1/' > "$WORK/got"
    same "gguf: $name" "$ids" "$WORK/got"
done
