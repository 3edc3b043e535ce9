#!/bin/sh
# Programs of models with heads: scores of texts and pairs, spans, masks, as transformers has them (heads.py); prompts of sentence
# encoders are in embeddings.sh.
. tests/lib.sh
unsanitized "heads: programs"
tar xJf tests/e2e/heads.tar.xz -C "$WORK"

# near EXPECTED GOT: the same fields, numbers with a point to 1e-4
near() {
    awk -F '\t' 'NR == FNR { want[FNR] = $0; n = FNR; next } { m = FNR; k = split(want[FNR], a, "\t"); if (k != NF) bad = 1
        for (i = 1; i <= k; i++) if (a[i] ~ /^-?[0-9]*\.[0-9]+$/ ? (a[i] - $i > 1e-4 || $i - a[i] > 1e-4) : a[i] != $i) bad = 1 }
        END { exit bad || n != m }' "$1" "$2"
}
for name in ${HEADS:-cross mood names mask nli}; do
    check "heads: $name builds" "$BURIN" build "$WORK/$name" -o "$WORK/$name/program"
    case $name in *mask) most=3 ;; *) most=1 ;; esac
    "$WORK/$name/program" --top-k $most -f "$WORK/$name/texts" > "$WORK/got" 2> "$WORK/err"
    check "heads: $name: what transformers says" near "$WORK/$name/expected" "$WORK/got"
    for batch in 1 3 64; do
        "$WORK/$name/program" --top-k $most -f "$WORK/$name/texts" -b $batch -t 3 2> "$WORK/err" > "$WORK/together"
        same "heads: $name: $batch in a step" "$WORK/got" "$WORK/together"
    done
done
[ -z "$HEADS" ] || exit 0
run() { _program=$1 && shift && "$WORK/$_program/program" "$@"; }
check "heads: two arguments are a pair for one score" test "$(run cross "where does anna live?" "Anna lives in Paris.")" = "$(head -n 1 "$WORK/cross/texts" | run cross)"
check "heads: special tokens in the texts of a pair are text" test "$(run cross "a [SEP] b" "c [SEP]")" = "$(run cross "a [ SEP ] b" "c [ SEP ]")"
check "heads: --pair" test "$(run nli --pair "a cat" "an animal" x "y z")" = "$(run nli -f "$WORK/nli/texts")"
check "heads: one text alone" test "$(run cross "the cat")" != "$(run cross "the cat" "the cat")"
printf 'the cat\nAnna lives in Paris.\na very good film\n' > "$WORK/lines"
run cross --rank "where does anna live?" -f "$WORK/lines" > "$WORK/ranked"
check "heads: --rank sorts by the scores of pairs" sh -c "sort -rg '$WORK/ranked' | cmp - '$WORK/ranked' && [ \$(wc -l < '$WORK/ranked') = 3 ]"
while IFS= read -r line; do run cross "where does anna live?" "$line"; done < "$WORK/lines" | sort -rg > "$WORK/alone"
cut -f1 "$WORK/ranked" > "$WORK/scores"
same "heads: which are those of each pair alone" "$WORK/alone" "$WORK/scores"
check "heads: --rank --top-k" test "$(run cross --rank a --top-k 1 -f "$WORK/lines" | wc -l)" = 1
check "heads: all labels" test "$(run mood "a film" --top-k 9 | tr '\t' '\n' | grep -c 'neg\|neu\|pos')" = 3
check "heads: JSON of labels" sh -c "'$WORK/mood/program' --format json 'a \"film\"' | grep -qE '^\{\"text\": \"a ..film..\", \"labels\": \[\{\"label\": \"[a-z]*\", \"score\": [0-9.]*\}, \{.*\}, \{[^{]*\}\]\}$'"
check "heads: JSON of a pair" sh -c "'$WORK/nli/program' --format json 'a	b' | grep -q '^{\"text\": \"a\", \"pair\": \"b\", \"labels\": \['"
check "heads: JSON of spans" test "$(run names --format json "Paris" | sed 's/[0-9]\.[0-9]*/S/')" = '{"text": "Paris", "spans": [{"label": "PER", "score": S, "start": 0, "end": 5, "text": "Paris"}]}'
rm "$WORK/mask/tokenizer_config.json"
check "heads: a mask by its usual name builds" "$BURIN" build "$WORK/mask" -o "$WORK/mask/usual"
check "heads: a mask by its usual name is filled" test "$("$WORK/mask/usual" --top-k 3 -f "$WORK/mask/texts")" = "$(run mask --top-k 3 -f "$WORK/mask/texts")"
check "heads: JSON of masks" sh -c "'$WORK/mask/program' --format json --top-k 2 'a [MASK]' | grep -qE '^\{\"text\": \"a \[MASK\]\", \"masks\": \[\[\{\"score\": [0-9.]*, \"id\": [0-9]*, \"word\": \"[^\"]*\", \"filled\": \"a [^\"]*\"\}, \{[^{]*\}\]\]\}$'"
check "heads: as many threads as there are" test "$(run mood -t 3 "a very good film")" = "$(run mood -t 1 "a very good film")"
says "heads: no mask" 0 'there is no [MASK] in "a cat"' "$WORK/mask/program" "a cat"
says "heads: what is cut is said" 0 "a text of 42 tokens is cut: the model takes 28" "$WORK/mood/program" -f "$WORK/mood/texts"
says "heads: texts by twos" 1 "--pair takes texts by twos, here are 3" "$WORK/cross/program" --pair a b c
says "heads: no pairs" 1 "--pair: this model or its tokenizer puts no two texts together" "$WORK/names/program" --pair a b
says "heads: no ranks" 1 "--rank: this model gives no one score for two texts" "$WORK/mood/program" --rank a b
says "heads: no arrays" 2 "--format npy: expected text or json" "$WORK/mood/program" --format npy a
says "heads: --help" 0 "prints the labels of each text" "$WORK/mood/program" --help
says "heads: --info" 0 "texts: at most 28 tokens" "$WORK/mood/program" --info
npy '<i4' 3 < /dev/null > "$WORK/ids.npy" && printf '\002\000\000\000\005\000\000\000\003\000\000\000' >> "$WORK/ids.npy"
check "heads: tensors as before" sh -c "'$WORK/mood/program' --input input_ids='$WORK/ids.npy' --output '$WORK/out' && [ -s '$WORK/out/logits.npy' ]"
sed 's/"pair": *\[/"pair": [], "other": [/' "$WORK/cross/tokenizer.json" > "$WORK/t" && mv "$WORK/t" "$WORK/cross/tokenizer.json"
check "heads: builds without pairs" "$BURIN" build "$WORK/cross" -o "$WORK/cross/program"
says "heads: a tokenizer without pairs" 1 "--pair: this model or its tokenizer puts no two" "$WORK/cross/program" --pair a b
