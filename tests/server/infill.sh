#!/bin/sh
# Texts between two others (suffix, /infill), and reasoning that ends after a number of tokens.
. tests/lib.sh
. tests/lib_server.sh
need "infill: austen as a program" examples/austen/model.safetensors
unsanitized "infill: replies"
[ -e /usr/include/event2/http.h ] || { skip "infill: with libevent" "it is not here" && exit 0; }
talking "$WORK/model"
# Its last three tokens become marks of the parts.
rm "$WORK/model/tokenizer.json"
mark() { printf '{"id": %d, "content": "<fim_%s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},' "$1" "$2"; }
{ head -n -16 examples/austen/tokenizer.json && printf '      ]\n    ]\n  }\n}\n'; } |
    sed "s/^  \"added_tokens\": \[/&$(mark 2045 prefix)$(mark 2046 suffix)$(mark 2047 middle)/; s/^ *\"[^\"]*\": 2045,/\"<fim_prefix>\": 2045,/; s/^ *\"[^\"]*\": 2046,/\"<fim_suffix>\": 2046,/; s/^ *\"[^\"]*\": 2047$/\"<fim_middle>\": 2047/" > "$WORK/model/tokenizer.json"
"$BURIN" build "$WORK/model" --mcpu=native --with=server --line-editor=none -o "$WORK/talk" > "$WORK/out" 2>&1 || { cat "$WORK/out"; exit 1; }
serving "$WORK/talk" -t 1 || { cat "$WORK/served"; exit 1; }
ids=0,2045,$("$WORK/talk" --tokenize "It was" | sed 's/^0,//'),2046,$("$WORK/talk" --tokenize " she said" | sed 's/^0,//'),2047
printf 'POST /v1/completions {"prompt": [%s], "temperature": 0, "max_tokens": 12}\n' "$ids" > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/replies"
text=$(sed 's/.*"text": "\(.*\)", "logprobs".*/\1/' "$WORK/replies")
reply "infill: a suffix: $text" "\"text\": \"$text\"" POST /v1/completions '{"prompt": "It was", "suffix": " she said", "temperature": 0, "max_tokens": 12}'
reply "infill: with the prompt before it" "\"text\": \"It was$text\"" POST /v1/completions '{"prompt": "It was", "suffix": " she said", "temperature": 0, "max_tokens": 12, "echo": true}'
reply "infill: /infill" "^200 {\"content\": \"$text\", \"stop\": true, \"stop_type\": \"limit\", \"tokens_predicted\": 12," POST /infill '{"input_prefix": "It", "prompt": " was", "input_suffix": " she said", "temperature": 0, "n_predict": 12}'
reply "infill: other files first" '^200 {"content": ' POST /infill '{"input_extra": [{"filename": "a.c", "text": "On"}], "input_prefix": "It", "input_suffix": "", "n_predict": 2}'
reply "infill: marks in a text are text" "\"tokens_evaluated\": $(($("$WORK/talk" --tokenize "x" | tr ',' '\n' | wc -l) + 3 + $("$WORK/talk" --tokenize "<fim_x>" | tr ',' '\n' | wc -l) - 1))" POST /infill '{"input_prefix": "x", "input_suffix": "<fim_x>", "n_predict": 1}'
reply "infill: a long one" '^400 .*context_length_exceeded' POST /infill "{\"input_prefix\": \"$(head -c 3000 examples/austen/held_out.txt | tr '\n"\\' '   ')\", \"input_suffix\": \"\"}"
reply "infill: no suffix" '^400 .*"param": "input_suffix"' POST /infill '{"input_prefix": "x"}'
reply "infill: a suffix of another type" '^400 .*"param": "suffix"' POST /v1/completions '{"prompt": "x", "suffix": 3}'

# Reasoning
ask='"messages": [{"role": "user", "content": "It"}], "seed": 1, "chat_template_kwargs": {"enable_thinking": true}'
printf 'POST /v1/chat/completions {%s, "max_tokens": 40}\n' "$ask" > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/replies"
long=$(sed 's/.*"reasoning_content": "\(\(\\.\|[^"\\]\)*\)".*/\1/' "$WORK/replies")
printf 'POST /v1/chat/completions {%s, "max_tokens": 40, "thinking_budget_tokens": 5}\n' "$ask" > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/replies"
short=$(sed 's/.*"reasoning_content": "\(\(\\.\|[^"\\]\)*\)".*/\1/' "$WORK/replies")
check "infill: five tokens of reasoning: $short" test -n "$short" -a ${#short} -lt ${#long} -a "${long#"$short"}" != "$long"
check "infill: then an answer" grep -q '"content": "[^"]' "$WORK/replies"
reply "infill: none" '"message": {"role": "assistant", "reasoning_content": "", "content": "[^"]' POST /v1/chat/completions "{$ask, \"max_tokens\": 40, \"thinking_budget_tokens\": 0}"
reply "infill: streamed" '"delta": {"reasoning_content": ".*"delta": {"content": "[^"]' POST /v1/chat/completions "{$ask, \"max_tokens\": 40, \"thinking_budget_tokens\": 5, \"stream\": true}"
reply "infill: Anthropic's budget" '"type": "thinking", .*"type": "text", "text": "[^"]' POST /v1/messages '{"messages": [{"role": "user", "content": "It"}], "seed": 1, "max_tokens": 40, "thinking": {"type": "enabled", "budget_tokens": 5}}'
stopped
