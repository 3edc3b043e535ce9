#!/bin/sh
# Families whose matrices a library quantized (tools/quantized_family.c): the logits of the same
# values as floats, and all of them stay in blocks. Joined projections with a column order of their
# own; experts with gathered or multiplied rows.
. tests/lib.sh
unsanitized "families"
. tests/lib_formats.sh

logits() {
    $BURIN run "$1" --interpret --activations=f32 --tokens 4,9,16,25,36,49,64,81 -n 0 --logits "$2" > "$WORK/out" 2>&1
}

# same NAME METHOD FAMILY [PREFIX]
same() {
    _title="folders: $2 of $1" _method=$2 _family=$3
    _in=tests/formats/$3
    [ -d "$_in" ] || _in=$FIXTURES/families/$3
    "$BUILD/tools/family_weights" "$_in" "$WORK/$_family"
    shift 3
    "$BUILD/tools/quantized_family" $_method "$WORK/$_family" "$WORK/folder" "$@"
    rm -f "$WORK/logits.npy" "$WORK/floats.npy"
    logits "$WORK/folder" "$WORK/logits.npy"
    logits "$WORK/folder/floats" "$WORK/floats.npy"
    check "$_title: logits" "$BUILD/tools/npy_near" "$WORK/logits.npy" "$WORK/floats.npy" 2e-5 largest
    $BURIN inspect "$WORK/folder" --stop-after=layout > "$WORK/graph" 2>&1
    check "$_title: is in blocks" grep -qE ' pack\(.*format="(z4_32|q4_0|e4m3_32)"' "$WORK/graph"
    check "$_title: nothing becomes floats" sh -c "! grep -E '(pack|constant).*: f32\[[0-9, ]*[0-9]{2}, [0-9]{2}' '$WORK/graph' | grep -v _table"
}

same "Falcon's groups" gptq falcon-new
same "Falcon with ALiBi" gptq falcon-alibi
same "CodeGen's shares" gptq codegen
same "Granite's shared expert" gptq granitemoehybrid
same "experts" gptq mixtral
same "experts" awq mixtral
same "experts beside a shared one" gptq deepseek_v3
same "experts whose rows are multiplied by their shares" awq qwen2_moe
same "experts in one tensor" ct granitemoe
same "experts in one tensor, and attention's" ct jetmoe
same "experts in one tensor, [inputs, outputs]" fp8 llama4
same "Unsloth's experts" gptq gpt_oss_apart
same "Qwen3-VL's experts" fp8 qwen3_vl_moe model.language_
same "a model of images, its texts" gptq qwen3-window language_model.
same "a model of images, its texts in transformers 5" awq gemma3_text model.language_
