#!/bin/sh
# --lines: the text of each line is the one that it has alone, for any number of slots, threads and chunks, sampled and greedy, raw and
# as answers, as text and as JSON; in the order of the lines; lines that come late are answered at once.
. tests/lib.sh
need "lines: austen as a program" examples/austen/model.safetensors
unsanitized "lines: programs"
mkdir "$WORK/model"
for file in config.json generation_config.json model.safetensors tokenizer.json tokenizer_config.json; do ln -s "$PWD/examples/austen/$file" "$WORK/model/$file"; done
printf '%s' '{%- for m in messages %}{{- bos_token + m.content + eos_token }}{%- endfor %}{{ bos_token }}and' > "$WORK/model/chat_template.jinja"
check "lines: builds" "$BURIN" build "$WORK/model" -o "$WORK/talk"
check "lines: builds without a template" "$BURIN" build examples/austen -o "$WORK/story"
[ -x "$WORK/talk" ] && [ -x "$WORK/story" ] || exit 1
printf '%s\n' "It was" "She had never been so happy" "" "The" "Mr. Darcy" "It is a truth universally acknowledged, that a single man" "x" "Once upon a time there was" "And" > "$WORK/prompts"

# alone PROGRAM FIRST_SEED OPTION...: each line by itself
alone() {
    one=$1 of_line=$2
    shift 2
    while IFS= read -r line; do
        "$WORK/$one" "$line" --seed "$of_line" "$@" < /dev/null 2>> "$WORK/err"
        of_line=$((of_line + 1))
    done < "$WORK/prompts"
}
# lines NAME PROGRAM SEED OPTION...: for several numbers of slots
lines() {
    name=$1 program=$2 seed=$3
    shift 3
    alone "$program" "$seed" "$@" > "$WORK/expected"
    check "lines: $name: there are texts" test "$(wc -c < "$WORK/expected")" -gt 40
    for cell in 1:1:128 2:2:16 4:1:7 16:2:128; do
        rest=${cell#*:}
        "$WORK/$program" --lines -f "$WORK/prompts" --parallel "${cell%%:*}" -t "${rest%:*}" --chunk "${rest#*:}" --seed "$seed" "$@" > "$WORK/got" 2> "$WORK/err"
        same "lines: $name, slots:threads:chunk $cell" "$WORK/expected" "$WORK/got"
    done
}
lines "sampled" story 5 -n 24
lines "as JSON" story 5 -n 9 --json --logprobs 2
lines "raw" talk 5 -n 12 --raw
sed -i '/^$/d' "$WORK/prompts"
lines "answers" talk 5 -n 24 --temp 1
lines "answers as JSON" talk 5 -n 12 --json
lines "answers with a system" talk 5 -n 12 --system "Be brief"
lines "by a grammar" talk 5 -n 12 --grammar 'root ::= [a-z ]+ "."'
lines "until a text" story 5 -n 40 --stop the --stop ,
lines "that are as long as the context" story 5 -n 600 --ctx 60
"$WORK/story" --lines -n 5 --seed 1 < "$WORK/prompts" > "$WORK/got" 2> "$WORK/err"
"$WORK/story" --lines -n 5 --seed 1 -f "$WORK/prompts" > "$WORK/expected" 2> "$WORK/err"
same "lines: standard input" "$WORK/expected" "$WORK/got"
answers_at_once "lines: a line is answered before the next one comes" "It was" "$("$WORK/story" "It was" -n 5 --seed 1)" "$WORK/story" --lines -n 5 --seed 1
check "lines: nothing" test -z "$(: | "$WORK/story" --lines -n 5 2>&1)"
says "lines: with a session" 2 "--lines writes a text for each line" "$WORK/story" --lines --session "$WORK/s"
says "lines: with a prompt" 2 "--lines writes a text for each line" "$WORK/story" --lines "It was"
says "lines: --parallel alone" 2 "--parallel is for --lines and --serve" "$WORK/story" --parallel 3 "It was"
yes "was it" | head -n 600 | tr '\n' ' ' > "$WORK/long"
says "lines: one that is too long" 1 "a line has" "$WORK/story" --lines -f "$WORK/long" -n 1
