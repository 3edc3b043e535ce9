#!/bin/sh
# --with=server: its description, whole answers and streams of OpenAI's API, its errors and limits,
# its stop.
. tests/lib.sh
. tests/lib_server.sh
need "server: austen as a program" examples/austen/model.safetensors
unsanitized "server: replies"
model=$WORK/model
talking "$model"
says "server: another machine" 2 "--with=server: programs for aarch64-linux-gnu are built without" "$BURIN" build "$model" --with=server --target=aarch64-linux-gnu -o "$WORK/x"
says "server: a folder of C" 2 "x.c: --with=server makes a program" "$BURIN" build "$model" --with=server -o "$WORK/x.c"
says "server: no such extra" 2 "--with=x: expected one of mpi, server" "$BURIN" build "$model" --with=x -o "$WORK/x"
if ! "$BURIN" build "$model" --mcpu=native --with=server --line-editor=none -o "$WORK/talk" > "$WORK/out" 2>&1 && grep -q "there is no static libevent" "$WORK/out"; then
    skip "server: with libevent" "it is not here"
    exit 0
fi
for cc in gcc clang-19; do
    for file in runtime/server/*.c runtime/api/*.c; do
        check "$file: no warnings of $cc" $cc -std=gnu17 -D_GNU_SOURCE -DBURIN_SERVER=1 -O1 -Wall -Wextra -Werror -Iruntime -c "$file" -o "$WORK/object"
    done
done
check "server: builds" grep -q ", with a server (libevent);" "$WORK/out"
talk=$WORK/talk
check "server: --info says so" sh -c "'$talk' --info | grep -qx 'server    libevent'"
"$BURIN" build "$model" --mcpu=native --line-editor=none -o "$WORK/plain" > "$WORK/out" 2>&1
says "server: a program without" 2 "unknown option --serve" "$WORK/plain" --serve
check "server: a program without has nothing of it" sh -c "! grep -qa 'chat/completions' '$WORK/plain'"
says "server: no address" 2 "the host nowhere is no address" "$talk" --serve nowhere:80
says "server: no port" 2 "expected HOST:PORT" "$talk" --serve 127.0.0.1:x

serving "$talk" -t 1 --parallel 2 --queue 2 --max-body 20000 --max-messages 3 || { cat "$WORK/served"; exit 1; }
reply "server: health" '^200 {"status": "ok"}$' GET /health
reply "server: models" '^200 .*"id": "model".*"n_ctx": 512' GET /v1/models
text=$("$talk" "It was" --raw --temp 0 -n 8)
reply "server: a text: $text" "^200 .*\"text\": \"$text\", \"logprobs\": null, \"finish_reason\": \"length\".*\"prompt_tokens\": 3, \"completion_tokens\": 8, \"total_tokens\": 11" \
    POST /v1/completions '{"prompt": "It was", "temperature": 0, "max_tokens": 8}'
reply "server: a text of ids" "\"text\": \"$text\"" POST /v1/completions "{\"prompt\": [$("$talk" --tokenize "It was")], \"temperature\": 0, \"max_tokens\": 8}"
reply "server: the prompt first" "\"text\": \"It was$text\"" POST /v1/completions '{"prompt": "It was", "temperature": 0, "max_tokens": 8, "echo": true}'
printf '[{"role": "user", "content": "It was"}]' > "$WORK/m.json"
for seed in 1 2; do
    text=$("$talk" --messages "$WORK/m.json" --seed $seed -n 12 --json | sed 's/.*"content": "\(.*\)", "finish_reason.*/\1/')
    reply "server: a chat, seed $seed" "^200 .*\"message\": {\"role\": \"assistant\", \"content\": \"$(printf '%s' "$text" | sed 's/[].*[\\]/\\&/g')\"}.*\"usage\"" \
        POST /v1/chat/completions "{\"messages\": $(cat "$WORK/m.json"), \"seed\": $seed, \"max_completion_tokens\": 12}"
done
reply "server: parts of a text" "^200" POST /v1/chat/completions '{"messages": [{"role": "developer", "content": [{"type": "text", "text": "It"}, {"type": "text", "text": " was"}]}], "max_tokens": 3}'
reply "server: two choices" '"index": 0.*"index": 1.*"completion_tokens": 6' POST /v1/chat/completions '{"messages": [{"role": "user", "content": "x"}], "n": 2, "seed": 1, "max_tokens": 3, "ignore_eos": true}'
reply "server: a stop text" '"text": " not to be", .*"finish_reason": "stop"' POST /v1/completions '{"prompt": "It was", "temperature": 0, "max_tokens": 30, "stop": [" supposed", "never"]}'
reply "server: a stream" '^200 data: {.*"delta": {"role": "assistant", "content": ""}, "logprobs": null, "finish_reason": null}].*"finish_reason": "length"}].*data: \[DONE\]~~$' \
    POST /v1/chat/completions '{"messages": [{"role": "user", "content": "It was"}], "stream": true, "temperature": 0, "max_tokens": 4}'
reply "server: a stream's usage" '"choices": \[\], "usage": {"prompt_tokens": 3, "completion_tokens": 4,' POST /v1/completions '{"prompt": "It was", "stream": true, "temperature": 0, "max_tokens": 4, "stream_options": {"include_usage": true}}'

reply "server: a random seed is told" '"seed": [0-9]+}$' POST /v1/completions '{"prompt": "It was", "max_tokens": 1}'
printf 'POST /v1/completions {"prompt": "It was", "max_tokens": 20}\n' > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/replies"
seed=$(sed 's/.*"seed": \([0-9]*\)}$/\1/' "$WORK/replies")
printf 'POST /v1/completions {"prompt": "It was", "max_tokens": 20, "seed": %s}\n' "$seed" > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/again"
same "server: and gives the same reply: $seed" "$WORK/replies" "$WORK/again"

# A stream's pieces are the whole text
ask='"prompt": "She had", "seed": 3, "max_tokens": 40'
printf 'POST /v1/completions {%s, "stream": true}\nPOST /v1/completions {%s}\n' "$ask" "$ask" > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/replies"
head -n 1 "$WORK/replies" | tr '~' '\n' | sed -n 's/.*"text": "\(.*\)", "logprobs.*/\1/p' | tr -d '\n' > "$WORK/pieces"
sed -n '2s/.*"text": "\(.*\)", "logprobs.*/\1/p' "$WORK/replies" | tr -d '\n' > "$WORK/whole"
check "server: a text of some length" test $(wc -c < "$WORK/whole") -gt 60
same "server: pieces of a stream are the text" "$WORK/whole" "$WORK/pieces"

# Errors are named
wrong() { reply "server: $1" "^$2 {\"error\": {\"type\": \"[a-z_]*\", \"message\": \".*$3.*\", \"param\": $4, \"code\": [a-z_\"]*}}\$" POST "$5" "$6"; }
wrong "no JSON" 400 'line 1, column 2: expected a key' null /v1/completions '{'
wrong "no object" 400 'must be an object' null /v1/completions '[1]'
wrong "no prompt" 400 'prompt.*is missing' '"prompt"' /v1/completions '{}'
wrong "a wrong type" 400 'temperature.*must be a number, and is a string' '"temperature"' /v1/completions '{"prompt": "x", "temperature": "hot"}'
wrong "out of range" 400 'top_p.*from 0 to 1' '"top_p"' /v1/completions '{"prompt": "x", "top_p": 2}'
wrong "a foreign id" 400 'from 0 to 2047' '"prompt"' /v1/completions '{"prompt": [2048]}'
wrong "no messages" 400 'must be a list of messages' '"messages"' /v1/chat/completions '{}'
wrong "no role" 400 'messages\[0\].role must be a string' '"messages\[0\].role"' /v1/chat/completions '{"messages": [{"content": "x"}]}'
wrong "no content" 400 'messages\[1\].content is missing' '"messages\[1\].content"' /v1/chat/completions '{"messages": [{"role": "user", "content": "x"}, {"role": "user"}]}'
wrong "pictures" 400 'reads text alone' '"messages\[0\].content"' /v1/chat/completions '{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}'
wrong "too many messages" 400 'more than 3' '"messages"' /v1/chat/completions '{"messages": [{"role": "user", "content": "x"}, {"role": "user", "content": "x"}, {"role": "user", "content": "x"}, {"role": "user", "content": "x"}]}'
wrong "a long prompt" 400 'tokens, and the context of 512' '"messages"' /v1/completions "{\"prompt\": \"$(head -c 4000 examples/austen/held_out.txt | tr '\n"' '  ')\"}"
wrong "a long stop" 400 'more than 512 bytes' '"stop"' /v1/completions "{\"prompt\": \"x\", \"stop\": \"$(head -c 600 /dev/zero | tr '\0' x)\"}"
wrong "bad UTF-8" 400 'not UTF-8' null /v1/completions "$(printf '{"prompt": "\377"}')"
reply "server: no such path" '^404 {"error": {"type": "not_found_error"' GET /v1/nothing
reply "server: another method" '^405 {"error"' GET /v1/completions
reply "server: a large body" '^413 ' POST /v1/completions "{\"prompt\": \"$(head -c 30000 /dev/zero | tr '\0' x)\"}"
printf 'POST /v1/completions HTTP/1.1\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 15\r\n\r\n{"prompt": "x"}' | "$BUILD/tools/http_client" "$port" raw > "$WORK/reply"
check "server: another type of body" grep -q '^HTTP/1.1 415 ' "$WORK/reply"
form='Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\nContent-Length: 32\r\n\r\n{"prompt": "x", "max_tokens": 1}'
printf "POST /v1/completions HTTP/1.1\r\n$form" | "$BUILD/tools/http_client" "$port" raw > "$WORK/reply"
check "server: JSON that curl -d calls a form" grep -q '^HTTP/1.1 200 ' "$WORK/reply"
printf "POST /v1/completions HTTP/1.1\r\nOrigin: https://a.example\r\n$form" | "$BUILD/tools/http_client" "$port" raw > "$WORK/reply"
check "server: a form of a page" grep -q '^HTTP/1.1 415 ' "$WORK/reply"
reply "server: it still answers" '^200' POST /v1/completions '{"prompt": "x", "max_tokens": 1}'

# A leaving client frees its slot; a server told to stop finishes its running answers
for i in 1 2 3 4; do printf '!200 POST /v1/completions {"prompt": "It was", "max_tokens": 100000, "stream": true, "ignore_eos": true, "seed": %d}\n' $i; done > "$WORK/requests"
asked 4 "$WORK/requests" "$WORK/replies"
check "server: clients leave" test "$(sort -u "$WORK/replies")" = gone
reply "server: after they have left" '^200' POST /v1/completions '{"prompt": "x", "max_tokens": 1}'
printf 'POST /v1/completions {"prompt": "It was", "max_tokens": 400, "ignore_eos": true, "seed": 1}\n' > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/replies" &
client=$!
sleep 0.02
stopped
check "server: it ends with status 0" test $? = 0
wait $client
check "server: and answers before: $(head -c 60 "$WORK/replies")" grep -q '^200 .*"completion_tokens": 400' "$WORK/replies"

serving "$talk" -t 1 --api-key secret --api-key other --cors-origins https://a.example --log-format json
reply "server: no key" '^401 {"error": {"type": "authentication_error"' GET /v1/models
reply "server: health needs no key" '^200' GET /health
printf 'GET /v1/models\n' > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/replies" "Authorization: Bearer other"
check "server: a key" grep -q '^200 ' "$WORK/replies"
asked 1 "$WORK/requests" "$WORK/replies" "x-api-key: secre"
check "server: a wrong key" grep -q '^401 ' "$WORK/replies"
for origin in https://a.example https://b.example; do
    printf 'OPTIONS /v1/models HTTP/1.1\r\nOrigin: %s\r\nConnection: close\r\n\r\n' $origin | "$BUILD/tools/http_client" "$port" raw > "$WORK/$(basename $origin)"
done
check "server: an origin that may ask" grep -q '^Access-Control-Allow-Origin: https://a.example' "$WORK/a.example"
check "server: others may not" sh -c "! grep -q Access-Control '$WORK/b.example'"
stopped
check "server: lines of its log are JSON" grep -qx '{"time": [0-9]*, "method": "GET", "path": "/v1/models", "status": 401, .*}' "$WORK/served"

"$BURIN" serve "$model" --port 0 -t 1 > "$WORK/served" 2>&1 &
server=$!
tries=0
until grep -q 'try: curl http://127.0.0.1:' "$WORK/served" || [ $tries = 1200 ]; do sleep 0.1 && tries=$((tries + 1)); done
port=$(sed -n 's/.*serving at http.*:\([0-9]*\)$/\1/p' "$WORK/served")
reply "server: burin serve" '^200 .*"id": "model"' GET /v1/models
stopped
check "server: burin serve ends" test $? = 0

"$talk" --serve "$WORK/socket/x" > "$WORK/out" 2>&1
check "server: no folder for a socket" grep -q "socket/x: No such file or directory" "$WORK/out"
"$talk" --serve "$WORK/socket" -t 1 > "$WORK/served" 2>&1 &
server=$!
sleep 0.3
check "server: a unix socket of its own" test "$(stat -c %a "$WORK/socket")" = 600
kill $server && wait $server
check "server: which goes with it" test ! -e "$WORK/socket"
