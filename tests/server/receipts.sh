#!/bin/sh
# Receipts: a reply that has one is given again by --replay, byte for byte, on other CPUs and threads;
# of other programs, options or requests it is refused.
. tests/lib.sh
. tests/lib_server.sh
need "receipts: austen as a program" examples/austen/model.safetensors
unsanitized "receipts: replies"
[ -e /usr/include/event2/http.h ] || { skip "receipts: with libevent" "it is not here" && exit 0; }
talking "$WORK/model"
"$BURIN" build "$WORK/model" --with=server --line-editor=none -o "$WORK/talk" > "$WORK/out" 2>&1 || { cat "$WORK/out"; exit 1; }
cpu=$("$WORK/talk" --info | sed -n 's/^cpus \([^,;]*\).*/\1/p')
hello='"messages": [{"role": "user", "content": "It was"}], "receipt": true, "max_tokens": 30'
cat > "$WORK/requests" << END
POST /v1/chat/completions {$hello, "n": 2}
POST /v1/completions {"prompt": "It was", "receipt": true, "echo": true, "temperature": 1.2, "grammar": "root ::= [a-z ]+"}
POST /v1/messages {$hello, "tools": [{"name": "light", "input_schema": {"type": "object"}}], "tool_choice": {"type": "any"}}
POST /v1/responses {"input": "It was", "receipt": true, "max_output_tokens": 20}
POST /v1/completions {"prompt": "It was", "receipt": true, "temperature": 0}
POST /v1/completions {"prompt": "It was", "receipt": true, "max_tokens": 2, "user": "$(head -c 9000 /dev/zero | tr '\0' x)"}
END
serving "$WORK/talk" -t 2 --alias smol || { cat "$WORK/served"; exit 1; }
asked 4 "$WORK/requests" "$WORK/replies"
printf 'POST /v1/completions {"prompt": "It was", "receipt": true, "max_tokens": 9, "stream": true}\n' > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/streamed"
stopped
i=0
while read -r reply; do
    i=$((i + 1))
    printf '%s\n' "${reply#200 }" > "$WORK/receipt.json"
    sed 's/, "receipt": {.*"request": {.*}}}$/}/' "$WORK/receipt.json" > "$WORK/expected"
    check "receipts: reply $i has one" sh -c "! cmp -s '$WORK/receipt.json' '$WORK/expected'"
    "$WORK/talk" --replay "$WORK/receipt.json" -t 1 --cpu "$cpu" > "$WORK/got" 2>&1
    sed 's/"input_tokens": [0-9]*/"input_tokens": 0/' "$WORK/got" > "$WORK/got0" # as tests/tools/http_client.c
    same "receipts: reply $i again, on $cpu" "$WORK/expected" "$WORK/got0"
done < "$WORK/replies"
tr '~' '\n' < "$WORK/streamed" | sed -n 's/^data: \({.*"receipt".*\)/\1/p' > "$WORK/chunk.json"
tr '~' '\n' < "$WORK/streamed" | sed -n 's/.*"text": "\(.*\)", "logprobs".*/\1/p' | tr -d '\n' > "$WORK/text"
"$WORK/talk" --replay "$WORK/chunk.json" > "$WORK/got"
check "receipts: of a stream: $(cat "$WORK/text")" grep -qF "\"text\": \"$(cat "$WORK/text")\"" "$WORK/got"

head -n 1 "$WORK/replies" | sed 's/^200 //' > "$WORK/receipt.json"
says "receipts: other options" 1 "give the options that the server was started with" "$WORK/talk" --replay "$WORK/receipt.json" --temp 0.3
sed 's/"system_fingerprint": "[0-9a-f]*/"system_fingerprint": "0/g' "$WORK/receipt.json" > "$WORK/other.json"
says "receipts: another program" 1 "it needs the same model, built with the same options" "$WORK/talk" --replay "$WORK/other.json"
sed 's/"content": "It was"/"content": "It is"/' "$WORK/receipt.json" > "$WORK/other.json"
says "receipts: another request" 1 "the prompt is another one" "$WORK/talk" --replay "$WORK/other.json"
sed 's/"seed": [0-9]*, "prompt"/"seed": 5, "prompt"/' "$WORK/receipt.json" > "$WORK/other.json"
says "receipts: another seed" 1 "the answer is another one" "$WORK/talk" --replay "$WORK/other.json"
sed 's/"max_tokens": 30/"max_tokens": "x"/' "$WORK/receipt.json" > "$WORK/other.json"
says "receipts: a request with a mistake" 1 "max_tokens" "$WORK/talk" --replay "$WORK/other.json"
sed 's,"path": "[^"]*","path": "/health",' "$WORK/receipt.json" > "$WORK/other.json"
says "receipts: another path" 1 "no path with answers is /health" "$WORK/talk" --replay "$WORK/other.json"
echo '[' > "$WORK/other.json"
says "receipts: no JSON" 1 "other.json" "$WORK/talk" --replay "$WORK/other.json"
echo '{}' > "$WORK/other.json"
says "receipts: none in it" 1 "in the reply to a request with" "$WORK/talk" --replay "$WORK/other.json"
says "receipts: beside a server" 2 "leave out --serve" "$WORK/talk" --replay "$WORK/other.json" --serve
says "receipts: an option that requests have" 2 "leave out --grammar" "$WORK/talk" --serve --grammar 'root ::= "a"'
