#!/bin/sh
# SentencePiece's own files: the ids of SentencePiece (sentencepiece_models.py), tokens around a
# text, and damaged files.
. tests/lib.sh
tar xJf tests/tokenizers/sentencepiece.tar.xz -C "$WORK"
for name in unigram unigram_bytes bpe_bytes bpe; do
    "$BURIN" tokenize "$WORK/$name.model" < "$WORK/texts" > "$WORK/got"
    same "sentencepiece: $name: ids" "$WORK/$name.ids" "$WORK/got"
done
sed -n 11,40p "$WORK/bpe_bytes.ids" | while IFS= read -r ids; do "$BURIN" tokenize "$WORK/bpe_bytes.model" --decode "$ids"; done > "$WORK/got"
same "sentencepiece: back to texts" "$WORK/bpe_bytes.text" "$WORK/got"

mkdir "$WORK/model" && cp "$WORK/bpe_bytes.model" "$WORK/model/tokenizer.model"
ids() { "$BURIN" tokenize "$WORK/model/tokenizer.model" "It is"; }
plain=$(ids)
config() { echo "$1" > "$WORK/model/tokenizer_config.json"; }
config '{"tokenizer_class": "LlamaTokenizer"}'
check "sentencepiece: LLaMA's begin with BOS" test "$(ids)" = "1,$plain"
config '{"tokenizer_class": "LlamaTokenizerFast", "add_bos_token": false, "add_eos_token": true}'
check "sentencepiece: as the flags say" test "$(ids)" = "$plain,2"
config '{"tokenizer_class": "T5Tokenizer", "added_tokens_decoder": {"500": {"content": "<extra>", "special": true}, "1": {"content": "<s>"}}}'
check "sentencepiece: T5's end with EOS" test "$(ids)" = "$plain,2"
check "sentencepiece: tokens behind those of the file" test "$("$BURIN" tokenize "$WORK/model/tokenizer.model" "<extra>")" = "500,2"
config '{"tokenizer_class": "ReformerTokenizer"}'
says "sentencepiece: other ids" 1 'the tokenizer_class "ReformerTokenizer" may have other ids than the file' "$BURIN" tokenize "$WORK/model/tokenizer.model" x
rm "$WORK/model/tokenizer_config.json"

# refused TEXT PRINTF-BYTES: a file of these bytes
piece='\012\005\012\001a\030' end='\012\011\012\005<unk>\030\002'
refused() {
    printf "$2" > "$WORK/bad.model"
    says "sentencepiece: $1" 1 "$1" "$BURIN" tokenize "$WORK/bad.model" a
}
refused "the file is damaged: a field of SentencePiece's message goes beyond its end" '\012\005\012\011a'
refused "the file is damaged: a field of SentencePiece's message goes beyond its end" "$piece\001\012\200"
refused "the file is damaged: a field of SentencePiece's message goes beyond its end" "$piece\001\012\377\377\377\377\377\377\377\377\177"
refused "the file is damaged: a field of SentencePiece's message goes beyond its end" "$piece\001\013"
refused "piece 0 has the type 9, which SentencePiece does not know" "$piece\011"
refused "piece 0 has a zero byte" '\012\005\012\001\000\030\001'
refused "piece 0 has no score (NaN)" '\012\010\012\001a\025\000\000\300\177'
refused "piece 1 is no UTF-8" "$end\012\005\012\001\377\030\001"
refused "piece 2 is in the file twice" "$end$piece\001$piece\001\022\002\030\002"
refused "SentencePiece's models of words and of characters are not supported, only unigram and bpe" "$end$piece\001\022\002\030\003"
refused 'SentencePiece with "treat_whitespace_as_suffix" is not supported' "$end$piece\001\022\003\300\001\001"
refused 'SentencePiece without "escape_whitespaces" is not supported' "$end$piece\001\032\002\050\000"
refused "SentencePiece's unknown piece is not in the file" "$end$piece\001\022\003\300\002\005"
refused "\"precompiled_charsmap\" is damaged" "$end$piece\001\032\003\022\001x"
for n in 3 40 400 2000 6000; do
    head -c $n "$WORK/unigram.model" > "$WORK/bad.model"
    "$BURIN" tokenize "$WORK/bad.model" "a text" > "$WORK/got" 2>&1
    check "sentencepiece: the first $n bytes alone: no crash" test $? -le 1
done
