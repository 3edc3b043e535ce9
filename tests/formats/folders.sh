#!/bin/sh
# Folders that a library quantized: weights bit for bit, logits within rounding of the reference in the interpreter. Of ./folders (see
# folders.py), and of ../shared/data/hfquant.
. tests/lib.sh
. tests/lib_formats.sh

# folder NAME PATH TENSOR [MATRIX]
folder() {
    check "folders: $1: values of $3" "$BUILD/tools/weight_values" "$2" "$3" "$2/values.npy" ${4:+"$4"}
    rm -f "$WORK/logits.npy"
    $BURIN run "$2" --interpret --tokens "$(ids_of "$2")" -n 0 --logits "$WORK/logits.npy" > "$WORK/out" 2>&1
    check "folders: $1: logits" "$BUILD/tools/npy_near" "$WORK/logits.npy" "$2/logits.npy" 2e-5 largest
}

for path in tests/formats/folders/*/; do folder "$(basename "$path")" "${path%/}" "$(cat "$path/tensor")"; done
need "folders: hfquant" "$SHARED/data/hfquant"
for path in "$SHARED"/data/hfquant/*/; do
    name=$(basename "$path")
    [ -f "$path/logits.npy" ] || continue
    if [ "$name" = gpt_oss_mxfp4 ]; then
        folder "$name" "${path%/}" model.layers.1.mlp.experts.down_proj 3
    else
        folder "$name" "${path%/}" model.layers.1.self_attn.k_proj.weight
    fi
done
