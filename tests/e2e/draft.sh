#!/bin/sh
# --draft: the same text as without, for prompts and seeds, with fewer steps where a text repeats itself.
. tests/lib.sh
need "draft: austen as a program" examples/austen/model.safetensors
unsanitized "draft: programs"
check "draft: builds" "$BURIN" build examples/austen -o "$WORK/austen"
austen=$WORK/austen
check "draft: builds with a model that guesses" "$BURIN" build examples/austen --draft examples/austen --draft-quant q4_0 --mcpu=native -o "$WORK/both"
both=$WORK/both
[ -x "$austen" ] && [ -x "$both" ] || exit 1

# A continuing repetition, greedily, so that drafts are right; then sentences of a text, sampled.
prompts=$WORK/prompts
head -c 12000 examples/austen/held_out.txt | tr '\n' ' ' | sed 's/[.;] /&\n/g' | awk 'length($0) > 20' | head -n 50 > "$prompts"
differ=0 differ_by_model=0 seed=0
while read -r prompt; do
    seed=$((seed + 1))
    how="--seed $seed"
    [ $((seed % 5)) = 0 ] && how="--temp 0"
    [ $((seed % 7)) = 0 ] && how="--seed $seed --repeat-penalty 1.3 --mirostat 2"
    # shellcheck disable=SC2086 # options
    "$austen" "$prompt $prompt" -n 24 -t 1 --logits-hash $how > "$WORK/alone" 2> /dev/null
    # shellcheck disable=SC2086 # options
    "$austen" "$prompt $prompt" -n 24 -t 1 --logits-hash $how --draft lookup -v > "$WORK/drafted" 2> "$WORK/err"
    cmp -s "$WORK/alone" "$WORK/drafted" || differ=$((differ + 1)) && grep "^austen: drafts" "$WORK/err" >> "$WORK/drafts"
    # shellcheck disable=SC2086 # options
    "$both" "$prompt" -n 120 -t 1 --logits-hash $how > "$WORK/alone" --draft none 2> /dev/null
    # shellcheck disable=SC2086 # options
    "$both" "$prompt" -n 120 -t 1 --logits-hash $how -v > "$WORK/drafted" 2> "$WORK/err"
    cmp -s "$WORK/alone" "$WORK/drafted" || differ_by_model=$((differ_by_model + 1)) && grep "^both: drafts" "$WORK/err" >> "$WORK/by_model"
done < "$prompts"
check "draft: $seed prompts and seeds, logits too: $differ differ" test $seed = 50 -a $differ = 0
right=$(awk '{ right += $3; all += $5 } END { print right + 0, all + 0 }' "$WORK/drafts")
check "draft: right of all guesses: $right" test "${right% *}" -gt 0 -a "${right#* }" -gt 20

check "draft: by a model, $seed prompts and seeds, logits too: $differ_by_model differ" test $seed = 50 -a $differ_by_model = 0
right=$(awk '{ right += $3; all += $5 } END { print right + 0, all + 0 }' "$WORK/by_model")
check "draft: by a model, right of all guesses: $right" test "${right% *}" -gt 10 -a "${right#* }" -gt 20

again="Mr. Darcy and Mr. Bingley and Mr. Darcy and Mr. Bingley and Mr. Darcy and Mr. Bingley and Mr."
alike() {
    _name=$1
    shift
    "$austen" "$@" > "$WORK/alone" 2> /dev/null
    "$austen" "$@" --draft lookup -v > "$WORK/drafted" 2> "$WORK/err"
    same "$_name" "$WORK/alone" "$WORK/drafted"
    "$both" "$@" > "$WORK/drafted" 2> /dev/null
    same "$_name, by a model" "$WORK/alone" "$WORK/drafted"
}
alike "draft: --grammar" "$again" --grammar 'root ::= (" Darcy and Mr." | " Bingley and Mr.")+' -n 60 --seed 3

# Without --draft, tokens that a grammar leaves no choice but to write are guessed.
forced() {
    _name=$1
    shift
    "$austen" "$@" --draft none > "$WORK/alone" 2> /dev/null
    "$austen" "$@" -v > "$WORK/drafted" 2> "$WORK/err"
    same "$_name" "$WORK/alone" "$WORK/drafted"
}
lady='{"type":"object","properties":{"the lady":{"type":"string","maxLength":20},"her sister":{"type":"string","maxLength":9},"married":{"type":"boolean"}},"required":["the lady","her sister","married"]}'
for how in "--temp 0" "--seed 3" "--seed 4 --mirostat 2" "--seed 5 --repeat-penalty 1.3" "--seed 6 --json --logprobs 2" "--seed 7 --stop sis" "--seed 8 -n 9"; do
    # shellcheck disable=SC2086 # options
    forced "draft: forced by a schema, $how" "It was" -n 150 --logits-hash --json-schema "$lady" $how
done
check "draft: some were right" grep -q 'drafts: [1-9]' "$WORK/err"
forced "draft: forced to the end of the context" "It was" --temp 0 --ctx 20 --grammar 'root ::= " was a truth universally acknowledged that a single man in possession"+'
forced "draft: forced, --chunk 1" "It was" --temp 0 -n 30 --chunk 1 --grammar 'root ::= " was a truth universally acknowledged"+'
forced "draft: forced tokens by their ids" "It was" --temp 0 -n 9 --grammar 'root ::= <[300]> " the" <[301]> <[302]> | <[300]> " then"'
forced "draft: forced with --shift" "It was" --temp 0 -n 90 --ctx 40 --shift --grammar 'root ::= (" Mr. Darcy and Mr. Bingley")+'
alike "draft: --stop" "$again" --temp 0 -n 60 --stop "Bingley"
alike "draft: --json --logprobs" "$again" --seed 4 -n 30 --json --logprobs 2
alike "draft: to the end of the context" "$again" --temp 0 -n 200 --ctx 100 --ignore-eos
alike "draft: to the end of what was built, also for the draft" "$again" --temp 0.3 --seed 2 -n 500 --ignore-eos -t 1
alike "draft: --shift" "$again" --temp 0 -n 300 --ctx 100 --ignore-eos --shift
alike "draft: --chunk 1, no room for guesses" "$again" --temp 0 -n 20 --chunk 1
check "draft: none were made" sh -c "! grep -q 'of [1-9][0-9]* guesses' '$WORK/err'"
for n in 1 2 17 39; do
    rm -f "$WORK/s"
    "$austen" "$again" --temp 0 --ignore-eos -n 40 > "$WORK/alone" 2> /dev/null
    { "$austen" "$again" --temp 0 --ignore-eos -n $n --draft lookup --session "$WORK/s" &&
        "$austen" --temp 0 --ignore-eos -n $((40 - n)) --draft lookup --session "$WORK/s" < /dev/null; } 2> /dev/null | tr -d '\n' > "$WORK/drafted"
    { "$austen" "$again" --temp 0 --ignore-eos -n $n --session "$WORK/t" &&
        "$both" --temp 0 --ignore-eos -n $((40 - n)) --session "$WORK/t" < /dev/null; } 2> /dev/null | tr -d '\n' > "$WORK/by_model"
    same "draft: a session after $n of 40, by a model" "$WORK/drafted" "$WORK/by_model"
    rm -f "$WORK/t"
    check "draft: a session after $n of 40" test "$(cat "$WORK/drafted")" = "$(tr -d '\n' < "$WORK/alone")"
done
says "draft: something else" 2 "--draft guesses: expected lookup" "$austen" x --draft guesses
says "draft: no model is there" 2 "burin build MODEL --draft SMALL" "$austen" x --draft model
says "draft: something else, beside a model" 2 "--draft guesses: expected model, lookup or none" "$both" x --draft guesses
says "draft: too many" 2 "--draft-max 65: expected a number from 1 to 64" "$austen" x --draft lookup --draft-max 65
says "draft: --draft-max alone" 0 "--draft-max has no effect: it is for --draft" "$austen" x -n 1 --draft-max 5
"$both" --info > "$WORK/info"
check "draft: --info says what guesses" grep -q "^draft model *austen_draft, identity" "$WORK/info"

# Files that are no draft of the model
mkdir "$WORK/other" && cp examples/austen/*.json examples/austen/model.safetensors "$WORK/other"
sed -i -E 's/"(Ġhim|Ġhis)": ([0-9]+)/"\1": \2x/; s/"Ġhim": [0-9]+x/"Ġhis": HIS/; s/"Ġhis": [0-9]+x/"Ġhim": HIM/' "$WORK/other/tokenizer.json"
him=$(grep -oE '"Ġhim": [0-9]+' examples/austen/tokenizer.json) his=$(grep -oE '"Ġhis": [0-9]+' examples/austen/tokenizer.json)
sed -i "s/HIS/${him##* }/; s/HIM/${his##* }/" "$WORK/other/tokenizer.json"
says "draft: other tokens" 1 "/other has other tokens: 354 is " "$BURIN" build examples/austen --draft "$WORK/other" -o "$WORK/x"
says "draft: a draft that is no decoder" 2 "--draft=examples/numbers is no decoder" "$BURIN" build examples/austen --draft examples/numbers -o "$WORK/x"
says "draft: a model that is no decoder" 2 "--draft is for decoders, and examples/numbers is none" "$BURIN" build examples/numbers --draft examples/austen -o "$WORK/x"
says "draft: a library" 2 ": --draft makes a program or a folder of C" "$BURIN" build examples/austen --draft examples/austen -o "$WORK/x.a"
says "draft: over ranks" 2 "--draft does not go together with --with=" "$BURIN" build examples/austen --draft examples/austen --with=mpi -o "$WORK/x"
says "draft: --draft-quant alone" 0 "--draft-quant=q8_0 has no effect: it is for --draft" "$BURIN" build examples/austen --draft-quant q8_0 -o "$WORK/x"
says "draft: burin run, for the program" 2 "expected lookup" "$BURIN" run examples/austen --draft nothing x
