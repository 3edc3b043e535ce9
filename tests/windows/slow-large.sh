#!/bin/sh
# Weights above 2 GB, which no executable of Windows holds: they are mapped behind it.
. tests/lib.sh
unsanitized "windows: large"
. tests/lib_windows.sh
has_mingw || { skip "windows: large" "mingw-w64 is missing" && exit 0; }
word() { for shift in 1 256 65536 16777216; do printf "\\$(printf %o $(($1 / shift % 256)))"; done; }
dim=2048 hidden=8192 layers=9 heads=16 vocabulary=32000 context=64
for n in $dim $hidden $layers $heads $heads $vocabulary $context; do word $n; done > "$WORK/zeros.bin"
floats=$((vocabulary * dim + layers * (2 * dim + 4 * dim * dim + 3 * dim * hidden) + dim + context * dim / heads))
truncate -s $((28 + 4 * floats)) "$WORK/zeros.bin"
check "windows: $((4 * floats / 1000000)) MB of weights build" "$BURIN" build "$WORK/zeros.bin" $windows --mcpu=x86-64-v3 -o "$WORK/zeros.exe"
says "windows: a library of $((4 * floats / 1000000)) MB of weights is refused" 1 " GB of weights do not fit the 2 GB that a library for x86_64-windows-gnu can have" \
    "$BURIN" build "$WORK/zeros.bin" $windows --mcpu=x86-64-v3 -o "$WORK/zeros.dll"
has_wine || { skip "windows: large runs" "wine is missing" && exit 0; }
wine_drive
wine "$WORK/zeros.exe" --tokens 1,2,3 -n 2 --temp 0 > "$WORK/ids" 2>&1
echo 0,0 > "$WORK/expected"
same "windows: it runs" "$WORK/expected" "$WORK/ids"
