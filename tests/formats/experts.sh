#!/bin/sh
# Experts in blocks, as a GGUF has them, all of a layer in one tensor (experts.py): logits of the
# dequantized values, and one hash everywhere.
. tests/lib.sh
unsanitized "experts"
. tests/lib_formats.sh

model=tests/formats/experts
$BURIN run $model/model.gguf --interpret --activations=f32 --tokens "$(ids_of $model)" -n 0 --logits "$WORK/logits.npy" > "$WORK/out" 2>&1
check "experts: logits" "$BUILD/tools/npy_near" "$WORK/logits.npy" $model/logits.npy 2e-5 largest
$BURIN inspect $model/model.gguf --stop-after=layout > "$WORK/graph" 2>&1
for format in q8_0 q4_0; do
    check "experts: $format stays" grep -q "pack(.* {experts=[0-9]*, format=\"$format\"}" "$WORK/graph"
done
check "experts: whose number is lower is the same at each position: no table" sh -c "! grep -q '\[512, 6, 6\]' '$WORK/graph'"
same_everywhere experts $model/model.gguf
$BURIN build $model/model.gguf --emit=c > "$WORK/experts.c" 2> "$WORK/out"
check "experts: layers are one loop" grep -q "are a loop over 2 layers" "$WORK/experts.c"
