#!/bin/sh
# 1,000 runs of four processes on one session file lose nothing: each writes one token after the tokens of all runs before it, with the
# bits of one run that writes them all.
. tests/lib.sh
need "sessions: austen as a program" examples/austen/model.safetensors
unsanitized "sessions: programs"
mkdir "$WORK/model"
for file in generation_config.json model.safetensors tokenizer.json tokenizer_config.json; do ln -s "$PWD/examples/austen/$file" "$WORK/model/$file"; done
sed 's/\("max_position_embeddings": *\)512/\12048/' examples/austen/config.json > "$WORK/model/config.json"
check "sessions: builds" "$BURIN" build "$WORK/model" --ctx 2048 -o "$WORK/talk"
[ -x "$WORK/talk" ] || exit 1
runs=${RUNS:-250} s=$WORK/s
"$WORK/talk" "It was" -n 1 --temp 0 --ignore-eos --session "$s" > "$WORK/got" 2>&1
for process in 1 2 3 4; do
    (i=0 && while [ $i -lt "$runs" ]; do
        "$WORK/talk" -n 1 --temp 0 --ignore-eos -t 1 --session "$s" < /dev/null > "$WORK/out.$process" 2> "$WORK/err.$process" || cat "$WORK/err.$process" >> "$WORK/failed"
        i=$((i + 1))
    done) &
done
wait
all=$((4 * runs))
check "sessions: none of $all runs failed" test ! -e "$WORK/failed"
[ ! -e "$WORK/failed" ] || head -n 5 "$WORK/failed"
"$WORK/talk" -n 1 --temp 0 --ignore-eos --session "$s" --logits "$WORK/last.npy" -v < /dev/null > "$WORK/got" 2> "$WORK/err"
check "sessions: $all runs of four processes lose nothing: $(head -n 1 "$WORK/err")" grep -q " of $((3 + 1 + all)) tokens" "$WORK/err"
"$WORK/talk" "It was" -n $((all + 2)) --temp 0 --ignore-eos --logits "$WORK/all.npy" > "$WORK/whole" 2> "$WORK/err"
check "sessions: the last logits are those of one run" test "$(values "$WORK/last.npy" | tail -c 8192 | cksum)" = "$(values "$WORK/all.npy" | tail -c 8192 | cksum)"
check "sessions: nothing is left beside the file" test "$(cd "$WORK" && echo s.*)" = "s.*"
