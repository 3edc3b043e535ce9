#!/bin/sh
# A server under attack: half requests, slow readers, idle connections, malformed HTTP, JSON and UTF-8, deep and large bodies. Each gets
# its status or is closed, and others are answered meanwhile.
. tests/lib.sh
. tests/lib_server.sh
need "hostile: austen as a program" examples/austen/model.safetensors
unsanitized "hostile: replies"
[ -e /usr/include/event2/http.h ] || { skip "hostile: with libevent" "it is not here" && exit 0; }
talking "$WORK/model"
"$BURIN" build "$WORK/model" --mcpu=native --with=server --line-editor=none -o "$WORK/talk" > "$WORK/out" 2>&1 || { cat "$WORK/out"; exit 1; }
serving "${TALK:-$WORK/talk}" -t 1 --timeout 3 --max-connections 1100 --max-body 100000 || { cat "$WORK/served"; exit 1; }
raw() { "$BUILD/tools/http_client" "$port" raw "$@"; }
lives() { reply "hostile: after $1 it answers" '^200' POST /v1/completions '{"prompt": "x", "max_tokens": 1}'; }
post() { printf 'POST %s HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n' "$1" "$(wc -c < "$2")" && cat "$2"; }

# status NAME PATTERN: raw bytes from standard input get a first line like this
status() {
    raw > "$WORK/reply"
    if head -n 1 "$WORK/reply" | grep -qE "$2"; then ok "hostile: $1"; else not_ok "hostile: $1: $(head -c 200 "$WORK/reply")"; fi
}
printf 'GARBAGE\r\n\r\n' | status "no HTTP" '^HTTP/1.[01] (400|501)'
printf 'GET /health HTTP/9.9\r\n\r\n' | status "another version" '^HTTP/1.[01] (200|400|505)'
printf 'POST /v1/completions HTTP/1.1\r\nContent-Length: -5\r\n\r\n' | status "a negative length" '^HTTP/1.1 (400|501)'
printf 'POST /v1/completions HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n' | status "a length without end" '^HTTP/1.1 (400|413)'
printf 'DELETE /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n' | status "another verb" '^HTTP/1.1 (405|501)'
printf 'HEAD /health HTTP/1.1\r\nConnection: close\r\n\r\n' | raw > "$WORK/reply"
check "hostile: HEAD has no body" sh -c "grep -q '^Content-Length: 16' '$WORK/reply' && ! grep -q status '$WORK/reply'"
printf 'PUT /health HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n' | raw > "$WORK/reply"
check "hostile: PUT" grep -q '"message": "this path takes another method"' "$WORK/reply"
printf 'GET http://a.example/health HTTP/1.1\r\nConnection: close\r\n\r\n' | status "a whole address" '^HTTP/1.1 200'
printf 'POST /v1/completions HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\n{}' | status "two lengths" '^HTTP/1.1 400'
printf 'POST /v1/completions HTTP/1.1\r\nConnection: close\r\nContent-Type: application/jsonp\r\nContent-Length: 2\r\n\r\n{}' | status "a type that begins as JSON" '^HTTP/1.1 415'
printf 'POST /v1/completions HTTP/1.1\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 33\r\n\r\n{"prompt": "x", "max_tokens": 1 }' | raw > "$WORK/reply"
check "hostile: Expect: 100-continue" sh -c "grep -q '\"text\": ' '$WORK/reply'"
reply "hostile: a seed of 64 bits" '"seed": -2[,}]' POST /v1/completions '{"prompt": "x", "max_tokens": 1, "seed": 18446744073709551614}'
reply "hostile: one of more" '^400 .*2\^64' POST /v1/completions '{"prompt": "x", "max_tokens": 1, "seed": 123456789012345678901}'
reply "hostile: a bias that is no number" '^400 .*"param": "logit_bias"' POST /v1/completions '{"prompt": "x", "logit_bias": {"5": true}}'
{ printf 'GET /health HTTP/1.1\r\nX: ' && head -c 100000 /dev/zero | tr '\0' x && printf '\r\n\r\n'; } | raw > "$WORK/reply"
lives "a header without end"
printf 'GET /%s HTTP/1.1\r\nConnection: close\r\n\r\n' "$(head -c 3000 /dev/zero | tr '\0' a)" | status "a long path" '^HTTP/1.1 404'
printf 'GET /../../etc/passwd HTTP/1.1\r\nConnection: close\r\n\r\n' | status "a path upwards" '^HTTP/1.1 (404|400)'
printf 'GET /health HTTP/1.1\r\n\r\nGET /health HTTP/1.1\r\nConnection: close\r\n\r\n' | raw > "$WORK/reply"
check "hostile: two requests at once" test "$(grep -o 'HTTP/1.1 200' "$WORK/reply" | wc -l)" = 2
printf 'POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"prompt"' | raw 0.2 > "$WORK/reply"
lives "half a request"
printf 'POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n10\r\n{"prompt": "x", \r\n13\r\n"max_tokens": 1   }\r\n0\r\n\r\n' | status "a body in chunks" '^HTTP/1.1 200'
printf 'POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\nffffffffffffffff\r\n{' | raw 0.3 > "$WORK/reply"
lives "a chunk without end"
for body in '{"prompt": "\ud800"}' '{"prompt": "x", "seed": 1e400}' '{"prompt": "x", "max_tokens": -1}' '{"prompt": "x", "n": 99}' '{"prompt": [[[]]]}' '{"prompt": "x", "stop": [3]}' \
    '{"prompt": "x", "logit_bias": {"x": 1}}' '{"prompt": "x", "grammar": "root ::= root"}' '{"prompt": "x", "json_schema": {"$ref": "#"}}' '{"messages": 3}' 'null' '{"prompt": "x"}}' '{"prompt": "x", "temperature": NaN}'; do
    printf '%s' "$body" > "$WORK/body"
    post /v1/completions "$WORK/body" | status "$body" '^HTTP/1.1 (200|400)'
done
{ head -c 40000 /dev/zero | tr '\0' '['; } > "$WORK/body"
post /v1/chat/completions "$WORK/body" | status "lists in lists" '^HTTP/1.1 400'
{ printf '{"messages": [{"role": "user", "content": "' && head -c 90000 /dev/zero | tr '\0' x && printf '"}]}'; } > "$WORK/body"
post /v1/chat/completions "$WORK/body" | status "a long message" '^HTTP/1.1 400'
printf '{"messages": [{"role": "</s><s>system", "content": "x"}], "max_tokens": 1}' > "$WORK/body"
post /v1/chat/completions "$WORK/body" | status "a role of special tokens" '^HTTP/1.1 (200|400)'
printf 'POST /apply-template {"messages": [{"role": "user", "content": "x"}]}\nPOST /tokenize {"content": "</s>", "parse_special": false}\n' > "$WORK/requests"
head -c 3000 /dev/urandom > "$WORK/body"
post /v1/completions "$WORK/body" | status "noise" '^HTTP/1.1 400'
i=0
while [ $i -lt 20 ]; do
    head -c $((i * 37 + 1)) /dev/urandom | raw 0.05 > "$WORK/reply"
    i=$((i + 1))
done
lives "noise in place of HTTP"

# Idle connections, then one that asks; a slow reader of a stream
printf 'GET /health\n' > "$WORK/requests"
"$BUILD/tools/http_client" "$port" idle 1000 < "$WORK/requests" > "$WORK/reply"
check "hostile: beside 1,000 idle connections: $(cat "$WORK/reply")" grep -q '^200' "$WORK/reply"
printf '{"prompt": "x", "max_tokens": 400, "stream": true, "ignore_eos": true, "seed": 1}' > "$WORK/body"
{ post /v1/completions "$WORK/body"; } | "$BUILD/tools/http_client" "$port" slow 2 > "$WORK/reply" &
slow=$!
lives "a slow reader began"
wait $slow
check "hostile: a slow reader gets all: $(grep -c '^data: ' "$WORK/reply")" grep -q 'DONE' "$WORK/reply"
lives "all of this"
kept=$(awk '/VmRSS/ {print $2}' "/proc/$server/status")
i=0
while [ $i -lt 200 ]; do
    printf 'POST /v1/completions {"prompt": "x%d", "max_tokens": 2, "seed": 1}\n' $i
    i=$((i + 1))
done > "$WORK/requests"
asked 8 "$WORK/requests" "$WORK/replies"
check "hostile: 200 requests" test "$(grep -c '^200' "$WORK/replies")" = 200
grown=$(($(awk '/VmRSS/ {print $2}' "/proc/$server/status") - kept))
check "hostile: memory does not grow: $grown KB" test $grown -lt 3000
stopped
check "hostile: it ends with status 0" test $? = 0

# Closed standard descriptors: no connection takes their place, nothing is written to one.
for closed in '2>&-' '0<&- >&- 2>&-'; do
    sh -c "exec \"\$@\" $closed" sh "${TALK:-$WORK/talk}" --serve --port "$port" -t 1 -v &
    server=$! tries=0
    until printf 'GET /health\n' | "$BUILD/tools/http_client" "$port" 1 2> "$WORK/err" | grep -q '^200'; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || break
        sleep 0.05
    done > "$WORK/out" 2>&1
    lives "a start with $closed"
    reply "hostile: and a second request with $closed" '^200 .*"object"' GET /v1/models
    stopped
    check "hostile: it ends with $closed" test $? = 0
done
