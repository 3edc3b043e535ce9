#!/bin/sh
# Folders that a library quantized: weights bit for bit, logits within rounding of the reference in the interpreter; programs of some,
# with one hash everywhere (slow-folders.sh: of all). Of ./folders (see folders.py), and of ../shared/data/hfquant.
. tests/lib.sh
unsanitized "folders"
. tests/lib_formats.sh

for path in $FIXTURES/formats/folders/*/; do
    folder "$(basename "$path")" "${path%/}" $(cat "$path/tensor") # with a number: a matrix of a stack
    $BURIN inspect "$path" --stop-after=infer 2> /dev/null
done > "$WORK/list"
grep -E '^(ok|not ok|#) ' "$WORK/list"
for format in $($BURIN formats | awk '/folders$/ { print $1 }'); do
    check "folders: one has a matrix of $format" grep -q " $format\[" "$WORK/list"
done
# Before transformers had a field for it, the quantization was a file of its own.
for file in gptq4_cut:quantize_config.json awq_128:quant_config.json modelopt_mixed:hf_quant_config.json; do
    name=${file%:*} model=$WORK/beside-${file%:*}
    cp -R "$FIXTURES/formats/folders/$name" "$model"
    chmod -R u+w "$model"
    sed -n '/"quantization_config"/,/^ }/p' "$model/config.json" | sed '1s/.*/{/; $s/.*/}/; /quant_method/d' |
        sed -e ':a' -e 'N' -e '$!ba' -e 's/,\n}/\n}/' > "$model/${file#*:}"
    [ "$name" = awq_128 ] && sed -i 's/"bits"/"w_bit"/; s/"group_size"/"q_group_size"/' "$model/${file#*:}"
    [ "$name" = modelopt_mixed ] && sed -i '1s/.*/{"producer": {"name": "modelopt"}, "quantization": {/; $s/.*/}}/' "$model/${file#*:}"
    sed -i '/"quantization_config"/,/^ }/d' "$model/config.json"
    folder "$file" "$model" "$(cat "$model/tensor")"
done
# variant NAME OF EDITS: the same values in another form
variant() {
    cp -R "$FIXTURES/formats/folders/$2" "$WORK/$1"
    chmod -R u+w "$WORK/$1"
    sed -i "$3" "$WORK/$1/config.json"
    check "folders: $1: $2 in other words" sh -c "! cmp -s '$WORK/$1/config.json' $FIXTURES/formats/folders/$2/config.json"
    folder "$1" "$WORK/$1" "$(cat "$WORK/$1/tensor")"
}
variant blocks_as_text ct_fp8_blocks '/"block_structure": \[/,/\]/c "block_structure": "32x48",'
variant within_text_config fp8_blocks 's/"quantization_config": {/"text_config": {&/; /^ }/s/ }/ }}/'
variant own_head gptq3_head 's/"tie_word_embeddings": false/"tie_word_embeddings": true/'
variant mlx_of_old mlx5 's/"quantization_config"/"quantization"/'
variant transformed_weights ct4_channel \
    's/"quantization_config": {/&"transform_config": {"config_groups": {"a": {"type": "hadamard", "apply": [{"location": "weight_input"}]}}},/'
# A program of the folder: one hash
program() {
    name=$1 model=$2 ids=$(ids_of "$2")
    check "folders: $name builds" $BURIN build "$model" --mcpu=x86-64,native -o "$WORK/$name"
    hash=$($BURIN run "$model" --interpret --tokens "$ids" -n 0 --logits-hash 2> /dev/null)
    one_hash "folders: $name" "$hash" "1:64 2:3" "$WORK/$name" --tokens "$ids" -n 0 --logits-hash
}
for name in bnb_nf4 gptq4_cut ct_nvfp4; do program $name $FIXTURES/formats/folders/$name; done

need "folders: hfquant" "$SHARED/data/hfquant"
for path in "$SHARED"/data/hfquant/*/; do
    name=$(basename "$path")
    [ -f "$path/logits.npy" ] || continue
    if [ "$name" = gpt_oss_mxfp4 ]; then
        folder "$name" "${path%/}" model.layers.1.mlp.experts.down_proj 3
        program "$name" "${path%/}"
        check "folders: $name: experts stay in blocks" sh -c "'$BURIN' inspect '$path' --stop-after=layout 2>&1 |
            grep -q ' pack(.* {experts=4, format=\"mxfp4\"}'"
    else
        folder "$name" "${path%/}" model.layers.1.self_attn.k_proj.weight
    fi
done
# Inputs in the order of desc_act: the file's own blocks, whose rows are gathered once for all products that read them.
order=$SHARED/data/hfquant/gptq_asym_act
$BURIN inspect "$order" --stop-after=layout > "$WORK/order.ir" 2>&1
check "folders: desc_act stays in blocks" test "$(grep -c 'pack(.*format="z4_128"' "$WORK/order.ir")" = 8
check "folders: ... and gathers four times a layer" test "$(grep -c 'gather(.*axis=1' "$WORK/order.ir")" = 8
cat > "$WORK/raw.burin" << 'END'
import linear

graph net(x: [3, 256]) -> y: [3, 256], z: [3, 256] {
  y = x @ weight("model.layers.0.self_attn.q_proj.weight", [256, 256])^T
  z = linear(x, "model.layers.0.self_attn.q_proj", 256)
  return y, z
}
END
values "$order/values.npy" | head -c 3072 | npy '<f4' 3,256 > "$WORK/x.npy"
$BURIN run "$WORK/raw.burin" --weights "$order" --interpret --activations=f32 --input x="$WORK/x.npy" --output "$WORK" > "$WORK/log" 2>&1
check "folders: a weight that no linear layer reads is in the model's order" "$BUILD/tools/npy_near" "$WORK/y.npy" "$WORK/z.npy" 2e-6 largest
program gptq_asym_act "$order"
