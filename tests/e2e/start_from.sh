#!/bin/sh
# Every dump is a valid input: started from the dump of any pass, the passes that follow give the same graph, and the same program.
. tests/lib.sh
MODEL=examples/austen
$BURIN inspect $MODEL --dump-ir="$WORK/all" > /dev/null || { not_ok "start-from: dumps every pass"; exit 0; }
last=$(ls "$WORK/all" | grep '\.ir$' | tail -n 1)
for file in "$WORK"/all/*.ir; do
    name=$(basename "$file" .ir)
    number=${name%%-*}
    next=$(ls "$WORK/all" | grep "^$(printf %02d $((${number#0} + 1)))-" | sed 's/^[0-9]*-//; s/\.ir$//')
    [ -n "$next" ] || continue
    rm -rf "$WORK/again"
    $BURIN inspect "$file" --start-from="$next" --dump-ir="$WORK/again" > "$WORK/out" 2>&1 || sed 's/^/# /' "$WORK/out"
    same "start-from: $next onwards" "$WORK/all/$last" "$WORK/again/$last"
done
TOKENS=1,5,9,100,200,33,44,55,66,77
$BURIN run --interpret $MODEL --tokens $TOKENS -n 0 --logits-hash > "$WORK/whole" 2>&1
$BURIN run --interpret "$WORK/all/06-fuse.ir" --start-from=incremental --tokens $TOKENS -n 0 --logits-hash > "$WORK/part" 2>&1
same "start-from: the same logits" "$WORK/whole" "$WORK/part"
rm "$WORK/all/constants"
if $BURIN inspect "$WORK/all/06-fuse.ir" --start-from=incremental > "$WORK/out" 2>&1; then
    not_ok "start-from: misses its constants"
else
    check "start-from: misses its constants" grep -q constants "$WORK/out"
fi
