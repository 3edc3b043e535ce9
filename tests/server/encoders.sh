#!/bin/sh
# Servers of models that read whole texts: embeddings, ranks and labels, with the numbers that the programs print.
. tests/lib.sh
. tests/lib_server.sh
unsanitized "encoders: replies"
[ -e /usr/include/event2/http.h ] || { skip "encoders: with libevent" "it is not here" && exit 0; }
tar xJf tests/e2e/heads.tar.xz -C "$WORK"
# A table of 41 embeddings, and a tokenizer that lacks the last one.
tr -d '\n' < "$WORK/mask/tokenizer.json" | sed 's/, *"[^"]*": *40\( *}\)/\1/' > "$WORK/tokenizer.json"
check "encoders: a tokenizer of 40 tokens" sh -c "! cmp -s '$WORK/tokenizer.json' '$WORK/mask/tokenizer.json' && mv '$WORK/tokenizer.json' '$WORK/mask/tokenizer.json'"
for name in cross mood; do "$BURIN" build "$WORK/$name" --mcpu=native --with=server -o "$WORK/$name/program" > "$WORK/out" 2>&1 || cat "$WORK/out"; done
"$BURIN" build "$WORK/mask" --pooling=mean --mcpu=native --with=server -o "$WORK/embed" > "$WORK/out" 2>&1 || cat "$WORK/out"

says "encoders: a program of tensors serves nothing" 0 "warning: --with=server has no effect" "$BURIN" build examples/digits/digits.onnx --with=server -o "$WORK/digits"
serving "$WORK/embed" -t 1 || { cat "$WORK/served"; exit 1; }
vector() { "$WORK/embed" --format json "$1" 2> "$WORK/err" | sed 's/.*"embedding": //; s/}$//'; }
one=$(vector "Anna lives in Paris") other=$(vector "a very good film")
printf '200 {"object": "list", "model": "mask", "data": [{"object": "embedding", "index": 0, "embedding": %s}, {"object": "embedding", "index": 1, "embedding": %s}]' "$one" "$other" > "$WORK/expected"
printf 'POST /v1/embeddings {"input": ["Anna lives in Paris", "a very good film"]}\n' > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/replies"
sed 's/, "usage".*//' "$WORK/replies" | tr -d '\n' > "$WORK/got"
check "encoders: an embedding has numbers" test "$(wc -c < "$WORK/expected")" -gt 300
same "encoders: embeddings" "$WORK/expected" "$WORK/got"
reply "encoders: as base64" '^200 .*"embedding": "[A-Za-z0-9+/]+={0,2}"}\]' POST /v1/embeddings '{"input": "x", "encoding_format": "base64"}'
printf 'POST /v1/embeddings {"input": "Anna lives in Paris", "dimensions": 2}\n' > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/replies"
sed 's/.*"embedding": \[\(.*\)\]}.*/\1/' "$WORK/replies" | awk -F ', ' '{ s = $1 * $1 + $2 * $2; exit !(NF == 2 && s > 0.9999 && s < 1.0001) }'
check "encoders: two dimensions have length 1" test $? = 0
reply "encoders: too many dimensions" '^400 .*dimensions' POST /v1/embeddings '{"input": "x", "dimensions": 100000}'
reply "encoders: ids" '^200' POST /v1/embeddings '{"input": [[5, 6], [7]]}'
reply "encoders: the last id of the table" '^200' POST /v1/embeddings '{"input": [40]}'
reply "encoders: the id after it" '^400 .*from 0 to 40' POST /v1/embeddings '{"input": [41]}'
reply "encoders: a foreign id" '^400 .*"param": "input"' POST /v1/embeddings '{"input": [1000000]}'
reply "encoders: an empty text" '^400 .*"param": "input"' POST /v1/embeddings '{"input": ["x", ""]}'
reply "encoders: no text" '^400 .*from 1 to 4096' POST /v1/embeddings '{"input": []}'
reply "encoders: no chat" '^404' POST /v1/chat/completions '{}'
printf 'Anna lives in Paris\na very good film\nthe cat\n' > "$WORK/lines"
best=$("$WORK/embed" --rank "where is Paris" --top-k 1 --format json -f "$WORK/lines" | sed 's/.*"line": \([0-9]*\).*/\1/')
reply "encoders: ranks by embeddings: $best" "^200 .*\"results\": \[{\"index\": $((best - 1)), \"relevance_score\": [^}]*}, {[^}]*}\]" POST /v1/rerank '{"query": "where is Paris", "documents": ["Anna lives in Paris", {"text": "a very good film"}, "the cat"], "top_n": 2}'
i=0
while [ $i -lt 24 ]; do
    printf 'POST /v1/embeddings {"input": ["a %d", "b %d b %d", "Anna lives in Paris"]}\n!40 POST /v1/embeddings {"input": "gone %d"}\n' $i $i $i $i
    i=$((i + 1))
done > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/alone"
asked 8 "$WORK/requests" "$WORK/replies"
same "encoders: 8 requests at once have the bytes that they have alone" "$WORK/alone" "$WORK/replies"
stopped
check "encoders: it ends" test $? = 0

serving "$WORK/mood/program" -t 1 || { cat "$WORK/served"; exit 1; }
label=$("$WORK/mood/program" "a very good film" | cut -f 1)
reply "encoders: labels: $label" "^200 .*\"data\": \[{\"index\": 0, \"label\": \"$label\", \"num_classes\": [0-9]*, \"labels\": \[{\"label\": \".*\", \"score\": [0-9.e-]*}" POST /v1/classify '{"input": "a very good film"}'
reply "encoders: no embeddings of it" '^400' POST /v1/embeddings '{"input": "x"}'
stopped
serving "$WORK/cross/program" -t 1 || { cat "$WORK/served"; exit 1; }
score=$("$WORK/cross/program" "where does anna live?" "Anna lives in Paris." | cut -c 1-6)
reply "encoders: a score: $score" "^200 .*\"results\": \[.*{\"index\": 0, \"relevance_score\": $score" POST /v1/rerank '{"query": "where does anna live?", "documents": ["Anna lives in Paris.", "x"]}'
reply "encoders: no documents" '^400 .*"param": "documents"' POST /v1/rerank '{"query": "x", "documents": []}'
stopped
