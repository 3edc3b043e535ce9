#!/bin/sh
# Pictures in messages over HTTP: every form of every API gives the command line's answer, beside others as alone, and what is refused.
. tests/lib.sh
. tests/lib_server.sh
unsanitized "pictures: replies"
[ -e /usr/include/event2/http.h ] && [ -e /usr/include/png.h ] || { skip "pictures: with libevent and libpng" "they are not here" && exit 0; }
tar xJf tests/e2e/eyes.tar.xz -C "$WORK"
data="data:image/png;base64,$(base64 -w 0 "$WORK/wide.png")" small="data:image/png;base64,$(base64 -w 0 "$WORK/small.png")"
text='{"type": "text", "text": "What is this?"}'
ends='"temperature": 0, "max_tokens": 12, "ignore_eos": true'

# chat PART...: a line of a request whose message has these parts and the question
chat() { printf 'POST /v1/chat/completions {%s, "messages": [{"role": "user", "content": [%s, %s]}]}\n' "$ends" "$1" "$text"; }
# answers NAME PATTERN METHOD PATH BODY: the text after PATTERN in the reply is the command line's answer
answers() {
    _name=$1 _after=$2
    shift 2
    printf '%s\n' "$*" > "$WORK/requests"
    asked 1 "$WORK/requests" "$WORK/replies"
    sed -nE "s/^200 .*$_after\"(([^\"\\\\]|\\\\.)*)\".*/\"\1\"/p" "$WORK/replies" > "$WORK/got"
    same "pictures: $family: $_name" "$WORK/wanted" "$WORK/got"
}

for family in idefics3 gemma3; do
    "$BUILD/tools/family_weights" "$WORK/$family" "$WORK/$family.model"
    check "pictures: $family: a program" "$BURIN" build "$WORK/$family.model" --mcpu=native --with=server --line-editor=none -o "$WORK/$family.p"
    mkdir -p "$WORK/media" && cp "$WORK/wide.png" "$WORK/media/"
    serving "$WORK/$family.p" -t 1 --media-path "$WORK/media" || { cat "$WORK/served"; exit 1; }
    "$WORK/$family.p" --image "$WORK/wide.png" "What is this?" --temp 0 -n 12 --ignore-eos --json | sed -E 's/.*"content": ("([^"\\]|\\.)*").*/\1/' > "$WORK/wanted"
    check "pictures: $family: an answer of some length" test "$(wc -c < "$WORK/wanted")" -gt 10
    answers "image_url" '"content": ' "$(chat "{\"type\": \"image_url\", \"image_url\": {\"url\": \"$data\", \"detail\": \"low\"}}")"
    answers "a text as address" '"content": ' "$(chat "{\"type\": \"image_url\", \"image_url\": \"$data\"}")"
    answers "--media-path" '"content": ' "$(chat '{"type": "image_url", "image_url": {"url": "file://wide.png"}}')"
    answers "a block of Anthropic's" '"text": ' "POST /v1/messages {$ends, \"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"image\", \"source\": {\"type\": \"base64\", \"media_type\": \"image/png\", \"data\": \"${data#*,}\"}}, $text]}]}"
    answers "an item of responses" '"text": ' "POST /v1/responses {\"temperature\": 0, \"max_output_tokens\": 12, \"ignore_eos\": true, \"input\": [{\"role\": \"user\", \"content\": [{\"type\": \"input_image\", \"image_url\": \"$data\"}, {\"type\": \"input_text\", \"text\": \"What is this?\"}]}]}"
    check "pictures: $family: rows are read once" sh -c "tail -n 1 '$WORK/served' | grep -qE '(4[0-9]|109) cached'"
    # beside others as alone
    for seed in 1 2 3 4 5 6; do
        for parts in "{\"type\": \"image_url\", \"image_url\": \"$data\"}" "{\"type\": \"image_url\", \"image_url\": \"$small\"}" '{"type": "text", "text": "Hello."}'; do
            chat "$parts" | sed "s/\"temperature\": 0/\"seed\": $seed, \"n\": $((seed % 2 + 1))/"
        done
    done > "$WORK/requests"
    asked 1 "$WORK/requests" "$WORK/alone"
    stopped
    check "pictures: $family: it ends" test $? = 0
    serving "$WORK/$family.p" -t 2 --parallel 6
    asked 8 "$WORK/requests" "$WORK/beside"
    for file in alone beside; do sed 's/"cached_tokens": [0-9]*/"cached_tokens": 0/; s/"created": [0-9]*//; s/"system_fingerprint": "[^"]*"//' "$WORK/$file" > "$WORK/$file.same"; done
    same "pictures: $family: 18 requests at once" "$WORK/alone.same" "$WORK/beside.same"
    check "pictures: $family: all are answered" test "$(grep -c '^200 ' "$WORK/beside")" = 18
    stopped
done

serving "$WORK/idefics3.p" -t 1
# refused NAME PATTERN PART
refused() { reply "pictures: $1" "^400 .*\"message\": \"messages.0..content.0.: $2.*\"param\": \"messages.0..content.0.\"" "$(chat "$3")"; }
refused "the network" "a picture's address is of the network" '{"type": "image_url", "image_url": {"url": "https://localhost/a.png"}}'
refused "a file" "a picture is not data:image" '{"type": "image_url", "image_url": {"url": "/etc/passwd"}}'
refused "no base64" "a picture's data is not base64" '{"type": "image_url", "image_url": {"url": "data:image/png;base64,@@"}}'
refused "no picture" "a picture: it begins as no picture does" '{"type": "image", "source": {"type": "base64", "data": "aGVsbG8="}}'
refused "neither address nor data" "a picture is an address" '{"type": "input_image", "file_id": "file-1"}'
refused "an address of another type" "a picture is an address" '{"type": "image_url", "image_url": {"url": 3}}'
many=$(i=0; while [ $i -lt 30 ]; do printf '{"type": "image_url", "image_url": "%s"}, ' "$data" && i=$((i + 1)); done)
reply "pictures: more rows than the context" '^400 .*the pictures up to this one have [0-9]+ rows, and the context has 1024 tokens.*context_length_exceeded' "$(chat "${many%, }")"
reply "pictures: sound" '^400 .*has a part that is neither text nor a picture' "$(chat '{"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}')"
reply "pictures: tokens of a picture" '^200 {"input_tokens": 0}$' "POST /v1/messages/count_tokens {\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"image\", \"source\": {\"type\": \"base64\", \"data\": \"${data#*,}\"}}, $text]}]}"
# this template knows no tools: messages tell of them
tool='"tools": [{"type": "function", "function": {"name": "light", "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}}}]'
reply "pictures: tools as text" '^200 {"prompt": ".*You can call these functions.*{..name..: ..light.., .*<tool_call>.n{..name..: ..light.., ..arguments..: {..on..: true}}.n</tool_call>.*user.n<tool_response>.ndone.n</tool_response>' \
    POST /apply-template "{$tool, \"messages\": [{\"role\": \"user\", \"content\": \"On?\"}, {\"role\": \"assistant\", \"tool_calls\": [{\"id\": \"a\", \"type\": \"function\", \"function\": {\"name\": \"light\", \"arguments\": \"{\\\"on\\\": true}\"}}]}, {\"role\": \"tool\", \"tool_call_id\": \"a\", \"content\": \"done\"}]}"
reply "pictures: a call as text" '"tool_calls": \[{"id": "[a-z0-9]*", "type": "function", "function": {"name": "light", "arguments": "{' \
    POST /v1/chat/completions "{$tool, \"tool_choice\": \"required\", \"parallel_tool_calls\": false, \"seed\": 1, \"max_tokens\": 400, \"messages\": [{\"role\": \"user\", \"content\": \"On\"}]}"
reply "pictures: properties" '"modalities": {"vision": true, "audio": false}' GET /props
asked 1 "$WORK/requests" "$WORK/replies"
chat "{\"type\": \"image_url\", \"image_url\": \"$data\"}" | sed 's/"temperature": 0/"seed": 5, "receipt": true/' > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/replies"
sed 's/^200 //' "$WORK/replies" > "$WORK/receipt.json"
"$WORK/idefics3.p" --replay "$WORK/receipt.json" > "$WORK/again" 2>&1
check "pictures: a receipt" grep -q "\"choices\"" "$WORK/again"
stopped
