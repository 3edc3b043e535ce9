#!/bin/sh
# tokenizer.json of every kind: the ids of hostile texts and what they become again, as Hugging Face's tokenizers (generate.py).
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

# Patterns that try everything end with a message, and soon; what takes nothing is written out once.
# pattern REGEX: a tokenizer of "a" and unknown that is split by it
pattern() {
    printf '{"added_tokens": [], "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "%s"}, "behavior": "Isolated", "invert": false}, "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]"}}' "$1" > "$WORK/pattern.json"
}
many=$(printf '%02000d' 0 | tr 0 a)
for regex in "$(printf '(?:a|a)%.0s' $(seq 30))b" "$(printf '(?:a?)%.0s' $(seq 30))a{30}b" "(?=(?:a|a){30}b)a" "(?>(?:a|aa){30}b)a" "(?=(?:a|a)+b)a" "a*a*a*a*a*b" "(?:a+)+b" "(?:a*?)*?b"; do
    pattern "$regex"
    says "tokenizers: a pattern that tries everything, $(echo "$regex" | cut -c1-20)" 1 "the tokenizer: a pattern takes more than 16777216 steps on this text" \
        timeout 2 "$BURIN" tokenize "$WORK/pattern.json" "$many"
done
pattern "(?:(?:(?:(?:){1000}){1000}a?){2}){2}b"
check "tokenizers: nothing, repeated again and again" test "$(timeout 2 "$BURIN" tokenize "$WORK/pattern.json" aab)" = 0
pattern "$(printf '(?:%.0s' $(seq 14))$(printf '){1000}%.0s' $(seq 14))a"
check "tokenizers: nothing, nested in itself" test "$(timeout 2 "$BURIN" tokenize "$WORK/pattern.json" aa)" = 1,1
printf '{"added_tokens": [], "decoder": {"type": "Sequence", "decoders": [%s {"type": "Fuse"}]}, "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]"}}' \
    "$(printf '{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"},%.0s' $(seq 40))" > "$WORK/doubles.json"
says "tokenizers: a decoder that doubles" 1 "doubles.json: error: the decoder makes more than 1 MB of one token" timeout 2 "$BURIN" tokenize "$WORK/doubles.json" a
