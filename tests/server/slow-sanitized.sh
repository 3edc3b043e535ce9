#!/bin/sh
# A server under AddressSanitizer and UBSan, then under ThreadSanitizer: mixed requests at once, drafts, a store in memory and in files.
# Nothing is found, and nothing leaks.
. tests/lib.sh
. tests/lib_sanitize.sh
. tests/lib_server.sh
need "sanitized server: austen as a program" examples/austen/model.safetensors
unsanitized "sanitized server: replies"
[ -e /usr/include/event2/http.h ] || { skip "sanitized server: with libevent" "it is not here" && exit 0; }
talking "$WORK/model"
"$BURIN" build "$WORK/model" --mcpu=native --draft examples/austen --draft-quant q4_0 -o "$WORK/talk.c" > "$WORK/out" 2>&1 || { cat "$WORK/out"; exit 1; }
cp -R runtime/server runtime/api "$WORK/talk.c/runtime"
# shellcheck disable=SC2046 # names
make CC=clang-19 -s -C "$WORK/talk.c" CFLAGS=-O1 $(sed -n 's/^\(talk_\(draft_\)*x86[a-z0-9_]*\.o\):.*/\1/p' "$WORK/talk.c/Makefile") > "$WORK/out" 2>&1
# The folder's rule puts flags before objects: the shared library is linked as it is.
server_under() { make CC=clang-19 -s -C "$WORK/talk.c" CFLAGS="$* -DBURIN_SERVER=1 -Wno-unused-command-line-argument -Wl,--no-as-needed -levent" talk >> "$WORK/out" 2>&1; }
server_under "$SANITIZE"
check "sanitized server: builds" test -x "$WORK/talk.c/talk"
[ -x "$WORK/talk.c/talk" ] || { cat "$WORK/out"; exit 1; }
export ASAN_OPTIONS=detect_leaks=1
i=0
while [ $i -lt 6 ]; do
    chat="{\"messages\": [{\"role\": \"user\", \"content\": \"It was $i, and so on, that they went on and on to the place that was meant by her $i\"}], \"seed\": $i"
    tools='"tools": [{"type": "function", "function": {"name": "light", "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}}}]'
    cat << END
POST /v1/chat/completions $chat, "max_tokens": 20, "n": 2, "logprobs": true}
!200 POST /v1/chat/completions $chat, "max_tokens": 200, "stream": true, "ignore_eos": true}
POST /v1/chat/completions $chat, "max_tokens": 400, $tools, "tool_choice": "required", "stream": true}
POST /v1/completions {"prompt": "It", "seed": $i, "max_tokens": 30, "response_format": {"type": "json_object"}}
POST /v1/messages $chat, "max_tokens": 10, "stream": true}
POST /v1/responses {"input": "It was $i", "seed": $i, "max_output_tokens": 10, "stream": true}
POST /v1/responses {"input": [{"type": "message", "role": "user", "content": "x"}, {"type": "function_call", "call_id": "a", "name": "b", "arguments": "{"}]}
POST /v1/messages {"max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "image"}]}]}
POST /v1/completions {"prompt": "It $i", "receipt": true, "max_tokens": 9, "suffix": "x"}
POST /v1/completions {"prompt": "It was, it was, it was, it was $i", "receipt": true, "max_tokens": 60, "stream": true, "logprobs": 1}
POST /v1/chat/completions $chat, "receipt": true, "max_tokens": 30, "thinking_budget_tokens": 3, "chat_template_kwargs": {"enable_thinking": true}}
POST /infill {"input_prefix": "a", "input_suffix": "b", "input_extra": [{"text": "c"}]}
POST /tokenize {"content": "It was", "with_pieces": true}
POST /detokenize {"tokens": [5, 6, "x"]}
POST /slots/0?action=save {"filename": "a"}
POST /slots/0?action=restore {"filename": "a"}
POST /v1/chat/completions $chat, "grammar": "root ::= (", "stop": ["x"], "logit_bias": {"5": 1}}
GET /metrics
GET /
END
    i=$((i + 1))
done > "$WORK/requests"
mkdir "$WORK/slots"
for run in 1 2 threads; do
    if [ $run = threads ]; then
        find "$WORK/talk.c" -name talk -type f -delete -o -name '*.o' ! -name '*x86*' -delete
        server_under -O1 -g -fsanitize=thread
        check "sanitized server: builds with ThreadSanitizer" test -x "$WORK/talk.c/talk"
    fi
    serving "$WORK/talk.c/talk" -t 2 --parallel 3 --cache-ram 1 --cache-dir "$WORK/cache" --cache-disk 1 --slot-save-path "$WORK/slots" --metrics --slots || { cat "$WORK/served"; exit 1; }
    asked 8 "$WORK/requests" "$WORK/replies"
    stopped
    check "sanitized server: run $run: it ends without a finding" test $? = 0
    grep -A 30 -E 'ERROR|runtime error|WARNING: ThreadSanitizer' "$WORK/served" | sed 's/^/# /' | head -40
    check "sanitized server: run $run: $(wc -l < "$WORK/replies") replies" test "$(grep -c '^[2-5]\|^gone' "$WORK/replies")" = "$(wc -l < "$WORK/requests")"
done
