#!/bin/sh
# Conversations: --messages, --chat through a pipe and on a pseudo-terminal, tokens that the slot
# keeps, templates of all locations.
. tests/lib.sh
need "chat: austen as a program" examples/austen/model.safetensors
unsanitized "chat: conversations"
mkdir "$WORK/model"
for file in config.json generation_config.json model.safetensors tokenizer.json tokenizer_config.json; do
    ln -s "$PWD/examples/austen/$file" "$WORK/model/$file"
done
cat > "$WORK/model/chat_template.jinja" << 'END'
{%- if tools %}ipython {"name": {{ tools[0].name }}, "parameters": {}}{% endif %}
{%- for m in messages %}
    {%- if m.role == 'stop' %}{{ raise_exception('Nobody stops "us".') }}{% endif %}
    {{- bos_token + ('and' if m.role == 'assistant' else '') + m.content + eos_token }}
{%- endfor %}
{%- if add_generation_prompt %}{{ bos_token }}and{% endif %}
END
check "chat: builds" "$BURIN" build "$WORK/model" --mcpu=native --line-editor=none -o "$WORK/talk"
talk=$WORK/talk
[ -x "$talk" ] || exit 1

# asks NAME MESSAGES: the answer as JSON in $WORK/answer
asks() {
    printf '%s' "$1" > "$WORK/m.json"
    shift
    "$talk" --messages "$WORK/m.json" --temp 0 -n 8 "$@" > "$WORK/answer" 2> "$WORK/err"
}
asks '[{"role": "user", "content": "It was"}]'
text=$(cat "$WORK/answer")
check "chat: an answer: $text" test -n "$text" -a "$text" = "$("$talk" --raw "It was</s><s>and" --temp 0 -n 8)"
check "chat: from standard input" test "$("$talk" --messages - --temp 0 -n 8 < "$WORK/m.json")" = "$text"
asks '[{"role": "user", "content": "It was"}]' --json
check "chat: as JSON" grep -q '^{"role": "assistant", "content": ".*", "finish_reason": "length", "prompt_tokens": [0-9]*, "completion_tokens": 8}$' "$WORK/answer"
tokens() { sed 's/.*"prompt_tokens": \([0-9]*\).*/\1/' "$WORK/answer"; }
asks '[{"role": "user", "content": "x"}]' --json
plain=$(tokens)
asks '[{"role": "user", "content": "x</s><s>"}]' --json
check "chat: special tokens of a user are text: $plain, $(tokens) tokens" test "$(tokens)" -ge $((plain + 6))
asks '[{"role": "stop", "content": "x"}]'
check "chat: the template's own words" test $? = 1 -a "$(cat "$WORK/err")" = 'talk: Nobody stops "us".'
asks '[{"role": '
check "chat: messages that are no JSON" grep -q 'm.json: line 1, column 11: expected a value, found its end' "$WORK/err"
asks "[{\"role\": \"user\", \"content\": \"$(head -c 3000 examples/austen/held_out.txt | tr '\n"' '  ')\"}]"
check "chat: too many messages" grep -q 'the messages have [0-9]* tokens, the context holds 512' "$WORK/err"
{ printf '[{"role": "user", "content": "' && head -c 17000000 /dev/zero | tr '\0' x && printf '"}]'; } > "$WORK/many"
says "chat: messages without end" 1 "many: messages of more than 16 MB fit no context" "$talk" --messages "$WORK/many"
says "chat: on standard input, without end" 1 "standard input: messages of more than 16 MB fit no context" sh -c "exec $talk --messages - < $WORK/many"
rm "$WORK/many"

# Tools: a call is JSON of the tool's schema
tool='{"name": "light", "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}}'
asks "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"tools\": [$tool]}" --tool-choice required -n 400
check "chat: a call of a tool: $(tr -d ' \n' < "$WORK/answer")" sh -c "tr -d ' \t\n' < '$WORK/answer' | grep -qxE '\{\"name\":\"light\",\"parameters\":\{\"on\":(true|false)\}\}'"
asks "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"tools\": [$tool]}" --tool-choice required -n 400 --json
sed 's/\\[nrt]//g; s/ //g; s/"prompt_tokens".*//; s/true/false/' "$WORK/answer" > "$WORK/got"
printf '%s' '{"role":"assistant","tool_calls":[{"id":"call_0","type":"function","function":{"name":"light","arguments":"{\"on\":false}"}}],"content":null,"finish_reason":"tool_calls",' > "$WORK/expected"
echo >> "$WORK/expected"
same "chat: a call as OpenAI's API has it" "$WORK/expected" "$WORK/got"
asks "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"tools\": [$tool]}"
cp "$WORK/answer" "$WORK/free"
asks "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"tools\": [$tool]}" --tool-choice none
same "chat: an answer without a call is the same" "$WORK/answer" "$WORK/free"
asks '[{"role": "user", "content": "x"}]' --tool-choice required
check "chat: no tool to call" grep -q -- "--tool-choice required: the messages have no tools" "$WORK/err"
asks '[{"role": "user", "content": "x"}]' --tool-choice any
check "chat: no such choice" grep -q -- "--tool-choice any: expected auto, none or required" "$WORK/err"
asks '{"messages": [{"role": "user", "content": "x"}], "tools": [{"function": {"name": "f", "parameters": {"type": "array", "unevaluatedItems": false}}}]}'
check "chat: a schema of a tool that is not supported: $(cat "$WORK/err")" \
    grep -q "not held to all of the tools' schemas: #/tools/0/function/parameters: the keyword unevaluatedItems is not supported" "$WORK/err"
asks '{"messages": [], "tools": [{"name": "a\"b"}]}'
check "chat: a tool's name" grep -q '#/tools/0: a tool must have a name, without quotes and backslashes' "$WORK/err"
says "chat: --json and a prompt" 2 "--chat --json reads its messages from standard input" "$talk" --chat --json "It was"

# A prompt is a question; a pipe or a file follows it. --raw continues it as a text.
check "chat: a prompt is a question" test "$("$talk" "It was" --temp 0 -n 8 < /dev/null)" = "$text"
check "chat: from a pipe" test "$(echo "It was" | "$talk" --temp 0 -n 8)" = "$text"
check "chat: in JSON" test "$("$talk" "It was" --temp 0 -n 8 --json < /dev/null)" = "$(asks '[{"role": "user", "content": "It was"}]' --json; cat "$WORK/answer")"
asks '[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "It was\n\na day\nof rain"}]'
check "chat: a pipe follows a question" test "$(printf 'a day\nof rain\n' | "$talk" --system "Be brief." "It was" --temp 0 -n 8)" = "$(cat "$WORK/answer")"
printf 'a day\nof rain\n' > "$WORK/rain"
check "chat: a file follows a question" test "$("$talk" --system "Be brief." "It was" -f "$WORK/rain" --temp 0 -n 8)" = "$(cat "$WORK/answer")"
check "chat: standard input as a file follows it" test "$("$talk" -sys "Be brief." "It was" --temp 0 -n 8 < "$WORK/rain")" = "$(cat "$WORK/answer")"
{ read -r _; "$talk" "It was" --temp 0 -n 8; } < "$WORK/rain" > "$WORK/said"
check "chat: the rest of a loop's file does not" test "$(cat "$WORK/said")" = "$text"
check "chat: a raw prompt and a pipe" test "$(echo "a day" | "$talk" --raw "It was" --temp 0 -n 8)" = "$(printf 'It was\n\na day\n' | "$talk" --raw --temp 0 -n 8)"
says "chat: --system without a chat" 2 "--system is for a question or a chat" "$talk" --raw "It was" --system "Be brief."
says "chat: --system and ids" 2 "--system is for a question or a chat" "$talk" --tokens 0,1 --system "Be brief."
says "chat: --raw and --chat" 2 "--raw continues a text" "$talk" --raw --chat
printf 'She had\n' | "$talk" --chat "It was" --temp 0 -n 8 > "$WORK/said" 2>&1
printf 'It was\nShe had\n' | "$talk" --chat --temp 0 -n 8 > "$WORK/lines" 2>&1
same "chat: a prompt is the first message" "$WORK/lines" "$WORK/said"

# --chat --json: a line in, a line out.
cat > "$WORK/in.json" << 'END'
"It was"
{"role": "user", "content": "She had"}
oops
{"a": 1}
 [{"role": "user", "content": "It was"}]
{"messages": [{"role": "user", "content": "It was"}]}
END
"$talk" --chat --json --temp 0 -n 8 < "$WORK/in.json" > "$WORK/said" 2> "$WORK/err"
sed -n 's/^{"role": "assistant", "content": "\(.*\)", "finish.*/\1/p' "$WORK/said" > "$WORK/got"
{ cat "$WORK/lines"; echo "$text"; echo "$text"; } > "$WORK/whole"
same "chat: lines of JSON" "$WORK/whole" "$WORK/got"
check "chat: two of them are no messages" test "$(grep -Ec '^{"error": "(the line: |a line is JSON: )' "$WORK/said") $(wc -l < "$WORK/said") $(wc -c < "$WORK/err")" = "2 6 0"
answers_at_once "chat: a line of JSON is answered at once" '"It was"' "$(head -n 1 "$WORK/said")" "$talk" --chat --json --temp 0 -n 8

"$talk" --raw "It was" --temp 0 --logit-bias 1+1000 > "$WORK/said" 2> "$WORK/err"
check "chat: a text that ends at once: hint" grep -q "the text ends at once: this model is made to be asked" "$WORK/err"
"$talk" --raw "It was" --temp 0 -n 2 > "$WORK/said" 2> "$WORK/err"
check "chat: a text that does not: none" test ! -s "$WORK/err"

# Through a pipe: a line is a message. Tokens read before are kept, and the answers are those of
# whole conversations.
printf 'It was\nShe had\n' | "$talk" --chat --temp 0 -n 8 -v > "$WORK/said" 2> "$WORK/err"
check "chat: the first answer" test "$(head -1 "$WORK/said")" = "$text"
printf '[{"role": "user", "content": "It was"}, {"role": "assistant", "content": "%s"}, {"role": "user", "content": "She had"}]' \
    "$(head -1 "$WORK/said")" > "$WORK/whole.json"
check "chat: the second, as of the whole conversation" test "$(sed -n 2p "$WORK/said")" = "$("$talk" --messages "$WORK/whole.json" --temp 0 -n 8)"
first=$(sed -n 's/.*read \([0-9]*\) new tokens, kept 0/\1/p' "$WORK/err")
check "chat: what was read is kept" grep -q "new tokens, kept $((first + 7))$" "$WORK/err"
printf 'It was\n/undo\n/retry\nIt was\n/retry\n/save %s\n/reset\n/retry\n/load %s\n/retry\n/odd\n' "$WORK/saved" "$WORK/saved" |
    "$talk" --chat --system Be. --temp 0 -n 8 > "$WORK/said" 2> "$WORK/err"
check "chat: /retry gives the same answer greedily" test "$(sort -u "$WORK/said" | wc -l)" = 1 -a "$(wc -l < "$WORK/said")" = 4
check "chat: nothing is left after /undo and /reset" test "$(grep -c "there is nothing to answer again" "$WORK/err")" = 2
check "chat: an unknown command" grep -q "there is no command /odd" "$WORK/err"
check "chat: what /save wrote can be read" grep -q '^\[{"role": "system", "content": "Be."},$' "$WORK/saved"
printf '/load /nowhere\n/save /nowhere/x\n/load %s\n/help\n/undo\n' "$WORK/model/chat_template.jinja" | "$talk" --chat > "$WORK/said" 2> "$WORK/err"
check "chat: a file that is not there" grep -q "/load /nowhere: No such file" "$WORK/err"
check "chat: a folder that is not there" grep -q "/save /nowhere/x: No such file" "$WORK/err"
check "chat: a file that is no conversation" grep -q "line 1, column 2: expected a key" "$WORK/err"
check "chat: /help" grep -q "^/system *TEXT" "$WORK/said"
check "chat: nothing to undo" grep -q "there is nothing to undo" "$WORK/err"
mkfifo "$WORK/fifo" && echo mine > "$WORK/mine" && ln -s "$WORK/mine" "$WORK/link" && head -c 17000000 /dev/zero > "$WORK/large"
printf '/save %s\n/save %s\n/load %s\n/load %s\n/load %s\n/load\n/load /dev/zero\n/help\n' "$WORK/link" "$WORK/fifo" "$WORK/fifo" "$WORK" "$WORK/large" |
    timeout 20 "$talk" --chat > "$WORK/said" 2> "$WORK/err"
check "chat: /save follows no link" sh -c "grep -q '/save .*/link: it is a link' '$WORK/err' && [ \"\$(cat '$WORK/mine')\" = mine ]"
check "chat: /save and /load take files alone" test "$(grep -c "/save .*/fifo: it is no file\|/load .*: it is no file" "$WORK/err")" = 4
check "chat: /load of a file that is too large, or none" test "$(grep -c "/load .*large: File too large\|/load needs the name of a file" "$WORK/err")" = 2
check "chat: and goes on" grep -q "^/system *TEXT" "$WORK/said"
(ulimit -f 1 && printf 'It was\n%s\n/save %s\n/help\n' "$(head -c 1500 examples/austen/held_out.txt | tr '\n' ' ')" "$WORK/cut" | "$talk" --chat -n 2) > "$WORK/said" 2> "$WORK/err"
check "chat: /save without room leaves nothing: $(tail -n 1 "$WORK/err")" sh -c "grep -q '/save .*cut: File too large' '$WORK/err' && [ ! -e '$WORK/cut' ] && grep -q '^/system' '$WORK/said'"
says "chat: a line without end" 1 "a line has more than 16 MB" sh -c "'$talk' --chat < '$WORK/large'"
printf 'It was\n/undo\n/save\n/speed\nShe\n/speed\n"""It was\na day"""\n/save %s\n/quit\nmore\n' "$WORK/saved" | "$talk" --chat --temp 0 -n 2 > "$WORK/said" 2> "$WORK/err"
check "chat: /undo shows a question, /save needs a name, /speed shows one" test "$(grep -c 'forgotten: It was, and its answer$\|/save needs the name of a file: /save chat.json\|new tokens, kept' "$WORK/err")" = 3
check "chat: a block is one message, /quit leaves" sh -c "grep -q '\"It was.u000aa day\"' '$WORK/saved' && [ \$(wc -l < '$WORK/said') = 3 ]"
printf 'one \\\ntwo\n/save %s\n' "$WORK/saved" | "$talk" --chat -n 2 > /dev/null 2>&1
check "chat: a line that goes on" grep -q '"one \\u000atwo"' "$WORK/saved"
for i in 1 2 3 4 5 6 7 8; do echo "It was a truth universally acknowledged, that a single man in possession of a good fortune"; done |
    "$talk" --chat --system "Be brief." --ctx 128 -n 16 -v --temp 0 > "$WORK/said" 2> "$WORK/err"
check "chat: a full context loses its oldest turns, and says so once" test "$(wc -l < "$WORK/said")" = 8 -a \
    "$(grep -c "the oldest turns are left out" "$WORK/err")" = 1
check "chat: and keeps the system prompt" sh -c "! tail -n +2 '$WORK/err' | grep -q 'kept 0'"

# On a terminal.
cat > "$WORK/script" << 'END'
expect /help lists commands
expect > 
send It was\n
expect > 
send And then\n
expect And then
more 3
send \c
expect > 
send /help\n
expect Ctrl-D leaves
expect > 
send \d
END
"$BUILD/tools/terminal" "$WORK/script" "$talk" --temp 0 -n 100000 --ctx 512 > "$WORK/said" 2>&1
check "chat: on a terminal without a prompt; Ctrl-C, Ctrl-D" test $? = 0
grep -q "not seen" "$WORK/said" && sed 's/^/# /' "$WORK/said"

# Ctrl-C drops a message that is not complete.
sed "s,SAVED,$WORK/said.json," > "$WORK/script" << 'END'
expect > 
send half a message \\\n
expect . 
send \c
expect > 
send It was\n
expect > 
send /save SAVED\n
expect > 
send \d
END
"$BUILD/tools/terminal" "$WORK/script" "$talk" --chat -n 2 > "$WORK/said" 2>&1
check "chat: Ctrl-C drops the lines of a message" grep -q '^\[{"role": "user", "content": "It was"},$' "$WORK/said.json"
check "chat: the last line is empty" test -z "$(tail -n 1 "$WORK/said" | tr -d '> \r')"

# A template outside of the subset is named, and the program is built without chat.
printf '%s' "{{ 1 }}
{% include 'x' %}" > "$WORK/model/chat_template.jinja"
"$BURIN" build "$WORK/model" --mcpu=native -o "$WORK/mute" > "$WORK/said" 2>&1
check "chat: a template that is not understood" grep -q 'chat_template.jinja:2:4: warning: the tag "include" is not of the subset: the program has no --chat' "$WORK/said"
says "chat: a program without a template" 1 "this model has no chat template" "$WORK/mute" --chat
