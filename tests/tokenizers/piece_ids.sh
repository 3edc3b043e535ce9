#!/bin/sh
# Folders of translators without a tokenizer.json: the ids and the answers of transformers' slow
# classes (piece_ids.py), and refusals.
. tests/lib.sh
tar xJf tests/tokenizers/piece_ids.tar.xz -C "$WORK"
for ids in "$WORK"/*.ids; do
    name=$(basename "$ids" .ids)
    "$BURIN" tokenize "$WORK/$name" < "$WORK/texts" > "$WORK/got" 2>&1
    same "piece ids: $name" "$ids" "$WORK/got"
    cut -f2- "$WORK/$name.answers" > "$WORK/expected"
    cut -f1 "$WORK/$name.answers" | while read -r answer; do "$BURIN" tokenize "$WORK/$name" --decode "$answer"; done > "$WORK/got" 2>&1
    same "piece ids: $name, decoded" "$WORK/expected" "$WORK/got"
done

# translates NAME: as transformers does, at most this many tokens after the given ones
# shellcheck disable=SC2086 # an option or none
translates() {
    _cpus=--mcpu=x86-64-v3
    [ "$(uname -m)" = x86_64 ] || _cpus=
    check "piece ids: $1 builds" "$BURIN" build "$WORK/$1" $_cpus -o "$WORK/$1.program"
    cut -f2- "$WORK/$1.translated" > "$WORK/expected"
    cut -f1 "$WORK/$1.translated" | "$WORK/$1.program" -n "$2" -t 1 > "$WORK/got" 2>&1
    same "piece ids: $1 translates" "$WORK/expected" "$WORK/got"
}
translates marian 12
translates m2m 11

config() { echo "$2" > "$WORK/$1/tokenizer_config.json"; }
# refused NAME VOCABULARY MESSAGE
refused() {
    echo "$2" > "$WORK/m2m/vocab.json"
    says "piece ids: $1" 1 "$3" "$BURIN" tokenize "$WORK/m2m" x
}
config m2m '{"tokenizer_class": "M2M100Tokenizer", "src_lang": "fra"}'
says "piece ids: no such language" 1 '"src_lang" is fra in tokenizer_config.json, which is none of the languages' "$BURIN" tokenize "$WORK/m2m" x
config m2m '{"tokenizer_class": "M2M100Tokenizer"}'
check "piece ids: English unless told" test "$("$BURIN" tokenize "$WORK/m2m" __en__)" = "$("$BURIN" tokenize "$WORK/m2m" "" | sed 's/\(.*\),/\1,\1,/')"
refused "a list" '[]' "vocab.json beside it is no JSON object"
refused "below all" '{"<unk>": 0, "a": -1}' '"a" has no id from 0 to 4194303 in vocab.json'
refused "beyond all" '{"<unk>": 0, "a": 4194304}' '"a" has no id from 0 to 4194303 in vocab.json'
refused "a text" '{"<unk>": 0, "a": "1"}' '"a" has no id from 0 to 4194303 in vocab.json'
refused "one id twice" '{"<unk>": 0, "a": 1, "b": 1}' '"a" and "b" have one id, 1, in vocab.json'
refused "nothing unknown" '{"a": 1}' '"<unk>", the token for what is unknown, is not in vocab.json'
rm "$WORK/m2m/vocab.json"
says "piece ids: no ids" 1 "vocab.json, which has the ids of its pieces, is missing beside it" "$BURIN" tokenize "$WORK/m2m" x
rm "$WORK/marian-separate/target_vocab.json"
says "piece ids: no ids of the target" 1 "target_vocab.json, which has the ids of its pieces, is missing beside it" "$BURIN" tokenize "$WORK/marian-separate" x
printf '\012\011\012\005<unk>\030\002\012\011\012\001' > "$WORK/marian-separate/target.spm"
says "piece ids: half a target" 1 "target.spm: error: the file is damaged: a field of SentencePiece's message goes beyond its end" "$BURIN" tokenize "$WORK/marian-separate" x
rm "$WORK/marian-bpe/target.spm"
says "piece ids: no target" 1 "target.spm is missing beside it" "$BURIN" tokenize "$WORK/marian-bpe" x
sed -i 's/"<pad>": 276/"<pad>": 277/' "$WORK/marian/vocab.json"
says "piece ids: an id beyond the model's" 1 "the tokenizer has 278 tokens, the model only 277" "$BURIN" build "$WORK/marian" -o "$WORK/x"
