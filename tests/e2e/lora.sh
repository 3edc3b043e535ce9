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
says "lora: no adapter" 1 'there is no adapter_model.safetensors' "$BURIN" inspect "$WORK/llama" --lora "$WORK/gpt2"
says "lora: an adapter instead of a model" 1 'is an adapter (LoRA) of ' "$BURIN" inspect "$WORK/plain/a0"
cp "$WORK"/plain/a0/* "$WORK/llama"
says "lora: an adapter beside a model" 0 'holds an adapter (LoRA) beside the model, which is left out' "$BURIN" inspect "$WORK/llama"
