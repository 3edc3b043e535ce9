#!/bin/sh
# Adapters of PEFT merged by --lora, against transformers: each kind of tests/e2e/lora.py, in the interpreter.
. tests/lib.sh
tar -C "$WORK" -xf tests/e2e/lora.tar.xz
(
    cd "$WORK"
    for list in */list; do
        name=${list%/list}
        read -r base adapters < "$list"
        mkdir "case-$name"
        cp "$base"/* "$name/logits.npy" "case-$name"
        echo "$name $adapters" >> cases
    done
)
home=$PWD
while read -r name adapters; do
    list=$(echo "$adapters" | sed "s:\(^\|,\):\1$WORK/:g")
    check "lora: $name" env LORA="$list" "$home/$BUILD/tools/family" "$WORK/case-$name"
done < "$WORK/cases"

# refuses NAME MESSAGE SED-EXPRESSION: an adapter_config.json that is changed so
refuses() {
    rm -rf "$WORK/changed"
    cp -R "$WORK/plain/a0" "$WORK/changed"
    sed "$3" "$WORK/plain/a0/adapter_config.json" > "$WORK/changed/adapter_config.json"
    says "lora: $1" 1 "$2" "$BURIN" inspect "$WORK/llama" --lora "$WORK/changed"
}
refuses "another kind of adapter" '"peft_type" is IA3, which burin does not merge' 's/"LORA"/"IA3"/'
refuses "an option that changes numbers" '"use_qalora" is set' 's/"use_qalora": false/"use_qalora": true/'
refuses "a start that changes the model" '"init_lora_weights" changes the model' 's/"init_lora_weights": true/"init_lora_weights": "pissa"/'
says "lora: an adapter of another model" 1 'is it an adapter of another model' "$BURIN" inspect "$WORK/gpt2" --lora "$WORK/plain/a0"
says "lora: a factor that is no number" 1 '"half" is no number' "$BURIN" inspect "$WORK/llama" --lora "$WORK/plain/a0=half"
says "lora: no adapter" 1 ': there is no adapter_model.safetensors' "$BURIN" inspect "$WORK/llama" --lora "$WORK/gpt2"
says "lora: an adapter instead of a model" 1 'is an adapter (LoRA) of ' "$BURIN" inspect "$WORK/plain/a0"
# damages NAME MESSAGE ADAPTER SED-EXPRESSION: another header of the weights, as long as the old one
damages() {
    rm -rf "$WORK/changed"
    cp -R "$WORK/$3/a0" "$WORK/changed"
    LC_ALL=C sed "$4" "$WORK/$3/a0/adapter_model.safetensors" > "$WORK/changed/adapter_model.safetensors"
    says "lora: $1" 1 "$2" "$BURIN" inspect "$WORK/llama" --lora "$WORK/changed"
}
damages "one matrix of two" 'down_proj" lacks one of its two matrices' plain 's/0.mlp.down_proj.lora_B/0.mlp.gate_proj.lora_B/'
damages "lengths without matrices" '.lora_magnitude_vector" belongs to no matrices of the adapter' dora \
    's/layers.0.self_attn.q_proj.lora_m/layers.9.self_attn.q_proj.lora_m/'
damages "matrices of other sizes" ': the matrices of "base_model.model.model.layers.0.mlp.down_proj" do not fit a weight of 16 by 24' plain \
    's/\[3,24\]/[24,3]/'
damages "a tensor of another module" ' changes "model.layers.9.mlp.down_proj.weight", which the model does not have' plain \
    's/layers.0.mlp.down_proj/layers.9.mlp.down_proj/g'
damages "a bias that the model lacks" '.lora_B.bias" does not fit a bias of the model' lora-bias ''
damages "more tokens" '"lm_head.weight" is larger or smaller than in the model' modules 's/\[40,16\]/[16,40]/'
rm "$WORK/changed/adapter_config.json"
says "lora: no configuration" 1 " has no adapter_config.json, which has the adapter's scale" "$BURIN" inspect "$WORK/llama" --lora "$WORK/changed"
says "lora: no folder" 1 '--lora: expected DIR, or DIR=FACTOR, with commas between several' "$BURIN" inspect "$WORK/llama" --lora =2
cp "$WORK"/plain/a0/* "$WORK/llama"
says "lora: an adapter beside a model" 0 'holds an adapter (LoRA) beside the model, which is left out' "$BURIN" inspect "$WORK/llama"
