#!/bin/sh
# External tensors in files, as writers leave them. The results are computed by hand.
. tests/lib.sh
model() { "$BUILD/tools/onnx_of_text" "$WORK/$1.onnx"; }
# run NAME FILE: the interpreter's result for x=FILE, a line of numbers
run() {
    rm -rf "$WORK/out"
    "$BURIN" run "$WORK/$1.onnx" --as=net --interpret --input x="$2" --output "$WORK/out" 2> "$WORK/$1.log"
    values "$WORK/out/y.npy" | od -An -w4 -tf4 | xargs
}

# ---- w is 10, 1, 100 in a file with three bytes before it and five after it
mkdir -p "$WORK/parts/deep"
{ printf 'abc' && printf '\0\0\040\101\0\0\200\77\0\0\310\102' && printf 'defgh'; } > "$WORK/parts/w.bin"
printf '\0\0\200\77\0\0\000\100\0\0\100\100' | npy '<f4' 3 > "$WORK/x.npy" # 1, 2, 3
echo "11 3 103" > "$WORK/sum"
for form in 'parts/w.bin offset=3 length=12' 'parts/w.bin offset=3' './parts//deep/../w.bin offset=3 length=12' 'parts/deep/../../parts/w.bin offset=3 checksum=0'; do
    printf '%s\n' 'ir 10' 'opset 20' "tensor w f32 [3] external location=$form" 'input x f32 [3]' 'node Add x w -> y' 'output y f32 [3]' | model add
    run add "$WORK/x.npy" > "$WORK/got"
    same "files: a tensor at $form" "$WORK/sum" "$WORK/got"
done
printf '%s\n' 'ir 10' 'opset 20' "tensor w f32 [3] external location=parts/w.bin offset=9" 'input x f32 [3]' 'node Add x w -> y' 'output y f32 [3]' | model short
says "files: what is left of a file is too short" 1 '11 bytes of external data, its shape needs 12' "$BURIN" inspect "$WORK/short.onnx"
