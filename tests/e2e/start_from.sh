#!/bin/sh
# Every dump is a valid input: started from the dump of any pass, the passes that follow give the same graph, and the same program.
# (The numbers that make names unique count what was removed, too.)
. tests/lib.sh
unnumbered() { sed 's/\(%[a-z_0-9]*\)\.[0-9]*/\1/g' "$1"; }
MODEL=examples/austen
$BURIN inspect $MODEL --dump-ir="$WORK/all" > /dev/null || { not_ok "start-from: dumps every pass"; exit 0; }
last=$(ls "$WORK/all" | grep '\.ir$' | tail -n 1) fused=$WORK/all/$(ls "$WORK/all" | grep fuse_elementwise)
unnumbered "$WORK/all/$last" > "$WORK/expected"
for file in "$WORK"/all/*.ir; do
    name=$(basename "$file" .ir)
    number=${name%%-*}
    next=$(ls "$WORK/all" | grep "^$(printf %02d $((${number#0} + 1)))-" | sed 's/^[0-9]*-//; s/\.ir$//')
    [ -n "$next" ] || continue
    rm -rf "$WORK/again"
    $BURIN inspect "$file" --start-from="$next" --dump-ir="$WORK/again" > "$WORK/out" 2>&1 || sed 's/^/# /' "$WORK/out"
    unnumbered "$WORK/again/$last" > "$WORK/got"
    same "start-from: $next onwards" "$WORK/expected" "$WORK/got"
done
TOKENS=1,5,9,100,200,33,44,55,66,77
$BURIN run --interpret $MODEL --tokens $TOKENS -n 0 --logits-hash > "$WORK/whole" 2>&1
$BURIN run --interpret "$fused" --start-from=incremental --tokens $TOKENS -n 0 --logits-hash > "$WORK/part" 2>&1
same "start-from: the same logits" "$WORK/whole" "$WORK/part"
rm "$WORK/all/constants"
if $BURIN inspect "$fused" --start-from=incremental > "$WORK/out" 2>&1; then
    not_ok "start-from: misses its constants"
else
    check "start-from: misses its constants" grep -q constants "$WORK/out"
fi
