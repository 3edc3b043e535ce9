#!/bin/sh
# Vocabularies in GGUF files, cut as llama.cpp cuts: gguf_vocabularies.py makes the files and the ids.
. tests/lib.sh
tar -xJf tests/e2e/gguf_vocabularies.tar.xz -C "$WORK"
for file in "$WORK"/*.gguf; do
    name=$(basename "$file" .gguf)
    "$BUILD/tools/token_ids" "$file" "$WORK/texts.txt" > "$WORK/got" 2>&1
    same "GGUF vocabulary: $name" "$WORK/$name.ids" "$WORK/got"
done
