#!/bin/sh
# An answer's bytes depend on its request alone: mixed requests (sampled, greedy, grammars, schemas, tools, streams, several choices,
# shared beginnings, repetitions, clients that leave) alone, and 4 and 16 at once, on one thread and two, with few slots and many, with
# drafts by a lookup, by a model, without.
. tests/lib.sh
. tests/lib_server.sh
need "same_bytes: austen as a program" examples/austen/model.safetensors
unsanitized "same_bytes: replies"
[ -e /usr/include/event2/http.h ] || { skip "same_bytes: with libevent" "it is not here" && exit 0; }
talking "$WORK/model"
"$BURIN" build "$WORK/model" --with=server --line-editor=none --draft examples/austen --draft-quant q4_0 -o "$WORK/talk" > "$WORK/out" 2>&1 || { cat "$WORK/out"; exit 1; }
tools='"tools": [{"type": "function", "function": {"name": "light", "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}, "room": {"enum": ["hall", "attic"]}}, "required": ["on", "room"]}}}, {"type": "function", "function": {"name": "wait", "parameters": {"type": "object", "properties": {"minutes": {"type": "integer", "minimum": 1, "maximum": 99}}, "required": ["minutes"]}}}]'
schema='"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "minimum": 0, "maximum": 120}}, "required": ["name", "age"]}}}'
long=$(head -c 700 examples/austen/held_out.txt | tr '\n"\\' '   ')
again="Mr. Darcy and Mr. Bingley, Mr. Darcy and Mr. Bingley, Mr. Darcy"
i=0
while [ $i -lt ${ROUNDS:-5} ]; do
    chat="{\"messages\": [{\"role\": \"system\", \"content\": \"$long\"}, {\"role\": \"user\", \"content\": \"It was $i\"}], \"seed\": $i"
    short="{\"messages\": [{\"role\": \"user\", \"content\": \"On $i\"}], \"seed\": $i, \"temperature\": 0.5"
    cat << END
POST /v1/chat/completions $chat, "max_tokens": 30}
POST /v1/completions {"prompt": "It was $i", "seed": $i, "max_tokens": 50, "temperature": 1.3, "top_p": 0.9, "stream": true}
POST /v1/completions {"prompt": "$long", "temperature": 0, "max_tokens": $((i * 3 + 5)), "logit_bias": {"$((100 + i))": 3}}
POST /v1/chat/completions $chat, "max_tokens": 120, $schema}
!300 POST /v1/completions {"prompt": "They $i", "seed": $i, "max_tokens": 300, "ignore_eos": true, "stream": true}
POST /v1/chat/completions $short, "max_tokens": 450, $tools, "tool_choice": "required"}
POST /v1/chat/completions $short, "max_tokens": 450, $tools, "tool_choice": "required", "stream": true, "parallel_tool_calls": false}
POST /v1/chat/completions $chat, "max_tokens": 20, "n": 3, "logprobs": true, "top_logprobs": 2}
POST /v1/completions {"prompt": "Count:", "seed": $i, "max_tokens": 40, "grammar": "root ::= ([0-9] [0-9]* \", \")+"}
POST /v1/completions {"prompt": "She", "seed": $i, "max_tokens": 60, "repeat_penalty": 1.3, "presence_penalty": 0.4, "dry_multiplier": 0.8, "stop": ["the", "."]}
POST /v1/completions {"prompt": "$again $again", "seed": $i, "max_tokens": 60, "temperature": 0.4, "ignore_eos": true}
END
    i=$((i + 1))
done > "$WORK/requests"
serving "$WORK/talk" -t 1 --parallel 1 --draft none --queue 1000 --log-format none || { cat "$WORK/served"; exit 1; }
asked 1 "$WORK/requests" "$WORK/alone"
stopped
[ -z "$SHOW" ] || cut -c1-${SHOW} "$WORK/alone"
n=$(wc -l < "$WORK/requests")
check "same_bytes: $n requests alone, $(grep -c '^200' "$WORK/alone") answers" test "$(grep -c '^200' "$WORK/alone")" = $((n * 10 / 11)) -a "$(grep -c '^gone$' "$WORK/alone")" = $((n / 11))
check "same_bytes: calls: $(grep -c '"finish_reason": "tool_calls"' "$WORK/alone")" test "$(grep -c '"finish_reason": "tool_calls"' "$WORK/alone")" -ge $((n / 11))
check "same_bytes: streamed calls" grep -q 'data: .*"tool_calls": \[{"index": 0, "id": "c[0-9a-f]*", .*"arguments": "{.*"tool_calls": \[{"index": 0, "function": {"arguments": .*"finish_reason": "tool_calls"' "$WORK/alone"
check "same_bytes: documents end by themselves" grep -q '"content": "{.*\\"age\\".*}"}, "logprobs": null, "finish_reason": "stop"' "$WORK/alone"
cpu=$("$WORK/talk" --info | sed -n "s/^cpus \([^,;]*\).*/\1/p")
for how in "4 -t 1 --parallel 4 --draft lookup" "16 -t 2 --parallel 16 --draft none" "16 -t 1 --parallel 3 --chunk 24 --draft lookup" "16 -t 1 --parallel 8 --cpu $cpu" \
    "1 -t 2 --parallel 2"; do
    at_once=${how%% *}
    # shellcheck disable=SC2086 # options
    serving "$WORK/talk" ${how#* } --metrics --queue 1000 --log-format none
    asked "$at_once" "$WORK/requests" "$WORK/replies"
    same "same_bytes: $at_once at once, ${how#* }" "$WORK/alone" "$WORK/replies"
    printf 'GET /metrics\n' > "$WORK/metrics"
    asked 1 "$WORK/metrics" "$WORK/counted"
    case $how in
        *none) ;;
        *) right=$(tr '~' '\n' < "$WORK/counted" | sed -n 's/^burin_right_guesses_total //p')
            check "same_bytes: right guesses: $right of $(tr '~' '\n' < "$WORK/counted" | sed -n 's/^burin_guesses_total //p')" test "$right" -gt 0 ;;
    esac
    stopped
    check "same_bytes: it ends" test $? = 0
done
