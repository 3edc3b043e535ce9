#!/bin/sh
# Programs of every folder that folders.sh reads: numbers with rows of floats and of int8, and one hash everywhere.
. tests/lib.sh
unsanitized "folders"
. tests/lib_formats.sh
int8_bound="0.03 rms" # of eleven tokens and a layer of 64 a single logit says little: in mlx5 one is 0.047 of the largest off, in PyTorch, too
for path in tests/formats/folders/*/ "$SHARED"/data/hfquant/*/; do
    path=${path%/} name=$(basename "$path")
    [ -f "$path/logits.npy" ] || continue
    rows=floats
    $BURIN inspect "$path" --stop-after=quantize 2> /dev/null | grep -q quantize_rows && rows=
    numbers "$name" "$path" "$path" $rows
    learned=$(sed -n 's/.*"n_positions": *\([0-9]*\).*/\1/p' "$path/config.json")
    bits_count=${learned:-70}
    same_everywhere "$name" "$path" --ctx="${learned:-128}"
done
