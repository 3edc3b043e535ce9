#!/bin/sh
# Folders without a tokenizer.json: the ids of transformers by the class that tokenizer_config.json
# names (slow_classes.py), and refusals.
. tests/lib.sh
tar xJf tests/tokenizers/slow_classes.tar.xz -C "$WORK"
for ids in "$WORK"/*.ids; do
    name=$(basename "$ids" .ids)
    "$BURIN" tokenize "$WORK/$name" < "$WORK/texts" > "$WORK/got" 2>&1
    same "slow classes: $name" "$ids" "$WORK/got"
done
check "slow classes: a special token of a text" test "$("$BURIN" tokenize "$WORK/kimi" "[EOS]")" = 705
check "slow classes: Qwen's tokens behind those of the file" test "$("$BURIN" tokenize "$WORK/qwen" "<|im_end|><|extra_0|>")" = 702,703
check "slow classes: back to a text" test "$("$BURIN" tokenize "$WORK/tekken" --decode "$("$BURIN" tokenize "$WORK/tekken" "né 日本")")" = "né 日本"

config() { echo "$2" > "$WORK/$1/tokenizer_config.json"; }
config bert '{"tokenizer_class": "BertJapaneseTokenizer"}'
says "slow classes: unknown, of words" 1 'a vocabulary alone does not say how the tokenizer_class "BertJapaneseTokenizer" cuts texts' "$BURIN" tokenize "$WORK/bert" x
config bert '{"do_basic_tokenize": false}'
says "slow classes: without basic tokens" 1 'tokenizer_config.json says "do_basic_tokenize": false, which is not supported' "$BURIN" tokenize "$WORK/bert" x
config bert '{"cls_token": "[ABSENT]"}'
says "slow classes: a token that is not there" 1 '"cls_token" ([ABSENT]) is not in the vocabulary' "$BURIN" tokenize "$WORK/bert" x
config gpt2 '{"tokenizer_class": "BlenderbotTokenizer"}'
says "slow classes: unknown, of merges" 1 'how the tokenizer_class "BlenderbotTokenizer" cuts texts' "$BURIN" tokenize "$WORK/gpt2" x
config gpt2 '{"tokenizer_class": "GPT2Tokenizer", "mask_token": "the"}'
check "slow classes: a mask that the class does not have" "$BURIN" tokenize "$WORK/gpt2" x
config bert '{"unk_token": null}'
says "slow classes: nothing for unknown words" 1 '"unk_token" is no text in tokenizer_config.json' "$BURIN" tokenize "$WORK/bert" x
config bert '{"do_lower_case": fal'
says "slow classes: half a configuration" 1 'tokenizer_config.json beside it is no JSON object' "$BURIN" tokenize "$WORK/bert" x
config bert '{}'
printf '[UNK]\n[CLS]\n[SEP]\ncaf\351\n' > "$WORK/bert/vocab.txt"
says "slow classes: Latin-1" 1 'line 4 is no UTF-8' "$BURIN" tokenize "$WORK/bert" x
yes a | head -n 4194305 > "$WORK/bert/vocab.txt"
says "slow classes: a line too many" 1 'the vocabulary has more than 4194304 lines' "$BURIN" tokenize "$WORK/bert" x
printf 'a b\0c\n' > "$WORK/gpt2/merges.txt"
says "slow classes: a merge with a zero byte" 1 ' is no text in UTF-8' "$BURIN" tokenize "$WORK/gpt2" x
check "slow classes: a mask that the file does not have" test "$("$BURIN" tokenize "$WORK/deberta" "[MASK]")" = 1,400,2
config deberta '{"tokenizer_class": "DebertaV2Tokenizer", "split_by_punct": true}'
says "slow classes: signs apart" 1 'tokenizer_config.json says "split_by_punct": true, which is not supported' "$BURIN" tokenize "$WORK/deberta" x
cp "$WORK/xlm-roberta/sentencepiece.bpe.model" "$WORK/deberta/spm.model"
config deberta '{"tokenizer_class": "DebertaV2TokenizerFast"}'
says "slow classes: another's file" 1 '"[SEP]" is none of the pieces, which the tokenizer_class wants' "$BURIN" tokenize "$WORK/deberta" x
config mbart '{"tokenizer_class": "MBartTokenizer", "src_lang": "xx"}'
says "slow classes: no such language" 1 '"src_lang" is xx in tokenizer_config.json, which is none of the languages' "$BURIN" tokenize "$WORK/mbart" x
config nllb '{"tokenizer_class": "NllbTokenizer"}'
check "slow classes: languages stand in front of the mask" test "$("$BURIN" tokenize "$WORK/nllb" "ace_Arab zul_Latn<mask>")" = 447,401,602,603,2
config nllb '{"tokenizer_class": "NllbTokenizer", "src_lang": "de_DE"}'
says "slow classes: another class's language" 1 '"src_lang" is de_DE in tokenizer_config.json' "$BURIN" tokenize "$WORK/nllb" x
config pegasus '{"tokenizer_class": "PegasusTokenizer", "offset": 0, "mask_token_sent": null, "mask_token": "[MASK]"}'
check "slow classes: Pegasus' ids as the file has them" test "$("$BURIN" tokenize "$WORK/pegasus" "<unk>[MASK]</s>")" = 2,400,1,1
config pegasus '{"tokenizer_class": "PegasusTokenizer", "offset": 7}'
says "slow classes: another offset" 1 'a PegasusTokenizer with another "offset" than 103 and 0, or without "mask_token_sent", is not supported' "$BURIN" tokenize "$WORK/pegasus" x
config kimi '{"tokenizer_class": "OtherTokenizer"}'
cat > "$WORK/said" << 'END'
tiktoken's file does not say how texts are cut, and the tokenizer_class "OtherTokenizer" is not known
END
says "slow classes: unknown, of ranks" 1 "$(cat "$WORK/said")" "$BURIN" tokenize "$WORK/kimi" x
for line in 'IQ== 0x' 'IQ==' 'I* 1' 'IQ== -1'; do
    printf 'Ig== 0\n%s\n' "$line" > "$WORK/qwen/qwen.tiktoken"
    says "slow classes: a line \"$line\"" 1 "token 1 is damaged: expected base64, and ranks in order" "$BURIN" tokenize "$WORK/qwen" x
done
printf 'IQ== 0\nIg== 4194304\n' > "$WORK/qwen/qwen.tiktoken"
says "slow classes: a rank beyond all" 1 "token 4194304 is beyond any vocabulary: at most 4194304 tokens of 4096 bytes are read" "$BURIN" tokenize "$WORK/qwen" x
rm "$WORK/kimi/tokenizer_config.json"
says "slow classes: no class, of ranks" 1 "tiktoken's file does not say how texts are cut, and there is no tokenizer_class in a tokenizer_config.json beside it" "$BURIN" tokenize "$WORK/kimi" x
printf 'IQ== 0\nIg== 7\n' > "$WORK/qwen/qwen.tiktoken"
says "slow classes: ranks out of order" 1 "token 1 is damaged: expected base64, and ranks in order" "$BURIN" tokenize "$WORK/qwen" x
printf 'IQ== 0\nIQ== 1\n' > "$WORK/qwen/qwen.tiktoken"
says "slow classes: a token twice" 1 "token 1 is in the file twice" "$BURIN" tokenize "$WORK/qwen" x
printf '\012\011\012\005<unk>\030\002\012\005\012\001a\030\001' > "$WORK/xlm-roberta/sentencepiece.bpe.model"
says "slow classes: few pieces" 1 "SentencePiece's file has 2 pieces: too few for a XLMRobertaTokenizer" "$BURIN" tokenize "$WORK/xlm-roberta" x
rm "$WORK/xlm-roberta/tokenizer_config.json"
printf '\012\011\012\005<unk>\030\002\012\010\012\001a\025\000\000\200\177' > "$WORK/xlm-roberta/sentencepiece.bpe.model"
says "slow classes: an infinite score" 1 "piece 1 has an infinite score" "$BURIN" tokenize "$WORK/xlm-roberta/sentencepiece.bpe.model" x
{ printf '\012' && yes "$(printf '\003\012\001a')" | head -n 8388612; } > "$WORK/xlm-roberta/sentencepiece.bpe.model"
says "slow classes: a piece too many" 1 "SentencePiece's file has more than 4194304 pieces" "$BURIN" tokenize "$WORK/xlm-roberta" x
echo '{"config": {"pattern": "x", "default_num_special_tokens": 3, "default_vocab_size": 261}, "vocab": [{"rank": 0, "token_bytes": ""}]}' > "$WORK/tekken/tekken.json"
says "slow classes: a token of no bytes" 1 "token 0 is damaged: expected base64, and ranks in order" "$BURIN" tokenize "$WORK/tekken" x
special='"special_tokens": [{"rank": 0, "token_str": "<s>"}, {"rank": 1, "token_str": "<s>"}]'
echo "{\"config\": {\"pattern\": \"x\", \"default_num_special_tokens\": 3, \"default_vocab_size\": 9}, \"vocab\": [], $special}" > "$WORK/tekken/tekken.json"
says "slow classes: a special token twice" 1 'the special token "<s>" is in the file twice' "$BURIN" tokenize "$WORK/tekken" x
echo '{"config": {"pattern": "x", "default_num_special_tokens": -1}, "vocab": []}' > "$WORK/tekken/tekken.json"
says "slow classes: a number" 1 '"default_num_special_tokens" must be a number of tokens' "$BURIN" tokenize "$WORK/tekken" x
echo '{"config": {"pattern": "x", "default_num_special_tokens": 1, "default_vocab_size": 2}, "vocab": []}' > "$WORK/tekken/tekken.json"
says "slow classes: no token for the start" 1 '"default_num_special_tokens" is 1, expected 3 to 65536' "$BURIN" tokenize "$WORK/tekken" x
