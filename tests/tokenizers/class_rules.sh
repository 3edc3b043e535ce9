#!/bin/sh
# A tokenizer.json beside tokenizer_config.json and config.json: the ids of AutoTokenizer of transformers 5, for every class that builds
# steps of its own and each of its fields (class_rules.py).
. tests/lib.sh
xz -dc tests/tokenizers/class_rules.json.xz > "$WORK/cases.json" && mkdir "$WORK/folder"
check "class rules: as transformers 5" "$BUILD/tools/class_cases" "$WORK/cases.json" "$WORK/folder"

# "tokenizer_file": null: the vocabulary counts. A folder without a post-processor adds nothing, in a program neither.
mkdir "$WORK/stale"
printf '[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\n' > "$WORK/stale/vocab.txt"
echo '{"model": {"type": "WordLevel", "unk_token": "x", "vocab": {"x": 0}}}' > "$WORK/stale/tokenizer.json"
stale() { echo "{\"tokenizer_class\": \"BertTokenizer\"$1}" > "$WORK/stale/tokenizer_config.json" && "$BURIN" tokenize "$WORK/stale" "the cat"; }
check "class rules: a stale tokenizer.json" test "$(stale ', "tokenizer_file": null')" = 2,5,6,3
check "class rules: a tokenizer.json that counts" test "$(stale '')" = 0
mkdir "$WORK/class" && cp examples/austen/*.json examples/austen/model.safetensors "$WORK/class"
echo '{"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": true, "unk_token": "</s>"}' > "$WORK/class/tokenizer_config.json"
says "class rules: -v names a class with steps of its own" 0 "steps of its own in place of those of tokenizer.json, as transformers 5 does (GPT2Tokenizer)" \
    "$BURIN" inspect "$WORK/class" --stop-after=infer -v
found=$SHARED/data/found2
if [ -d "$found" ]; then
    mkdir "$WORK/plain" && cp "$found"/bos_without_postprocessor/* "$WORK/plain"
    check "class rules: a program builds" "$BURIN" build "$WORK/plain" -o "$WORK/program"
    check "class rules: no post-processor, no BOS" test "$("$WORK/program" --tokenize "the cats")" = "$("$BURIN" tokenize "$WORK/plain" "the cats")"
    check "class rules: a pair without types builds" "$BURIN" build "$found/model_input_names" -o "$WORK/pair"
    check "class rules: model_input_names without token_type_ids" test "$("$WORK/pair" --pair cat "the cat sat" | cut -c1-5)" = 0.307
    for folder in "$found"/tokcfg_*; do
        name=$(basename "$folder")
        "$BUILD/tools/class_cases" --expected "$folder/expected_4.57.6.json" "$folder" > "$WORK/said" 2>&1
        check "class rules: $name: $(tail -1 "$WORK/said")" [ $? = 0 ]
    done
else
    skip "class rules: folders of users" "the shared data is missing"
fi
