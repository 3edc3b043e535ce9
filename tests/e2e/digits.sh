#!/bin/sh
# examples/digits: the ONNX file as a program and as a library: PyTorch's logits, 63 of 64 right, the same bits everywhere.
. tests/lib.sh
digits=examples/digits
need "examples/digits" $digits/digits.onnx
check "builds a program" emulated "$BURIN" build $digits/digits.onnx -o "$WORK/digits"
check "runs" "$WORK/digits" --input $digits/images.npy --output "$WORK/out"
check "the logits are PyTorch's" "$BUILD/tools/npy_near" "$WORK/out/logits.npy" $digits/logits.npy 1e-4
hash=$("$BURIN" run $digits/digits.onnx --interpret --input $digits/images.npy --hash)
one_hash "digits" "$hash" "1 2 5" "$WORK/digits" --input $digits/images.npy --hash

cp $digits/show.c $digits/Makefile $digits/digits.onnx $digits/*.npy "$WORK"
check "make run compiles it into a host" make -s -C "$WORK" run BURIN="$PWD/$BURIN"
(cd "$WORK" && ./show) > "$WORK/all"
check "63 of 64 right" grep -qx "63 of 64 right" "$WORK/all"
(cd "$WORK" && ./show 0) | sed 's/ *$//' > "$WORK/first"
sed -n '/░░████▓▓▓▓▒▒/,/░░████░░$/p' $digits/README.md > "$WORK/readme"
same "the README draws what the program draws" "$WORK/readme" "$WORK/first"
