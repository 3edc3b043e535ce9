#!/bin/sh
# Blocks of an ONNX file's weights stay blocks, with the results of ONNX Runtime (onnx_blocks.py)
# and the bits of the same weights as floats; rows are floats unless --activations selects int8.
. tests/lib.sh
tar xJf tests/e2e/onnx_blocks.tar.xz -C "$WORK"
model=$WORK/onnx_blocks/model.onnx
$BURIN inspect "$model" --stop-after=layout > "$WORK/ir" 2>&1
# packed FORMAT NAME...: these products' weights
packed() {
    _format=$1
    shift
    for _y; do check "onnx blocks: $_y is $_format" grep -q "pack(.*%$_y\.q\..*{format=\"$_format\"}" "$WORK/ir"; done
}
packed f32 nbits_4_16_whole
packed zf4_32 nbits_4_32_whole nbits_4_32_none columns_four blocks blocks_zero gemm_blocks
packed z4_64 nbits_4_64_none_halves
packed z4_32 nbits_4_32_whole_halves
packed f4_64 nbits_4_64_fraction
packed zf8_32 nbits_8_64_whole nbits_8_32_none one columns columns_zero gemm transposed
packed zf2_32 nbits_2_64_whole

# built NAME OPTIONS...: the program, and the hash of its results
built() {
    _name=$1
    shift
    $BURIN build "$model" "$@" --mcpu=native -o "$WORK/$_name" > "$WORK/said" 2>&1 || cat "$WORK/said"
    "$WORK/$_name" --input "$WORK/onnx_blocks/x.npy" --hash > "$WORK/$_name.hash" 2>&1
}
built blocks
built floats --quant=f32
built integers --activations=q8
same "onnx blocks: the bits of floats" "$WORK/floats.hash" "$WORK/blocks.hash"
check "onnx blocks: rows of int8 where that is asked for" sh -c "! cmp -s '$WORK/blocks.hash' '$WORK/integers.hash'"
mkdir "$WORK/out"
"$WORK/blocks" --input "$WORK/onnx_blocks/x.npy" --output "$WORK/out" > "$WORK/said" 2>&1 || cat "$WORK/said"
for y in "$WORK"/onnx_blocks/*.npy; do
    name=$(basename "$y")
    [ "$name" = x.npy ] || check "onnx blocks: $name" "$BUILD/tools/npy_near" "$WORK/out/$name" "$y" 1e-5 largest
done

$BURIN run "$WORK/onnx_blocks/wide/model.onnx" --interpret --input x="$WORK/onnx_blocks/x.npy" --output "$WORK" > "$WORK/said" 2>&1 || cat "$WORK/said"
check "onnx blocks: zero points beyond a byte" "$BUILD/tools/npy_near" "$WORK/y.npy" "$WORK/onnx_blocks/wide/y.npy" 1e-5 largest
