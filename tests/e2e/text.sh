#!/bin/sh
# A program with a tokenizer: where its prompt comes from, whole characters, perplexity, a full context.
. tests/lib.sh
need "austen as a program" examples/austen/model.safetensors
check "builds austen" "$BURIN" build examples/austen -o "$WORK/austen"
[ -x "$WORK/austen" ] || exit 1
austen=$WORK/austen

# prints NAME TEXT COMMAND...
prints() {
    _name=$1 _text=$2
    shift 2
    _got=$("$@" 2> "$WORK/err")
    if [ "$_got" = "$_text" ]; then ok "$_name"; else
        not_ok "$_name"
        echo "# got $_got, expected $_text"
        sed 's/^/# /' "$WORK/err"
    fi
}

text=" not to be supposed that it was not so,"
printf 'It was' > "$WORK/prompt"
printf 'It was\n' > "$WORK/line"
prints "a prompt as argument" "$text" "$austen" "It was" -n 10 --temp 0
prints "in a file" "$text" "$austen" -f "$WORK/prompt" -n 10 --temp 0
ended=$("$austen" "It was
" -n 10 --temp 0)
check "another text behind a newline" test "$ended" != "$text"
prints "a file's last newline is part of the prompt" "$ended" "$austen" -f "$WORK/line" -n 10 --temp 0
prints "that of standard input as well" "$ended" sh -c "'$austen' -n 10 --temp 0 < '$WORK/line'"
prints "through a pipe" "$text" sh -c "printf 'It was' | '$austen' -n 10 --temp 0"
prints "redirected" "$text" sh -c "'$austen' -n 10 --temp 0 < '$WORK/prompt'"
prints "through a pipe that is named" "$text" sh -c "printf 'It was' | '$austen' -f - -n 10 --temp 0"
prints "as ids" "315,274,287,1879,334,321,306,315,359,13" "$austen" --tokens 0,1114,306 -n 10 --temp 0
prints "no prompt is the beginning of a text" "$("$austen" -f /dev/null -n 9 --temp 0)" "$austen" -n 9 --temp 0
prints "an empty prompt as well" "$("$austen" -n 9 --temp 0 < /dev/null)" "$austen" "" -n 9 --temp 0
prints "nothing through a pipe as well" "$("$austen" -n 9 --temp 0 < /dev/null)" sh -c ": | '$austen' -n 9 --temp 0"
prints "-n 0 prints nothing" "" "$austen" "It was" -n 0
prints "a seed is a text" "$("$austen" "It was" -n 40 --seed 11 -t 1 --chunk 1)" "$austen" "It was" -n 40 --seed 11 -t 3

"$austen" "$(printf 'It \377\376\300 was')" -n 5 --temp 0 > "$WORK/out" 2>&1
check "a prompt that is no UTF-8" test $? = 0
printf 'It\000was' | "$austen" -n 5 --temp 0 > "$WORK/out" 2>&1
check "a prompt with a zero byte" test $? = 0
for seed in 1 2 3 4 5 6; do "$austen" "é" -n 60 --temp 30 --top-k 0 --top-p 1 --min-p 0 --seed $seed; done > "$WORK/wild"
check "unlikely texts are still UTF-8" iconv -f UTF-8 -t UTF-8 -o /dev/null "$WORK/wild"

prints "--stop" " not to be" "$austen" "It was" -n 10 --temp 0 --stop " supp"
prints "--stop across tokens" " not to be su" "$austen" "It was" -n 10 --temp 0 --stop "pposed th"
prints "the first of several" " not to" "$austen" "It was" -n 10 --temp 0 --stop "sed" --stop " be supposed" --stop xyz
prints "what only begins like it is printed" "$text" "$austen" "It was" -n 10 --temp 0 --stop "so, b" --stop "that it is"
says "an empty --stop" 2 "--stop takes a text that is not empty" "$austen" --stop ""
head -c 3000 examples/austen/held_out.txt > "$WORK/long"
"$austen" -f "$WORK/long" -n 3 > "$WORK/out" 2> "$WORK/err"
check "a prompt that is too long: status 1" test $? = 1
check "and both numbers" grep -q "the prompt has 8[0-9][0-9] tokens, the context holds 512" "$WORK/err"

for words in "it is a truth" xxxxxxxxxxxxx; do
    yes "$words" | tr -d '\n' | head -c 10000000 > "$WORK/huge"
    check "10 MB of a prompt: refused" test "$(timeout 20 "$austen" -f "$WORK/huge" -n 3 2>&1)" = \
        "austen: the prompt has 10000000 bytes, far more than the context of 512 tokens holds"
    check "within a second of work, and without much memory" \
        sh -c "ulimit -t 1; ulimit -v 300000; '$austen' -f '$WORK/huge' -n 3 2>&1 | grep -q 'far more'"
done
sh -c "ulimit -f 1 && '$austen' Once --logits '$WORK/limited.npy' -n 50" > "$WORK/out" 2> "$WORK/err"
check "a file beyond ulimit -f: status 1" test $? = 1
check "and a message" grep -q "limited.npy: File too large" "$WORK/err"

perplexity() { "$austen" --perplexity examples/austen/held_out.txt --window 64 "$@"; }
check "perplexity in chunks and threads: the same" test "$(perplexity --chunk 5 -t 3)" = "$(perplexity -t 1)"
"$austen" --perplexity "$WORK/prompt" 2> "$WORK/err"
check "less than one window" grep -q "has 2 tokens, less than one window of 256" "$WORK/err"
"$austen" --perplexity examples/austen/held_out.txt --window 513 2> "$WORK/err"
check "a window longer than the context" grep -q -- "--window asks for 513 tokens, the context holds 512" "$WORK/err"

# The message on a CPU that is too old, by qemu's oldest.
if [ "$(uname -m)" = x86_64 ] && command -v qemu-x86_64-static > /dev/null; then
    qemu-x86_64-static -cpu qemu64 "$austen" -n 3 > "$WORK/out" 2> "$WORK/err"
    check "a CPU that is too old: status 1" test $? = 1
    check "and a sentence" grep -q "this machine's CPU is too old: the program needs AVX2" "$WORK/err"
    prints "one without AVX-512 takes the code for AVX2" "$text" qemu-x86_64-static -cpu Haswell "$austen" "It was" -n 10 --temp 0
else
    skip "a CPU that is too old" "no qemu-x86_64-static"
fi
