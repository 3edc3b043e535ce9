#!/bin/sh
# Descriptions against the fields of config.json that their references read (fields.txt, which fields.py makes).
. tests/lib.sh
check "fields: descriptions declare what their references read, with the same defaults and aliases" \
    "$BUILD/tools/fields" tests/families/fields.txt

# broken NAME MESSAGE SED-EXPRESSION: a description of LLaMA or GPT-2 that is changed is told
broken() {
    mkdir -p "$WORK/models"
    sed "$3" "dsl/models/${2%%:*}.burin" > "$WORK/models/${2%%:*}.burin"
    grep "^${2%%:*} " tests/families/fields.txt > "$WORK/table"
    says "fields: $1 is told" 1 "$2" "$BUILD/tools/fields" "$WORK/table" "$WORK/models"
}
broken "a field that is missing" "llama: mlp_bias is not declared" 's/ mlp_bias = false,//'
broken "another default" 'llama: hidden_act has another default: "silu"' 's/hidden_act = "silu"/hidden_act = "gelu"/'
broken "a missing alias" "gpt2: hidden_size is not declared: alias n_embd" 's/alias hidden_size = n_embd, /alias /'
broken "an alias of another field" "gpt2: num_hidden_layers is another name" 's/num_hidden_layers = n_layer/num_hidden_layers = n_head/'

# Fields that no reference reads are ignored, with a note.
cp -R examples/austen "$WORK/model"
sed 's/^{/{ "replacing_rate": 0.5, /' examples/austen/config.json > "$WORK/model/config.json"
says "fields: -v says what is ignored" 0 "config.json: llama.burin ignores replacing_rate" "$BURIN" inspect -v "$WORK/model"
