#!/bin/sh
# ONNX encoders that read texts (onnx_texts.py): several share a step, each with the bits that it has alone; labels and spans of
# exports with a head.
. tests/lib.sh
unsanitized "ONNX encoders of texts: programs"
tar xJf tests/e2e/onnx_texts.tar.xz -C "$WORK"

# near EXPECTED GOT: the same fields, numbers with a point to 1e-4
near() {
    awk 'NR == FNR { want[FNR] = $0; n = FNR; next } { m = FNR; k = split(want[FNR], a); if (k != NF) bad = 1
        for (i = 1; i <= k; i++) if (a[i] ~ /^-?[0-9]*\.[0-9]+$/ ? (a[i] - $i > 1e-4 || $i - a[i] > 1e-4) : a[i] != $i) bad = 1 }
        END { exit bad || n != m }' "$1" "$2"
}
# batches NAME: of the program NAME, for its texts
batches() {
    name=$1
    "$BURIN" build -v "$WORK/$name" -o "$WORK/$name/program" > "$WORK/build" 2>&1
    check "onnx texts: $name: several in a step" grep -q '^texts   several in a step' "$WORK/build"
    while IFS= read -r text; do "$WORK/$name/program" -t 1 "$text"; done < "$WORK/$name/texts" > "$WORK/alone" 2> "$WORK/err"
    for batch in 1 2 64; do
        "$WORK/$name/program" -f "$WORK/$name/texts" -b $batch -t 3 > "$WORK/got" 2> "$WORK/err"
        check "onnx texts: $name: PyTorch's numbers, $batch in a step" near "$WORK/$name/expected" "$WORK/got"
        [ "$name" = names ] || same "onnx texts: $name: those of each text alone, $batch in a step" "$WORK/alone" "$WORK/got"
    done
}
for name in mood names nli pooled; do batches $name; done
says "onnx texts: more than one" 0 "5 texts in 3 steps" "$WORK/pooled/program" -f "$WORK/pooled/texts" -v
check "onnx texts: --rank" sh -c "'$WORK/pooled/program' --rank 'a cat' -f '$WORK/pooled/texts' | head -n 1 | grep -q '^1.000000	a cat'"
says "onnx texts: positions from behind the padding" 0 "texts: at most 26 tokens" "$WORK/nli/program" --info
says "onnx texts: what is cut is said" 0 "the model takes 28" "$WORK/mood/program" -f "$WORK/mood/texts"
net() { "$BURIN" inspect --stop-after=infer "$@"; }
says "onnx texts: the file and its tokenizer" 0 "%input_ids: i32[s" net "$WORK/pooled/model.onnx" --tokenizer "$WORK/pooled/tokenizer.json"
says "onnx texts: --as=net takes padded batches" 0 "%attention_mask: i64[s" net "$WORK/pooled/model.onnx" --as=net
says "onnx texts: states that nobody pools are tensors" 0 "%attention_mask: i64[batch_size" net "$WORK/states"
says "onnx texts: and it says how they become texts" 0 "--pooling=mean|cls|max makes embeddings" net "$WORK/states"
says "onnx texts: --pooling" 0 '"sentence_embedding"=' net "$WORK/states" --pooling=mean
mkdir "$WORK/states/1_Pooling"
printf '[{"idx": 0, "path": "", "type": "a.Transformer"}, {"idx": 1, "path": "1_Pooling", "type": "a.Pooling"}, {"idx": 2, "path": "2", "type": "a.Normalize"}]' > "$WORK/states/modules.json"
printf '{"pooling_mode_mean_tokens": true}' > "$WORK/states/1_Pooling/config.json"
batches states

# A file takes the tokenizer and the configuration of its folder, or of the one around onnx/.
mkdir -p "$WORK/one/onnx" && cp "$WORK/mood/"*.json "$WORK/one" && cp "$WORK/mood/model.onnx" "$WORK/one/onnx/small.onnx"
check "onnx texts: a file in onnx/ builds" "$BURIN" build "$WORK/one/onnx/small.onnx" -o "$WORK/one/program"
"$WORK/one/program" -f "$WORK/mood/texts" -t 1 > "$WORK/got" 2> "$WORK/err"
check "onnx texts: a file in onnx/ answers as its folder" near "$WORK/mood/expected" "$WORK/got"
# Folders of transformers.js: forms of one export beside each other, the most exact is taken; a name of its own where it is the only one.
forms() {
    rm -rf "$WORK/forms" && mkdir -p "$WORK/forms/onnx" && cp "$WORK/mood/"*.json "$WORK/forms"
    for name; do cp "$WORK/mood/model.onnx" "$WORK/forms/onnx/$name.onnx"; done
}
forms model_quantized
says "onnx texts: model_quantized.onnx alone" 0 "graph    encode" "$BURIN" inspect "$WORK/forms"
forms model_q4 model_quantized
says "onnx texts: the form that is taken" 0 "onnx/model_quantized.onnx is taken; the folder has 1 other form of it" "$BURIN" inspect "$WORK/forms"
forms mood
says "onnx texts: the only file" 0 "graph    encode" "$BURIN" inspect "$WORK/forms"
forms mood news
says "onnx texts: two files of other names" 2 "several ONNX files, and none is called model.onnx: mood.onnx, news.onnx" "$BURIN" inspect "$WORK/forms"
check "onnx texts: ... have one tokenizer" test "$("$BURIN" tokenize "$WORK/forms" "a cat")" = "$("$BURIN" tokenize "$WORK/mood" "a cat")"
llama=$SHARED/data/onnx/exports/llama-optimum-past/model.onnx
if [ -f "$llama" ]; then
    mkdir "$WORK/llama" && cp "$llama" examples/austen/config.json "$WORK/llama"
    {
        printf '{"version": "1.0", "pre_tokenizer": {"type": "Whitespace"}, "model": {"type": "WordLevel", "unk_token": "w0", "vocab": {"w0": 0'
        for i in $(seq 1 319); do printf ', "w%d": %d' "$i" "$i"; done
        printf '}}}'
    } > "$WORK/llama/tokenizer.json"
    check "onnx texts: a decoder beside its files" "$BURIN" build "$WORK/llama/model.onnx" -o "$WORK/llama/program"
    says "onnx texts: the context of config.json" 0 "context   512 tokens" "$WORK/llama/program" --info
    check "onnx texts: one tokenization" test "$("$WORK/llama/program" --tokenize "w5 w7")" = 5,7
    check "onnx texts: tokenize names the file" test "$("$BURIN" tokenize "$WORK/llama/model.onnx" "w5 w7")" = 5,7
else
    skip "onnx texts: a decoder beside its files" "the shared data is missing"
fi
