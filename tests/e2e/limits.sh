#!/bin/sh
# What generation_config.json lets a model never say, or not yet: the tokens of transformers' greedy search (limits.py wrote them),
# also where the graph is read from its text; sampled texts and lines keep to it, too.
. tests/lib.sh
unsanitized "limits: programs"
need "limits: models" examples/numbers/model.safetensors examples/austen/model.safetensors

# limited NAME FOLDER SETTINGS: a model with these settings, built as $WORK/NAME
limited() {
    mkdir "$WORK/model-$1"
    ln -s "$PWD/$2"/* "$WORK/model-$1"
    rm "$WORK/model-$1/generation_config.json"
    sed "1s|{|{ $3,|" "$2/generation_config.json" > "$WORK/model-$1/generation_config.json"
    check "limits: $1 builds" "$BURIN" build "$WORK/model-$1" --mcpu=native -o "$WORK/$1"
}
while read -r what name rest; do
    if [ "$what" = model ]; then
        limited "$name" "${rest%% *}" "${rest#* }"
        continue
    fi
    ids=${rest%% *} rest=${rest#* }
    new=${rest% *} text=${rest#* }
    [ "$text" != - ] || text=
    got=$("$WORK/$name" --tokens "$ids" -n "$new" --temp 0 -t 1 2> /dev/null)
    check "limits: $name, $new tokens behind $(echo "$ids" | cut -c1-20): $got" test "$got" = "$text"
done < tests/e2e/limits.txt

# Through the text of a graph, which has them all.
"$BURIN" inspect "$WORK/model-words" --dump-ir="$WORK/dumps" --stop-after=infer > /dev/null 2>&1
dump=$(ls "$WORK"/dumps/*infer*.ir)
check "limits: stand in a dump" grep -q '"bad_words":\[\[17\],\[10,16\],\[21,20,22\]\].*"no_repeat":3' "$dump"
"$BURIN" run --interpret "$dump" --start-from=infer -- --tokens 10,14,16,13,2 -n 9 > "$WORK/got" 2> "$WORK/err"
"$WORK/words" --tokens 10,14,16,13,2 -n 9 > "$WORK/expected"
same "limits: of a dump" "$WORK/expected" "$WORK/got"

# Forced at the end of what -n allows; not where the end of a text is ignored.
for how in "" --ignore-eos; do
    "$WORK/penalty" --tokens 10,14,16,13,2 -n 5 $how > "$WORK/forced$how" 2> "$WORK/err"
done
check "limits: --ignore-eos forces no end" test "$(tr ',' '\n' < "$WORK/forced" | grep -c .)" = 4 \
    -a "$(tr ',' '\n' < "$WORK/forced--ignore-eos" | grep -c .)" = 5

# No pair of tokens comes twice, whatever is drawn.
for seed in 1 2 3; do
    "$WORK/prose" --tokens 4,5,6 -n 60 --temp 1.5 --seed $seed 2> /dev/null | tr ',' '\n' |
        awk 'NR > 1 && seen[last " " $1]++ { twice = 1 } { last = $1; if ($1 == 270) twice = 1 } END { exit twice || NR < 10 }'
    check "limits: a sampled text keeps them, seed $seed" test $? = 0
done
