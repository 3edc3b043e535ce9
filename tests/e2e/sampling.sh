#!/bin/sh
# The sampler's steps from the command line: their effect on a text, their output, log probabilities
# as JSON.
. tests/lib.sh
need "sampling: austen as a program" examples/austen/model.safetensors
unsanitized "sampling: texts"
check "sampling: builds" "$BURIN" build examples/austen -o "$WORK/austen"
austen=$WORK/austen
[ -x "$austen" ] || exit 1

"$austen" x -n 1 --seed 1 -v --top-k 5 -l 5-1 --dry-multiplier 0.5 --xtc-probability 0.1 --typical 0.9 > "$WORK/out" 2>&1
check "sampling: the chain is printed" grep -qF "sampling: logit-bias, dry 0.5 base 1.75 allowed 2 last -1, top-k 5, typical 0.9, top-p 0.95, \
min-p 0.05, xtc 0.1 threshold 0.1, temperature 0.8 range 0 exponent 1, draw" "$WORK/out"
"$austen" x -n 1 -v --mirostat 2 --presence-penalty 0.5 > "$WORK/out" 2>&1
check "sampling: that of mirostat" grep -qF "sampling: penalties last 64 repeat 1 presence 0.5 frequency 0, temperature 0.8 range 0 exponent 1, \
mirostat 2 entropy 5 rate 0.1, draw" "$WORK/out"

# A bias that forbids; a repetition that DRY ends, unless a sequence breaker interrupts it
ids() { "$austen" --tokens 0,1114,306 --temp 0 -n 3 "$@"; }
check "sampling: --logit-bias forbids" test "$(ids)" = 315,274,287 -a "$(ids -l 315-inf | cut -d, -f1)" != 315
check "sampling: --logit-bias enforces, several" test "$(ids -l 7+1 --logit-bias 5-1,77+1000)" = 77,77,77
again="Mr. Darcy and Mr. Darcy and Mr. Darcy and Mr."
said() { "$austen" "$again" -n 1 --temp 0 "$@"; }
check "sampling: without DRY it goes on" test "$(said)" = " Darcy"
check "sampling: DRY ends a repetition" test "$(said --dry-multiplier 50)" != " Darcy"
check "sampling: not across a breaker" test "$(said --dry-multiplier 50 --dry-sequence-breaker "Mr.")" = " Darcy"
check "sampling: nor one within tokens" test "$(said --dry-multiplier 50 --dry-sequence-breaker xyz --dry-sequence-breaker .)" = " Darcy"
check "sampling: one that is longer ago" test "$(said --dry-multiplier 50 --dry-sequence-breaker "Mr. Darcy")" != " Darcy"
check "sampling: none of them" test "$(said --dry-multiplier 50 --dry-sequence-breaker none)" != " Darcy"
check "sampling: a short repetition is allowed" test "$(said --dry-multiplier 50 --dry-allowed-length 30)" = " Darcy"

"$austen" "It was" --temp 0 -n 1 --json --logprobs 3 --logits "$WORK/l.npy" > "$WORK/json"
values "$WORK/l.npy" | tail -c $((2048 * 4)) | od -An -v -tf4 -w4 | awk '{ x[NR] = $1; if (NR == 1 || $1 > top) top = $1 }
    END { for (i in x) sum += exp(x[i] - top); printf "%.4f\n", -log(sum) }' > "$WORK/expected"
sed 's/.*"logprob": \(-[0-9.]*\), "bytes": \[32, 110, 111, 116\], "top_logprobs".*/\1/' "$WORK/json" | awk '{ printf "%.4f\n", $1 }' > "$WORK/got"
same "sampling: the logarithm of a probability" "$WORK/expected" "$WORK/got"
check "sampling: the likeliest three, and the text" grep -qE '^\{"logprobs": \{"content": \[\{"id": 315, "token": " not", .*"top_logprobs": \[\{"id": 315, .*\]\}, "text": " not", "finish_reason": "length", "prompt_tokens": 3, "completion_tokens": 1\}$' "$WORK/json"
check "sampling: three of them" test "$(grep -o '"logprob"' "$WORK/json" | wc -l)" = 4
"$austen" "It was" --temp 0 -n 9 --json > "$WORK/json"
check "sampling: a text as JSON" test "$(cat "$WORK/json")" = \
    "{\"text\": \"$("$austen" "It was" --temp 0 -n 9)\", \"finish_reason\": \"length\", \"prompt_tokens\": 3, \"completion_tokens\": 9}"

says "sampling: a bias without a sign" 2 "--logit-bias 5=1: expected ids with what is added" "$austen" x -l 5=1
says "sampling: a bias without a number" 2 "--logit-bias 5+: expected ids" "$austen" x -l 5+
says "sampling: a bias that is none" 2 "--logit-bias 5+nan: expected ids" "$austen" x -l 5+nan
says "sampling: a bias of no token" 1 "--logit-bias: token 2048 is outside the vocabulary, 0 to 2047" "$austen" x -l 1+1,2048+1
says "sampling: a breaker that is too long" 2 "at most 64 bytes" "$austen" x --dry-multiplier 1 --dry-sequence-breaker "$again$again$again"
says "sampling: mirostat 1" 2 "--mirostat 1: expected 0, off, or 2" "$austen" x --mirostat 1
says "sampling: probabilities as a text" 2 "--logprobs without --json" "$austen" x --logprobs 3
says "sampling: ids as JSON" 2 "--json is for a text" "$austen" --tokens 1 --json
says "sampling: what mirostat replaces" 0 "--top-p has no effect: --mirostat takes its place" "$austen" x -n 1 --mirostat 2 --top-p 0.5
says "sampling: DRY that is off" 0 "--dry-base has no effect: --dry-multiplier is 0" "$austen" x -n 1 --dry-base 2
says "sampling: greedily" 0 "--mirostat has no effect: the likeliest token" "$austen" x -n 1 --temp 0 --mirostat 2
many=$(for i in $(seq 65); do printf -- '--stop %s ' "$i"; done)
# shellcheck disable=SC2086 # a list of options
says "sampling: too many of a list" 2 "--stop: at most 64 of them" "$austen" x $many
