#!/bin/sh
# burin build --prompt and --messages: programs that have read the beginning of their conversations. The same texts as without, on
# every CPU, in chats and servers; models with windows and recurrences; what cannot be kept is refused.
. tests/lib.sh
. tests/lib_server.sh
need "prompt_cache: austen as a program" examples/austen/model.safetensors
unsanitized "prompt_cache: texts"
rules="You are a butler, and you never lie. Begin each answer as the mistress of the house wants it."
printf '%s\n' "$rules" > "$WORK/rules.txt"
talking "$WORK/model"
build() { "$BURIN" build "$@" > "$WORK/out" 2>&1 || sed 's/^/# /' "$WORK/out"; }
build "$WORK/model" --line-editor=none -o "$WORK/plain"
build "$WORK/model" --line-editor=none --prompt "$WORK/rules.txt" -o "$WORK/kept"
tokens=$("$WORK/kept" --info | sed -n 's/^prompt    \([0-9]*\) tokens that are read already, [0-9]* bytes$/\1/p')
check "prompt_cache: --info: $tokens tokens" test "$tokens" -gt 20
"$WORK/plain" --system "$rules" "It was" --seed 1 -n 30 > "$WORK/expected"
for cpu in $("$WORK/kept" --info | sed -n 's/^cpus \([^;]*\);.*/\1/p' | tr -d ,); do
    "$WORK/kept" "It was" --seed 1 -n 30 --cpu "$cpu" -v > "$WORK/got" 2> "$WORK/err"
    same "prompt_cache: a question, on $cpu" "$WORK/expected" "$WORK/got"
done
check "prompt_cache: few tokens are read" grep -q 'read [0-9] tokens' "$WORK/err"
"$WORK/plain" --system "Other rules." "It was" --seed 1 -n 30 > "$WORK/expected"
"$WORK/kept" --system "Other rules." "It was" --seed 1 -n 30 > "$WORK/got"
same "prompt_cache: --system takes its place" "$WORK/expected" "$WORK/got"
printf 'It was\nOn\n' | "$WORK/plain" --chat --system "$rules" --seed 1 -n 20 > "$WORK/expected"
printf 'It was\nOn\n' | "$WORK/kept" --chat --seed 1 -n 20 > "$WORK/got"
same "prompt_cache: a chat" "$WORK/expected" "$WORK/got"
"$WORK/plain" "It was" --raw --seed 1 -n 20 > "$WORK/expected"
"$WORK/kept" "It was" --raw --seed 1 -n 20 > "$WORK/got"
same "prompt_cache: --raw has nothing of it" "$WORK/expected" "$WORK/got"
check "prompt_cache: --verify" "$WORK/kept" --verify
cp "$WORK/kept" "$WORK/damaged"
printf x | dd of="$WORK/damaged" bs=1 seek=$(($(wc -c < "$WORK/kept") - 60000)) conv=notrunc 2> /dev/null
says "prompt_cache: a damaged one" 1 "the prompt in this program" "$WORK/damaged" "It was" -n 1
says "prompt_cache: --verify of that" 1 "the prompt in this program are damaged" "$WORK/damaged" --verify
if command -v qemu-aarch64-static > /dev/null && command -v aarch64-linux-gnu-gcc > /dev/null; then
    "$WORK/plain" --system "$rules" "It was" --seed 1 -n 5 > "$WORK/expected"
    build "$WORK/model" --target=aarch64-linux-gnu --mcpu=armv8-a --prompt "$WORK/rules.txt" -o "$WORK/arm"
    qemu-aarch64-static "$WORK/arm" "It was" --seed 1 -n 5 -v > "$WORK/got" 2> "$WORK/err"
    same "prompt_cache: on ARM" "$WORK/expected" "$WORK/got"
    check "prompt_cache: few tokens are read there" grep -q 'read [0-9] tokens' "$WORK/err"
else
    skip "prompt_cache: on ARM" "no qemu-aarch64-static or aarch64-linux-gnu-gcc"
fi

# Messages with tools, for a server
tool='{"type": "function", "function": {"name": "light", "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}}}}}'
printf '{"messages": [{"role": "system", "content": "%s"}], "tools": [%s]}' "$rules" "$tool" > "$WORK/m.json"
if [ -e /usr/include/event2/http.h ]; then
    build "$WORK/model" --line-editor=none --mcpu=native --with=server -o "$WORK/plain"
    for form in prompt=rules.txt messages=m.json; do
        build "$WORK/model" --line-editor=none --mcpu=native --with=server "--${form%=*}=$WORK/${form#*=}" -o "$WORK/kept"
        more="" own=""
        [ $form = prompt=rules.txt ] || more=", \"tools\": [$tool]"
        ask="{\"role\": \"user\", \"content\": \"It was\"}], \"seed\": 2, \"max_tokens\": 20, \"tool_choice\": \"none\"$more}"
        printf 'POST /v1/chat/completions {"messages": [{"role": "system", "content": "%s"}, %s\n' "$rules" "$ask" > "$WORK/requests"
        printf 'POST /v1/chat/completions {"messages": [%s\n' "$ask" > "$WORK/short"
        [ $form = prompt=rules.txt ] || cp "$WORK/requests" "$WORK/short"
        serving "$WORK/plain" -t 1
        asked 1 "$WORK/requests" "$WORK/expected"
        stopped
        serving "$WORK/kept" -t 1
        asked 1 "$WORK/short" "$WORK/got"
        stopped
        same "prompt_cache: a server, --$form" "$WORK/expected" "$WORK/got"
        check "prompt_cache: --$form is not read" grep -q "read $(sed 's/.*"prompt_tokens": \([0-9]*\).*/\1/' "$WORK/got") tokens ([1-9][0-9]* cached)" "$WORK/served"
    done
else
    skip "prompt_cache: a server" "no libevent"
fi

# Models of windows, recurrences, both; a tokenizer of words
for i in $(seq 0 59); do printf '"w%d": %d, ' "$i" "$i"; done > "$WORK/words"
printf '{"model": {"type": "WordLevel", "vocab": {%s"?": 60}, "unk_token": "?"}, "pre_tokenizer": {"type": "Whitespace"}}' "$(cat "$WORK/words")" > "$WORK/tokenizer.json"
seq -f w%.0f 5 54 | tr '\n' ' ' > "$WORK/words.txt"
for name in gemma3_text mamba2 jamba lfm2 minimax; do
    "$BUILD/tools/family_weights" "$FIXTURES/families/$name" "$WORK/$name"
    build "$WORK/$name" --tokenizer="$WORK/tokenizer.json" --mcpu=native -o "$WORK/plain"
    build "$WORK/$name" --tokenizer="$WORK/tokenizer.json" --mcpu=native --prompt "$WORK/words.txt" -o "$WORK/kept"
    for text in "$(cat "$WORK/words.txt")w3 w9" "$(cut -d ' ' -f 1-20 "$WORK/words.txt") w3"; do
        "$WORK/plain" "$text" --seed 1 -n 8 > "$WORK/expected" 2> "$WORK/out"
        "$WORK/kept" "$text" --seed 1 -n 8 -v > "$WORK/got" 2> "$WORK/err"
        same "prompt_cache: $name: $(sed -n 's/.*\(read [0-9]* tokens\).*/\1/p' "$WORK/err")" "$WORK/expected" "$WORK/got"
    done
    "$WORK/kept" "$(cat "$WORK/words.txt")w3 w9" -n 1 -v > "$WORK/got" 2>&1
    check "prompt_cache: $name: few tokens are read" grep -q 'read [0-9] tokens' "$WORK/got"
done

# Refused by name
"$BUILD/tools/family_weights" "$FIXTURES/families/mt5" "$WORK/mt5"
says "prompt_cache: an encoder's source" 1 "its encoder reads a source anew each time" "$BURIN" build "$WORK/mt5" --tokenizer="$WORK/tokenizer.json" --prompt "$WORK/rules.txt" -o "$WORK/x"
says "prompt_cache: a library" 2 "--prompt makes a program" "$BURIN" build "$WORK/model" --prompt "$WORK/rules.txt" -o "$WORK/x.a"
says "prompt_cache: 32 bits" 2 "are built without" "$BURIN" build "$WORK/model" --target=arm-linux-gnueabihf --prompt "$WORK/rules.txt" -o "$WORK/x"
says "prompt_cache: no file" 1 "there is no" "$BURIN" build "$WORK/model" --prompt "$WORK/nothing" -o "$WORK/x"
says "prompt_cache: both" 2 "--prompt and --messages are two beginnings" "$BURIN" build "$WORK/model" --prompt "$WORK/rules.txt" --messages "$WORK/m.json" -o "$WORK/x"
says "prompt_cache: no template" 1 "--messages: examples/austen has no chat template" "$BURIN" build examples/austen --messages "$WORK/m.json" -o "$WORK/x"
head -c 4000 examples/austen/held_out.txt > "$WORK/long.txt"
says "prompt_cache: too long" 1 " tokens, the context holds " "$BURIN" build "$WORK/model" --mcpu=native --prompt "$WORK/long.txt" -o "$WORK/x"
echo '[3' > "$WORK/bad.json"
says "prompt_cache: no JSON" 1 "bad.json" "$BURIN" build "$WORK/model" --mcpu=native --messages "$WORK/bad.json" -o "$WORK/x"
printf '{{ messages[0].content }} {{ strftime_now("%%d %%b %%Y") }} {{ messages[1].content }}' > "$WORK/model/chat_template.jinja"
says "prompt_cache: the template prints the date: the program keeps the first" 0 " tokens before it" "$BURIN" build "$WORK/model" --mcpu=native --prompt "$WORK/rules.txt" -o "$WORK/x"
printf '{{ strftime_now("%%d") }}{{ messages[0].content }}{{ messages[1].content }}' > "$WORK/model/chat_template.jinja"
says "prompt_cache: a template with a date first" 1 " begins no prompt of this model" "$BURIN" build "$WORK/model" --mcpu=native --prompt "$WORK/rules.txt" -o "$WORK/x"
"$BUILD/tools/family_weights" "$FIXTURES/families/deit" "$WORK/deit"
says "prompt_cache: no decoder" 1 " reads no prompt" "$BURIN" build "$WORK/deit" --mcpu=native --prompt "$WORK/rules.txt" -o "$WORK/x"
