#!/bin/sh
# --attention: attention weights against the interpreter's in f64, for decoders, encoders,
# encoder-decoders; the same bits for any threads and chunks; refusals.
. tests/lib.sh
head_of() { head -c 128 "$1" | tail -c +11 | sed "s/.*'shape': (\([0-9, ]*\)).*/\1/"; }
# agrees NAME SHAPE MODEL WORDS...: a program of this model, its file in $WORK/NAME.npy
agrees() {
    who=$1 shape=$2 model=$3
    shift 3
    $BURIN build "$model" -o "$WORK/$who" --mcpu=x86-64-v3 $kv > "$WORK/said" 2>&1 || sed 's/^/# /' "$WORK/said"
    "$WORK/$who" "$@" --attention "$WORK/$who.npy" > "$WORK/text" 2>&1
    $BURIN run "$model" --interpret $kv -- "$@" --attention "$WORK/expected.npy" > /dev/null 2>&1
    check "attention: $who: is $shape" [ "$(head_of "$WORK/$who.npy")" = "$shape" ]
    check "attention: $who: as the interpreter has it" "$BUILD/tools/npy_near" "$WORK/$who.npy" "$WORK/expected.npy" 1e-5
}
kv="--kv q8_0"
agrees austen "6, 6, 12, 12" examples/austen "It is a truth" -n 8 --temp 0
"$WORK/austen" "It is a truth" -n 8 --temp 0 > "$WORK/without"
same "attention: the text is as without" "$WORK/without" "$WORK/text"
"$WORK/austen" "It is a truth" -n 8 --temp 0 -t 3 --chunk 2 --attention "$WORK/again.npy" > /dev/null
same "attention: threads and chunks change nothing" "$WORK/austen.npy" "$WORK/again.npy"
"$WORK/austen" "It is a truth" -n 8 --temp 0 --attention "$WORK/some.npy" --layers 5 > /dev/null
layer=$((6 * 12 * 12 * 4))
tail -c $layer "$WORK/austen.npy" > "$WORK/last" && tail -c +129 "$WORK/some.npy" > "$WORK/alone"
same "attention: --layers: one of them" "$WORK/last" "$WORK/alone"
od -An -v -tf4 -w48 "$WORK/last" | awk '{ s = 0; for (i = 1; i <= NF; i++) { s += $i; if (i > (NR - 1) % 12 + 1 && $i != 0) bad = 1 } if (s < 0.99999 || s > 1.00001) bad = 1 }
    END { exit bad || NR != 72 }' && ok "attention: rows add up to 1, and see nothing that follows" || not_ok "attention: rows add up to 1, and see nothing that follows"
kv=
agrees numbers "6, 4, 22, 22" examples/numbers "einhundertacht"
"$BUILD/tools/family_weights" $FIXTURES/families/bert-masked "$WORK/weights"
agrees bert "2, 4, 16, 16" "$WORK/weights" --random
"$BUILD/tools/family_weights" $FIXTURES/families/gpt_oss "$WORK/sinks"
agrees gpt_oss "2, 4, 16, 16" "$WORK/sinks" --tokens 1,5,9,3,30,7,2,2,8,4,6,11,13,12,17 -n 2 --temp 0

says "attention: layers that are not there" 1 "--layers 6: there are 6 attentions, from 0 on" "$WORK/austen" x -n 1 --layers 2,6 --attention "$WORK/none.npy"
check "attention: and nothing is written" [ ! -e "$WORK/none.npy" ]
says "attention: --layers alone" 2 "--layers without --attention" "$WORK/austen" x --layers 2
says "attention: no list" 2 "--layers 2,x: expected ids with commas between them" "$WORK/austen" x --layers 2,x --attention "$WORK/none.npy"
says "attention: --bench" 2 "--attention looks at one text" "$WORK/austen" --bench --attention "$WORK/none.npy"
printf 'eins\nzwei\n' > "$WORK/lines"
says "attention: two texts" 1 "--attention looks at one text, and here is another one" "$WORK/numbers" -f "$WORK/lines" --attention "$WORK/none.npy"
says "attention: a place that is none" 1 "--attention $WORK/none/a.npy: No such file or directory" "$WORK/austen" x -n 1 --attention "$WORK/none/a.npy"
