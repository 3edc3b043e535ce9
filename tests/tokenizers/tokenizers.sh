#!/bin/sh
# tokenizer.json of every kind: the ids of hostile texts and their decoded texts, as Hugging Face's
# tokenizers (generate.py).
. tests/lib.sh
for _ids in tests/tokenizers/*.ids; do
    _name=$(basename "$_ids" .ids)
    "$BUILD/tools/tokenize" "tests/tokenizers/$_name.json" tests/tokenizers/texts.json > "$WORK/got" 2>&1
    same "tokenizers: $_name" "$_ids" "$WORK/got"
done

# U+1171E is another mark in patterns (Unicode 16) than where accents are taken away (Unicode 15), and as old as it was.
split() {
    printf '{"model": {"type": "WordLevel", "unk_token": "-", "vocab": {"a": 0, "b": 1, "\360\221\234\236": 2, "-": 3, "a\360\221\234\236b": 4, "ab": 5}}, "normalizer": %s, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "%s"}, "behavior": "Isolated"}}' \
        "$1" "$2" > "$WORK/tokenizer.json"
    "$BURIN" tokenize "$WORK/tokenizer.json" "$(printf 'a\360\221\234\236b')"
}
check "tokenizers: a mark that has moved: Mc" test "$(split null '\\p{Mc}')" = 0,2,1
check "tokenizers: a mark that has moved: Mn" test "$(split null '\\p{Mn}')" = 4
check "tokenizers: a mark that has moved: Age=8.0" test "$(split null '\\p{Age=8.0}')" = 0,2,1
check "tokenizers: a mark that has moved: BertNormalizer" \
    test "$(split '{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true}' x)" = 5

# A decoder that makes a text 2,000 times longer, and does so twice.
printf '{"added_tokens": [], "decoder": {"type": "Sequence", "decoders": [%s {"type": "Fuse"}]}, "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]"}}' \
    "$(printf '{"type": "Replace", "pattern": {"String": "a"}, "content": "%02000d"},' 0 0 | tr 0 a)" > "$WORK/grows.json"
says "tokenizers: a decoder that grows" 1 "grows.json: error: its decoder makes more than 1 MB of one token" timeout 10 "$BURIN" tokenize "$WORK/grows.json" a
