#!/bin/sh
# Weights far above 2 GB: a llama2.c file of 5 GB of zeros (a hole in the file) becomes a program, in less than 1 GB of memory.
. tests/lib.sh
byte() { printf "\\$(printf %o "$1")"; }
word() { for shift in 1 256 65536 16777216; do byte $(($1 / shift % 256)); done; }

dim=2048 hidden=8192 layers=18 heads=16 vocabulary=32000 context=64
for n in $dim $hidden $layers $heads $heads $vocabulary $context; do word $n; done > "$WORK/zeros.bin"
floats=$((vocabulary * dim + layers * (2 * dim + 4 * dim * dim + 3 * dim * hidden) + dim + context * dim / heads))
truncate -s $((28 + 4 * floats)) "$WORK/zeros.bin"

check "large: $((4 * floats / 1000000)) MB of weights build in 1 GB" "$BUILD/tools/peak" 1024 $BURIN build "$WORK/zeros.bin" -o "$WORK/zeros"
check "large: the program holds them" [ "$(wc -c < "$WORK/zeros")" -gt $((4 * floats)) ]
"$WORK/zeros" --tokens 1,2,3 -n 2 --temp 0 > "$WORK/ids" 2>&1
echo 0,0 > "$WORK/expected"
same "large: it runs" "$WORK/expected" "$WORK/ids"
strip "$WORK/zeros" -o "$WORK/stripped" && "$WORK/stripped" --tokens 1,2,3 -n 2 --temp 0 > "$WORK/ids" 2>&1
same "large: and stripped" "$WORK/expected" "$WORK/ids"
