#!/bin/sh
# Every route of a server but those of server.sh: Anthropic's messages, OpenAI's responses, tokens, templates, its state.
. tests/lib.sh
. tests/lib_server.sh
need "apis: austen as a program" examples/austen/model.safetensors
unsanitized "apis: replies"
[ -e /usr/include/event2/http.h ] || { skip "apis: with libevent" "it is not here" && exit 0; }
talking "$WORK/model"
"$BURIN" build "$WORK/model" --mcpu=native --with=server --line-editor=none -o "$WORK/talk" > "$WORK/out" 2>&1 || { cat "$WORK/out"; exit 1; }
serving "$WORK/talk" -t 1 --slots --alias tiny || { cat "$WORK/served"; exit 1; }
ask='"temperature": 0, "messages": [{"role": "user", "content": "It was"}]'
light='"name": "light", "description": "a lamp"'
schema='{"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}'
text=$("$BUILD/tools/http_client" "$port" 1 << END | sed 's/.*"content": "\([^"]*\)".*/\1/'
POST /v1/chat/completions {$ask, "max_tokens": 6}
END
)
reply "apis: a message: $text" "^200 {\"id\": \"msg_[0-9a-f]{16}\", \"type\": \"message\", \"role\": \"assistant\", \"model\": \"tiny\", \"content\": \[{\"type\": \"text\", \"text\": \"$text\"}\], \"stop_reason\": \"max_tokens\", \"stop_sequence\": null, \"usage\": {\"input_tokens\": [0-9]*, \"cache_creation_input_tokens\": 0, \"cache_read_input_tokens\": 0, \"output_tokens\": 6}}$" \
    POST /v1/messages "{$ask, \"max_tokens\": 6}"
reply "apis: a message's events" '^200 event: message_start~.*event: content_block_start~data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}~~event: content_block_delta~data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "[^"]*"}}~~.*event: content_block_stop~data: {"type": "content_block_stop", "index": 0}~~event: message_delta~data: {"type": "message_delta", "delta": {"stop_reason": "max_tokens", "stop_sequence": null}, "usage": {[^}]*"output_tokens": 6}}~~event: message_stop~data: {"type": "message_stop"}~~$' \
    POST /v1/messages "{$ask, \"max_tokens\": 6, \"stream\": true}"
reply "apis: a message's call" '^200 .*"content": \[{"type": "tool_use", "id": "c[0-9a-f]{8}", "name": "light", "input": {.*"on".*(true|false).*}}\], "stop_reason": "tool_use"' \
    POST /v1/messages "{$ask, \"max_tokens\": 400, \"seed\": 1, \"tools\": [{$light, \"input_schema\": $schema}], \"tool_choice\": {\"type\": \"any\"}}"
called() {
    "$BUILD/tools/http_client" "$port" 1 << END
POST /v1/messages {$ask, "max_tokens": $1, "seed": 1, "tools": [{$light, "input_schema": $schema}], "tool_choice": {"type": "any"}}
END
}
called 400 | sed -n 's/.*"output_tokens": \([0-9]*\).*/\1/p' > "$WORK/used"
called "$(cat "$WORK/used")" > "$WORK/got"
check "apis: a whole call at the limit of tokens: $(cat "$WORK/used")" grep -q '"type": "tool_use".*"stop_reason": "max_tokens"' "$WORK/got"
reply "apis: blocks of every kind" '^200 {"input_tokens": [0-9]*}$' POST /v1/messages/count_tokens '{"system": [{"type": "text", "text": "Be brief."}], "messages": [{"role": "user", "content": [{"type": "text", "text": "On?"}]}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": ""}, {"type": "text", "text": "I see"}, {"type": "tool_use", "id": "a", "name": "light", "input": {"on": true}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "done"}]}]}]}'
reply "apis: a stop of a message" '"stop_reason": "stop_sequence", "stop_sequence": "e"' POST /v1/messages "{\"seed\": 1, \"max_tokens\": 100, \"messages\": [{\"role\": \"user\", \"content\": \"It\"}], \"stop_sequences\": [\"zzz\", \"e\"]}"
reply "apis: a message of a schema" '"text": "{\\"a\\":3}"' POST /v1/messages "{$ask, \"max_tokens\": 20, \"output_config\": {\"format\": {\"type\": \"json_schema\", \"schema\": {\"const\": {\"a\": 3}}}}}"
reply "apis: a model by its name" '^200 {"id": "tiny", "object": "model", "type": "model"' GET /v1/models/tiny
reply "apis: another model" '^404 ' GET /v1/models/other
reply "apis: no max_tokens" '^400 {"type": "error", "error": {"type": "invalid_request_error", "message": ".*max_tokens.*is missing"}}$' POST /v1/messages "{$ask}"
reply "apis: a call without its input" '^400 {"type": "error".*"message": "messages: tool_use: .*input.* is missing' POST /v1/messages '{"max_tokens": 1, "messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "b"}]}]}'
reply "apis: a response" "^200 {\"id\": \"resp_[0-9a-f]*\", \"object\": \"response\", \"created_at\": 0, \"status\": \"incomplete\".*\"incomplete_details\": {\"reason\": \"max_output_tokens\"}.*\"output\": \[{\"type\": \"message\", \"id\": \"msg_[0-9a-f]*_0\", \"status\": \"completed\", \"role\": \"assistant\", \"content\": \[{\"type\": \"output_text\", \"text\": \"$text\"" \
    POST /v1/responses '{"input": "It was", "temperature": 0, "max_output_tokens": 6}'
reply "apis: a response's events" '^200 event: response.created~data: {"type": "response.created", "sequence_number": 0, .*response.in_progress.*response.output_item.added.*response.content_part.added.*response.output_text.delta.*response.output_text.done.*response.content_part.done.*response.output_item.done.*"type": "response.incomplete"' \
    POST /v1/responses '{"input": [{"role": "user", "content": "It was"}], "temperature": 0, "max_output_tokens": 6, "stream": true}'
reply "apis: a response's call" '"output": \[{"type": "function_call", "id": "fc_[0-9a-f]*_0", "status": "completed", "call_id": "c[0-9a-f]{8}", "name": "light", "arguments": "{' \
    POST /v1/responses "{\"input\": \"It\", \"seed\": 1, \"max_output_tokens\": 400, \"tools\": [{\"type\": \"function\", $light, \"parameters\": $schema}], \"tool_choice\": \"required\"}"
reply "apis: no earlier response" '^400 {"error": {.*keeps no responses' POST /v1/responses '{"input": "x", "previous_response_id": "y"}'
reply "apis: a document" '^200 .*"content": "{\\"a\\":3}"' POST /v1/chat/completions "{$ask, \"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"schema\": {\"const\": {\"a\": 3}}}}}"
reply "apis: no such schema" '^400 .*"param": "response_format.json_schema.schema"' POST /v1/chat/completions "{$ask, \"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"schema\": {\"type\": 3}}}}"
reply "apis: a wrong grammar" '^400 .*"param": "grammar"' POST /v1/completions '{"prompt": "x", "grammar": "root ::= ("}'
reply "apis: a tool that is not there" '^400 .*"param": "tool_choice"' POST /v1/chat/completions "{$ask, \"tools\": [{\"type\": \"function\", \"function\": {$light}}], \"tool_choice\": {\"type\": \"function\", \"function\": {\"name\": \"x\"}}}"
reply "apis: reasoning apart" '"reasoning_content": "([^"\\]|\\.)+", "content": ""' POST /v1/chat/completions "{$ask, \"max_tokens\": 6, \"chat_template_kwargs\": {\"enable_thinking\": true}}"
reply "apis: reasoning is counted" '"completion_tokens": 6, .*"reasoning_tokens": 6' POST /v1/chat/completions "{$ask, \"max_tokens\": 6, \"chat_template_kwargs\": {\"enable_thinking\": true}}"
reply "apis: an answer has none" '"reasoning_tokens": 0' POST /v1/chat/completions "{$ask, \"max_tokens\": 6}"
reply "apis: reasoning streamed" '"delta": {"reasoning_content": "' POST /v1/chat/completions "{$ask, \"max_tokens\": 6, \"stream\": true, \"chat_template_kwargs\": {\"enable_thinking\": true}}"
reply "apis: probabilities" '"logprobs": {"content": \[{"id": [0-9]*, "token": "[^"]*", "logprob": -[0-9.]*, "bytes": \[[0-9, ]*\], "top_logprobs": \[{.*}\]}, *{' POST /v1/chat/completions "{$ask, \"max_tokens\": 2, \"logprobs\": true, \"top_logprobs\": 1}"
printf 'POST /v1/chat/completions {%s, "max_tokens": 40, "seed": 3, "logprobs": true, "stream": true, "stop": ["ezz", "nzz", "dzz", ",zz", "tzz", "szz", "rzz"]}\n' "$ask" > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/replies"
check "apis: each event is one line" sh -c "tr '~' '\n' < '$WORK/replies' | sed 's/^200 //' | grep -v '^data: ' | grep -q . && exit 1 || exit 0"
reply "apis: a banned token" '"text": "( [^n]|[^ ])' POST /v1/completions "{\"prompt\": \"It was\", \"temperature\": 0, \"max_tokens\": 2, \"logit_bias\": {\"$("$WORK/talk" --tokenize "It was not" | sed 's/.*,//')\": -100}}"
# Each field of a wrong type is named.
while IFS='|' read -r param fields; do
    reply "apis: $fields" "^400 .*\"param\": \"$param\"" POST /v1/chat/completions "{\"max_tokens\": 1, $fields}"
done << 'END'
stream|"messages": [{"role": "user", "content": "x"}], "stream": "yes"
stream_options|"messages": [{"role": "user", "content": "x"}], "stream_options": 3
stream_options.include_usage|"messages": [{"role": "user", "content": "x"}], "stream_options": {"include_usage": "x"}
tools|"messages": [{"role": "user", "content": "x"}], "tools": [{"type": "function", "function": {"name": "a", "parameters": 3}}]
tool_choice|"messages": [{"role": "user", "content": "x"}], "tool_choice": 5
parallel_tool_calls|"messages": [{"role": "user", "content": "x"}], "parallel_tool_calls": "x"
top_logprobs|"messages": [{"role": "user", "content": "x"}], "top_logprobs": 2
logit_bias|"messages": [{"role": "user", "content": "x"}], "logit_bias": []
chat_template_kwargs|"messages": [{"role": "user", "content": "x"}], "chat_template_kwargs": []
functions|"messages": [{"role": "user", "content": "x"}], "functions": []
messages.0..tool_calls|"messages": [{"role": "assistant", "content": null, "tool_calls": 3}]
messages.0..tool_calls|"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": 3, "arguments": "{}"}}]}]
messages.0..tool_call_id|"messages": [{"role": "tool", "tool_call_id": 5, "content": "x"}]
messages.0..name|"messages": [{"role": "user", "name": 3, "content": "x"}]
messages.0..reasoning_content|"messages": [{"role": "assistant", "reasoning_content": 3, "content": "x"}]
END
reply "apis: ids" '^200 {"tokens": \[[0-9]+, [0-9]+\]}$' POST /tokenize '{"content": "It was"}'
reply "apis: pieces" '^200 {"tokens": \[{"id": [0-9]+, "piece": "It"}, {"id": [0-9]+, "piece": " was"}\]}$' POST /tokenize '{"content": "It was", "with_pieces": true}'
reply "apis: a text of ids" '^200 {"content": "It was"}$' POST /detokenize "{\"tokens\": [$("$WORK/talk" --tokenize "It was" | sed 's/^0,//')]}"
reply "apis: a prompt" '^200 {"prompt": "<s>user It was</s><s>assistant "}$' POST /apply-template "{$ask}"
reply "apis: properties" '^200 {"model_alias": "tiny", "identity": "[0-9a-f]{16}", .*"total_slots": 4' GET /props
reply "apis: slots" '^200 \[{"id": 0, "n_ctx": 512, "n_tokens": [0-9]+, "is_processing": false' GET /slots
reply "apis: no metrics" '^501 {"error": {.*without --metrics' GET /metrics
stopped
check "apis: it ends" test $? = 0
serving "$WORK/talk" -t 1 --metrics
reply "apis: metrics" '^200 # HELP burin_requests_total .*burin_slots 4~' GET /metrics
reply "apis: no slots" '^501 ' GET /slots
stopped
