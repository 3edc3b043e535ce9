#!/bin/sh
# --beams: texts and scores of transformers' beam search (beams.py wrote them), for an encoder-decoder and a decoder; the same in
# any threads and chunks.
. tests/lib.sh
unsanitized "beams: programs"
need "beams: models" examples/numbers/model.safetensors examples/austen/model.safetensors
for name in numbers austen; do
    check "beams: $name builds" "$BURIN" build examples/$name --mcpu=native -o "$WORK/$name"
    [ -x "$WORK/$name" ] || exit 1
done

mkdir "$WORK/model"
ln -s "$PWD"/examples/numbers/* "$WORK/model"
rm "$WORK/model/generation_config.json"
sed 's/"eos_token_id": 2,/&\n"forced_eos_token_id": 2, "no_repeat_ngram_size": 2,/' examples/numbers/generation_config.json > "$WORK/model/generation_config.json"
check "beams: numbers without repetitions builds" "$BURIN" build "$WORK/model" --mcpu=native -o "$WORK/banned"

n=0
while read -r name ids beams penalty early new text score; do
    n=$((n + 1))
    [ "$text" != - ] || text=
    got=$("$WORK/$name" --tokens "$ids" --beams "$beams" --length-penalty "$penalty" --early-stopping "$early" -n "$new" -v -t 1 2> "$WORK/err")
    theirs=$(sed -n 's/.*with a score of //p' "$WORK/err")
    check "beams: $name $n: $beams beams, penalty $penalty, early stopping $early: tokens" test "$got" = "$text"
    check "beams: $name $n: a score of ${theirs:-none}, expected $score" awk -v a="$theirs" -v b="$score" \
        'BEGIN { d = a - b; exit !(a != "" && d * d < 1e-7 + 1e-8 * b * b) }'
done < tests/e2e/beams.txt
check "beams: $n cases" test "$n" -ge 30

ask() { "$WORK/austen" "The evening was" --beams 5 --length-penalty 0.5 -n 30 --logits-hash "$@" 2>&1; }
ask -t 1 > "$WORK/expected"
ask -t 3 > "$WORK/got"
same "beams: three threads" "$WORK/expected" "$WORK/got"
ask --chunk 2 > "$WORK/got"
same "beams: rows in chunks" "$WORK/expected" "$WORK/got"
"$WORK/numbers" "zwei" > "$WORK/expected"
"$WORK/numbers" "zwei" --beams 1 > "$WORK/got"
same "beams: one is greedy" "$WORK/expected" "$WORK/got"
printf 'eins\nzweiundzwanzig\n' > "$WORK/lines"
{ "$WORK/numbers" eins --beams 3 && "$WORK/numbers" zweiundzwanzig --beams 3; } > "$WORK/expected"
"$WORK/numbers" -f "$WORK/lines" --beams 3 > "$WORK/got"
same "beams: one line after the other" "$WORK/expected" "$WORK/got"
says "beams: a full context" 0 "the context of 12 tokens is full" "$WORK/austen" "It was" --beams 2 -n 40 --ctx 12
check "beams: nothing to write" test -z "$("$WORK/austen" "It was" --beams 2 -n 0)"
says "beams: with a grammar" 2 "--beams reads several texts at once" "$WORK/austen" x --beams 2 --grammar 'root ::= "a"'
says "beams: when" 2 "--early-stopping soon: expected true, false or never" "$WORK/austen" x --beams 2 --early-stopping soon
says "beams: alone" 0 "--length-penalty has no effect: it is for --beams" "$WORK/austen" x -n 1 --length-penalty 2
says "beams: sampled" 0 "--seed has no effect: --beams looks for the likeliest text" "$WORK/austen" x -n 1 --beams 2 --seed 2
