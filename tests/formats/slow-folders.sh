#!/bin/sh
# Programs of every folder that folders.sh reads: numbers with rows of floats and of int8, and one hash over a few CPUs, with the
# first folder of each block format over all of them.
. tests/lib.sh
unsanitized "folders"
. tests/lib_formats.sh
int8_bound="0.03 rms" # with eleven tokens and a layer of 64, single logits vary: in mlx5 one is 0.047 of the largest off, in PyTorch, too
seen=" f32 "
for path in $FIXTURES/formats/folders/*/ "$SHARED"/data/hfquant/*/; do
    path=${path%/} name=$(basename "$path")
    [ -f "$path/logits.npy" ] || continue
    $BURIN inspect "$path" --stop-after=quantize > "$WORK/graph" 2> /dev/null
    rows=floats
    grep -q quantize_rows "$WORK/graph" && rows=
    few_cpus
    for format in $(sed -n 's/.* {.*format="\([a-z0-9_]*\)".*/\1/p' "$WORK/graph" | sort -u); do
        case $seen in *" $format "*) continue ;; esac
        seen="$seen$format "
        all_cpus
    done
    numbers "$name" "$path" "$path" $rows
    learned=$(sed -n 's/.*"n_positions": *\([0-9]*\).*/\1/p' "$path/config.json")
    bits_count=${learned:-70}
    same_everywhere "$name" "$path" --ctx="${learned:-128}"
done
check "formats: everywhere:$seen" [ "$(echo "$seen" | wc -w)" -gt 25 ]
