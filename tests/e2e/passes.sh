#!/bin/sh
# --stop-after of every pass and of every group, on a decoder, an encoder-decoder and an export: it
# prints the dump of that number (start_from.sh starts from each).
. tests/lib.sh
"$BURIN" passes > "$WORK/list"
groups=$(awk '/^[a-z]/ { print $1 }' "$WORK/list")

# The passes in order: those of a group, or the group itself where it has but one.
passes=$(awk '/^[a-z]/ { if (alone) print alone; alone = $1 } /^ / { alone = ""; print $1 } END { if (alone) print alone }' "$WORK/list")

# of_group NAME: its last pass
of_group() { awk -v g="$1" '/^[a-z]/ { inside = $1 == g; if (inside) last = $1 } /^ / && inside { last = $1 } END { print last }' "$WORK/list"; }

# stops NAME MODEL
stops() {
    name=$1 model=$2 wrong=
    rm -rf "$WORK/ir"
    "$BURIN" inspect "$model" --dump-ir="$WORK/ir" > /dev/null 2>&1
    check "passes: $name, a dump of each of $(echo "$passes" | wc -l)" [ "$(ls "$WORK/ir" | sed -n 's/^[0-9]*-\(.*\)\.ir$/\1/p' | tail -n +2)" = "$passes" ]
    for pass in $passes $groups; do
        "$BURIN" inspect "$model" --stop-after="$pass" > "$WORK/printed" 2>&1
        last=$(of_group "$pass")
        sed '/^module\|^\/\//d' "$WORK"/ir/*-"${last:-$pass}".ir > "$WORK/dumped"
        sed -n '/^graph/,$p' "$WORK/printed" | sed '/^\/\//d' | cmp -s - "$WORK/dumped" || wrong="$wrong $pass"
    done
    check "passes: $name stops after each pass and group$wrong" [ -z "$wrong" ]
}

stops llama examples/austen
stops "an encoder-decoder" examples/numbers
export=$SHARED/data/onnx/exports/gpt2-optimum-nocache/model.onnx
[ -e "$export" ] && stops "an export of a decoder" "$export" || skip "passes: an export of a decoder" "$export is missing"
t5=$SHARED/data/families/t5
[ -e "$t5" ] && stops T5 "$t5" || skip "passes: T5" "$t5 is missing"

# The head of each file that rewrites graphs shows one before and after; these only read graphs, or run passes.
readers=" attempt axes distance match pass recipe row_loop row_trace views fuse/scores experts/top_k_mask experts/trace_element "
without=
for file in $(cd compiler/passes && find . -name '*.c' | sed 's,^\./,,; s,\.c$,,'); do
    case $readers in *" $file "*) continue ;; esac
    sed '/^#include/,$d' "compiler/passes/$file.c" > "$WORK/head"
    grep -q '^//   before  *[^ ]' "$WORK/head" && grep -q '^//.* after  *[^ ]' "$WORK/head" || without="$without $file.c"
done
check "passes: the head of every file shows before and after$without" [ -z "$without" ]
