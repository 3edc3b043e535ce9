#!/bin/sh
# A program is at most 1.03 of its model's file and 1.5 MB: tests/e2e/size.sh [FILE.gguf | FOLDER of
# data/gguf ...]. For a tiny model the code counts: a small file, and the one with the kernels of
# most formats. slow-size.sh takes all.
. tests/lib.sh
optimized
[ $# -gt 0 ] || set -- tests/formats/q1_0/model.gguf q4_k_m
for name; do
    case $name in
        *.gguf) files=$name name=$(basename "$(dirname "$name")") ;;
        *) files=$(ls "$SHARED/data/gguf/$name/"*.gguf 2> "$WORK/none") ;;
    esac
    first=$(echo "$files" | head -n 1)
    [ -n "$first" ] || { skip "size: $name" "the shared data is missing" && continue; }
    # shellcheck disable=SC2086 # a list of files
    file=$(cat $files | wc -c)
    check "size: $name builds" "$BURIN" build "$first" -o "$WORK/$name"
    program=$(wc -c < "$WORK/$name") most=$((file * 103 / 100 + 1500000))
    check "size: $name: $program bytes of at most $most" [ "$program" -le "$most" ]
    check "size: $name: it runs" "$WORK/$name" Once -n 3 --seed 1 --logits-hash
done
