#!/bin/sh
# 10,000 requests of every kind, 16 at once, a tenth of whose clients leave, beside slow readers and 1,000 idle connections: each gets
# its reply, no slot is lost, and memory does not grow after the first 2,500.
. tests/lib.sh
. tests/lib_server.sh
need "load: austen as a program" examples/austen/model.safetensors
unsanitized "load: replies"
[ -e /usr/include/event2/http.h ] || { skip "load: with libevent" "it is not here" && exit 0; }
talking "$WORK/model"
"$BURIN" build "$WORK/model" --mcpu=native --with=server --line-editor=none -o "$WORK/talk" > "$WORK/out" 2>&1 || { cat "$WORK/out"; exit 1; }
serving "$WORK/talk" -t 2 --parallel 8 --queue 64 --slots --metrics --max-connections 1200 --cache-ram 16 --draft lookup --log-format none || { cat "$WORK/served"; exit 1; }
batch() {
    i=0
    while [ $i -lt 250 ]; do
        chat="{\"messages\": [{\"role\": \"user\", \"content\": \"It was $1 $i\"}], \"seed\": $i, \"max_tokens\": 6"
        cat << END
POST /v1/chat/completions $chat}
POST /v1/chat/completions $chat, "stream": true, "logprobs": true}
POST /v1/completions {"prompt": "On and on $i", "seed": $i, "max_tokens": 5, "receipt": true}
!60 POST /v1/completions {"prompt": "They", "seed": $i, "max_tokens": 200, "ignore_eos": true, "stream": true}
POST /v1/messages $chat, "stream": true}
POST /v1/responses {"input": "It $i", "seed": $i, "max_output_tokens": 4}
POST /v1/completions {"prompt": "Count:", "seed": $i, "max_tokens": 6, "grammar": "root ::= [0-9 ]+"}
POST /v1/completions {"prompt": 3}
POST /tokenize {"content": "It was $i"}
GET /health
END
        i=$((i + 1))
    done
}
resident() { awk '/VmRSS/ {print $2}' "/proc/$server/status"; }
printf 'GET /health\n' > "$WORK/health"
printf '{"prompt": "x", "max_tokens": 300, "stream": true, "ignore_eos": true, "seed": 1}' > "$WORK/body"
for round in 1 2 3 4; do
    batch $round > "$WORK/requests"
    { printf 'POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n' "$(wc -c < "$WORK/body")" && cat "$WORK/body"; } |
        "$BUILD/tools/http_client" "$port" slow 2 > "$WORK/slow" &
    slow=$!
    "$BUILD/tools/http_client" "$port" idle 1000 < "$WORK/health" > "$WORK/idle" &
    idle=$!
    asked 16 "$WORK/requests" "$WORK/replies"
    wait $slow $idle
    check "load: round $round: $(grep -c '^200' "$WORK/replies") answers, $(grep -c '^gone' "$WORK/replies") clients left" \
        test "$(grep -c '^200' "$WORK/replies")" = 2000 -a "$(grep -c '^gone' "$WORK/replies")" = 250 -a "$(grep -c '^400' "$WORK/replies")" = 250
    check "load: round $round: a slow reader got all" grep -q DONE "$WORK/slow"
    check "load: round $round: an answer beside idle connections" grep -q '^200' "$WORK/idle"
    [ $round != 1 ] || first=$(resident)
done
last=$(resident)
check "load: memory: $first KB after 2,500 requests, $last KB after 10,000" test $((last - first)) -lt 4000
printf 'GET /slots\n' > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/replies"
check "load: no slot is lost" test "$(grep -o '"is_processing": false' "$WORK/replies" | wc -l)" = 8
stopped
check "load: it ends" test $? = 0
