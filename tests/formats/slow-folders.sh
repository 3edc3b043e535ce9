#!/bin/sh
# Programs of every folder that folders.sh reads: numbers with rows of floats and of int8, and one hash everywhere.
. tests/lib.sh
unsanitized "folders"
. tests/lib_formats.sh
far=0.05 # mlx5: PyTorch, whose rows are rounded so, is as far off
for path in tests/formats/folders/*/ "$SHARED"/data/hfquant/*/; do
    path=${path%/} name=$(basename "$path")
    [ -f "$path/logits.npy" ] || continue
    rows=floats
    $BURIN inspect "$path" --stop-after=quantize 2> /dev/null | grep -q quantize_rows && rows=
    numbers "$name" "$path" "$path" $rows
    same_everywhere "$name" "$path" --ctx=128
done
