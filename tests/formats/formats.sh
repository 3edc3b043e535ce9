#!/bin/sh
# A LLaMA with a matrix in every block format (generate.py): its values against transformers' over the dequantized ones, its bits
# on every CPU, in the interpreter and on ARM; and the same for each file of ../shared/data/gguf in slow-formats.sh.
. tests/lib.sh
unsanitized "formats"
. tests/lib_formats.sh
for model in mixed nvfp4 q1_0 q2_0; do $BURIN inspect tests/formats/$model/model.gguf; done > "$WORK/tensors"
for format in $($BURIN formats | awk '$2 ~ /^[0-9]+$/ && $5 ~ /^GGUF/ { print $1 }'); do
    check "formats: a model has a matrix of $format" grep -q " $format\[" "$WORK/tensors"
done
numbers mixed tests/formats/mixed/model.gguf tests/formats/mixed
packed mixed tests/formats/mixed/model.gguf
same_everywhere mixed tests/formats/mixed/model.gguf --kv=q8_0
numbers "NVFP4 with factors" tests/formats/nvfp4/model.gguf tests/formats/nvfp4
for model in q1_0 q2_0; do numbers $model tests/formats/$model/model.gguf tests/formats/$model; done
numbers "transposed matrices" tests/formats/gpt2/model.gguf tests/formats/gpt2

# Blocks that no product or lookup reads in place: along a product's sum, of vectors, of positions;
# a table of one row without its axis, as llama.cpp's tools write it (`python
# tests/families/gguf_cases.py tests/formats/across/NAME NAME-blocks`)
tokens=$(tail -c +129 tests/formats/across/bert/input_ids.npy | od -An -v -w4 -t d4 | xargs | tr ' ' ,)
for model in deepseek2 chatglm; do
    file=tests/formats/across/$model/model.gguf
    $BURIN run $file --interpret --activations=f32 --tokens "$tokens" -n 0 --logits "$WORK/$model.npy" > "$WORK/$model.out" 2>&1
    check "formats: blocks across: $model" "$BUILD/tools/npy_near" "$WORK/$model.npy" tests/formats/across/$model/logits.npy 1e-5 largest
done
check "formats: what becomes floats is said" grep -q "8 matrices become floats, 3.8 times as large" "$WORK/deepseek2.out"
$BURIN run tests/formats/across/bert/model.gguf --interpret --activations=f32 --input input_ids=tests/formats/across/bert/input_ids.npy \
    --output "$WORK/bert" > "$WORK/bert.out" 2>&1
check "formats: a table that becomes floats is said" grep -q "position_embeddings.weight becomes floats, 3.8 times as large" "$WORK/bert.out"
check "formats: blocks across: bert" "$BUILD/tools/npy_near" "$WORK/bert/last_hidden_state.npy" tests/formats/across/bert/last_hidden_state.npy 1e-5 largest

# Parts: the model in two files is the model in one.
split=$SHARED/data/gguf/split_q4_0
if [ -d "$split" ]; then numbers "in two files" "$split" "$split"; else skip "formats: in two files" "$split is missing"; fi
