#!/bin/sh
# Several texts in a step have the bits that each has alone, in families whose graphs differ: positions from the mask, rotary tables,
# causal attention, windows; in weights of 32 bits and in blocks.
. tests/lib.sh
families=$SHARED/data/families
need "texts of families" "$families"
unsanitized "texts of families"
letters=$(awk 'BEGIN { for (i = 0; i < 26; i++) printf "\"%c\":%d,\"##%c\":%d%s", 97 + i, 6 + 2 * i, 97 + i, 7 + 2 * i, i < 25 ? "," : "" }')
cat > "$WORK/tokenizer.json" << END
{"version": "1.0", "pre_tokenizer": {"type": "BertPreTokenizer"},
 "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
   "vocab": {"[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,"hello":4,"world":5,$letters}}}
END
awk 'BEGIN { for (i = 0; i < 64; i++) { line = "hello"; for (j = 0; j < i * 7 % 43; j++) line = line " " sprintf("%c", 97 + (i + j) % 26); print line } }' > "$WORK/texts"

# NAME POOLING OPTION...
texts_of() {
    name=$1 pooling=$2
    shift 2
    rm -rf "$WORK/model" && mkdir "$WORK/model"
    cp "$families/$name/config.json" "$families/$name/model.safetensors" "$WORK/tokenizer.json" "$WORK/model"
    check "$name $*: builds" "$BURIN" build "$WORK/model" --pooling "$pooling" "$@" -o "$WORK/program"
    "$WORK/program" -f "$WORK/texts" --batch-size 1 -t 1 > "$WORK/alone"
    check "$name $*: 64 texts" test "$(wc -l < "$WORK/alone")" = 64
    for batch in 2 7 64; do
        for threads in 1 2 3; do
            "$WORK/program" -f "$WORK/texts" --batch-size $batch -t $threads > "$WORK/together"
            same "$name $*: $batch texts in a step, $threads threads" "$WORK/alone" "$WORK/together"
        done
    done
}
texts_of bert cls
texts_of bert mean --quant q8_0
texts_of roberta mean
texts_of distilbert max
texts_of llama lasttoken
texts_of qwen3 lasttoken --quant q8_0
texts_of gemma2 mean
