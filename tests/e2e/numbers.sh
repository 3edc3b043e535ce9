#!/bin/sh
# examples/numbers: every pair of expected.json, as one program and as an aarch64 program; sources from an argument, a file, ids.
. tests/lib.sh
model=examples/numbers
"$BUILD/tools/expected" $model/expected.json all de > "$WORK/de"
"$BUILD/tools/expected" $model/expected.json all en > "$WORK/en"
check "numbers: 210 pairs" test "$(wc -l < "$WORK/de")" = 210
check "numbers: builds" $BURIN build $model -o "$WORK/numbers"
"$WORK/numbers" -t 1 -f "$WORK/de" > "$WORK/got" 2>&1
same "numbers: all of them from a file" "$WORK/en" "$WORK/got"
head -n 15 "$WORK/en" > "$WORK/expected"
head -n 15 "$WORK/de" | "$WORK/numbers" -t 3 --chunk 1 > "$WORK/got" 2>&1
same "numbers: from standard input, on three threads" "$WORK/expected" "$WORK/got"
answers_at_once "numbers: an answer comes before the next source" einhundertacht "one hundred and eight" "$WORK/numbers"
check "numbers: from an argument" test "$("$WORK/numbers" einhundertacht)" = "one hundred and eight"
check "numbers: at most -n tokens" test "$("$WORK/numbers" einhundertacht -n 7)" = "one hun"
check "numbers: a text that goes on" test "$("$WORK/numbers" einhundertacht --decoder-tokens 0,17,16,10)" = " hundred and eight"
check "numbers: the interpreter" test "$($BURIN run $model --interpret einhundertacht)" = "one hundred and eight"

check "numbers: builds for ARM" $BURIN build $model --target=aarch64-linux-gnu --mcpu=armv8-a,armv8.2-a+dotprod -o "$WORK/arm"
for cpu in cortex-a72 cortex-a76; do
    head -n 15 "$WORK/de" | qemu-aarch64-static -cpu $cpu "$WORK/arm" -t 1 > "$WORK/got" 2>&1
    same "numbers: fifteen on $cpu" "$WORK/expected" "$WORK/got"
done

says "numbers: no source" 1 "nothing is given to encode" "$WORK/numbers"
says "numbers: a source too long" 1 "the source has 201 tokens, the encoder takes 96" "$WORK/numbers" "$(seq -s " " 100 | head -c 200)"
says "numbers: an id beyond the vocabulary" 1 "token 30 is outside the vocabulary, 0 to 29" "$WORK/numbers" --tokens 5,30
says "numbers: a decoder's id beyond the vocabulary" 1 "--decoder-tokens: token 30 is outside" "$WORK/numbers" acht --decoder-tokens 30
says "numbers: no options of other programs" 2 "unknown option --perplexity" "$WORK/numbers" --perplexity x
says "numbers: --info" 0 "encoder 144.0 KB for 96 rows (lower bound 144.0 KB), scratch 48.0 KB" "$WORK/numbers" --info
says "numbers: --help" 0 "--decoder-tokens" "$WORK/numbers" --help-all
says "numbers: --help says what a source is" 0 "reads a source (an argument" "$WORK/numbers" --help
says "numbers: greedy unless told" 0 "--top-p has no effect: the likeliest token" "$WORK/numbers" acht --top-p 0.5
says "numbers: --bench" 0 "encode" "$WORK/numbers" --bench
# The C interface: two sources at once, each with the bits that it has alone.
long=24,20,21,10,18,9,22,11,17,2 short=6,7,2
mcpu=--mcpu=x86-64-v3
[ "$(uname -m)" = x86_64 ] || mcpu=
# shellcheck disable=SC2086 # an option or none
check "numbers: a library" $BURIN build $model $mcpu -o "$WORK/numbers.a"
check "numbers: a host of it" gcc -std=gnu11 -O1 -Wall -Wextra -Werror -I. -I"$WORK" tests/e2e/source_host.c "$WORK/numbers.a" -lm -lpthread -o "$WORK/host"
for source in $long $short; do "$WORK/numbers" --tokens $source; done > "$WORK/expected"
"$WORK/host" $long $short > "$WORK/got" 2>&1
same "numbers: two slots in a batch" "$WORK/expected" "$WORK/got"

check "numbers: its example" make -s -C $model BURIN="$PWD/$BURIN" OUT="$WORK" run
