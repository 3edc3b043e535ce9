#!/bin/sh
# The passes over a LLaMA, and the figures of its plan.
. tests/lib.sh
model=examples/austen
$BURIN inspect $model --stop-after=fuse > "$WORK/fused" 2>&1
count() { grep -c " = $1(" "$WORK/fused"; }
number() { check "plan: after fuse, $2 $1" [ "$(count "$1")" = "$2" ]; }
number attention 6
number skip_rms_normalization 12
number rms_normalization 1
for op in softmax exp pow transpose; do number $op 0; done
$BURIN build $model --stop-after=fuse > "$WORK/built" 2>&1
same "plan: build --stop-after prints the same" "$WORK/fused" "$WORK/built"

check "plan: builds with 16 rows" $BURIN build $model --chunk 16 --mcpu=x86-64-v3 -o "$WORK/austen"
$BURIN build $model --chunk 16 --emit=c > "$WORK/emitted.c"
arena=$(sed -n 's/.*arena *: \([0-9]*\) bytes for 16 rows; at least \([0-9]*\) bytes.*/\1/p' "$WORK/emitted.c")
bound=$(sed -n 's/.*arena *: \([0-9]*\) bytes for 16 rows; at least \([0-9]*\) bytes.*/\2/p' "$WORK/emitted.c")
check "plan: arena of ${arena:-?} bytes is at most 128 KB" [ "${arena:-999999}" -le 131072 ]
check "plan: arena is within 5 % of its lower bound ${bound:-?}" [ "${arena:-999999}" -le $((${bound:-0} * 105 / 100)) ]

# The arenas of each family, an encoder's and a decoder's, from the facts of its C text
for folder in "$SHARED"/data/families/*/; do
    [ -e "$folder/config.json" ] || continue
    $BURIN build "$folder" --emit=c 2> "$WORK/said" | sed -n 's/.*arena *: \([0-9]*\) bytes.* at least \([0-9]*\) bytes.*/\1 \2/p' > "$WORK/arenas"
    check "plan: $(basename "$folder"): arena and lower bound $(tr '\n' ' ' < "$WORK/arenas")" \
        awk '$1 > $2 * 1.05 { wide = 1 } END { exit wide || !NR }' "$WORK/arenas"
done

# A dump is an input: the program made from it is the program made from the model.
check "plan: dumps the IR" $BURIN build $model --dump-ir="$WORK/ir" --mcpu=x86-64-v3 -o "$WORK/austen"
check "plan: numbered dumps" [ "$(ls "$WORK/ir" | grep -c '\.ir$')" = $(($(grep -c '^PASS(' compiler/passes.def) + 1)) ]
"$WORK/austen" --tokens 0,1114,306 -n 0 --logits-hash > "$WORK/expected"
for pass in simplify rows layout; do
    before=$(ls "$WORK"/ir/*.ir | grep -B 1 -e "-$pass.ir" | head -n 1)
    check "plan: builds from $(basename "$before")" $BURIN build "$before" --start-from=$pass --mcpu=x86-64-v3 -o "$WORK/again"
    "$WORK/again" --tokens 0,1114,306 -n 0 --logits-hash > "$WORK/got" 2>&1
    same "plan: and has the same bits" "$WORK/expected" "$WORK/got"
done
