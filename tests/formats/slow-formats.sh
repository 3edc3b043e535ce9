#!/bin/sh
# Every file of ../shared/data/gguf as formats.sh takes its own.
. tests/lib.sh
unsanitized "formats"
. tests/lib_formats.sh
need "formats: files of llama.cpp" "$SHARED/data/gguf"
for folder in "$SHARED"/data/gguf/*/; do
    folder=${folder%/} name=$(basename "$folder")
    [ -f "$folder/logits.npy" ] || continue
    model=$folder/model.gguf
    [ -f "$model" ] || model=$folder
    numbers "$name" "$model" "$folder"
    [ "$model" = "$folder" ] || packed "$name" "$model"
    same_everywhere "$name" "$model"
done
