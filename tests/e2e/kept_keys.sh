#!/bin/sh
# Causal decoders whose weights no attention computes (kept_keys.py makes kept_keys.tar.xz): programs of texts with PyTorch's logits, and
# the same bits in every chunk, on every number of threads.
. tests/lib.sh
unsanitized "kept keys"
tar xJf tests/e2e/kept_keys.tar.xz -C "$WORK"
tokens=5,17,3,2,20,11,7,23,9,9,1,14,0

for file in "$WORK"/*.onnx; do
    name=$(basename "$file" .onnx)
    "$BURIN" run "$file" --as=text --interpret --tokens $tokens -n 0 --logits "$WORK/got.npy" > "$WORK/out" 2>&1 || cat "$WORK/out"
    check "kept keys: $name: PyTorch's logits" "$BUILD/tools/npy_near" "$WORK/got.npy" "$WORK/$name.npy" 1e-5 largest
done
for name in forgetting shifted; do
    "$BURIN" build "$WORK/$name.onnx" --mcpu=native -o "$WORK/program" > "$WORK/build" 2>&1
    [ $name = shifted ] || check "kept keys: $name: the note names the context" grep -q 'all 40 positions of the context' "$WORK/build"
    "$BURIN" run "$WORK/$name.onnx" --interpret --tokens $tokens -n 0 --logits-hash > "$WORK/hashes" 2> "$WORK/out"
    for chunk in 1 4 13; do
        for threads in 1 3; do "$WORK/program" --tokens $tokens -n 0 --chunk $chunk -t $threads --logits-hash 2> "$WORK/out"; done
    done >> "$WORK/hashes"
    check "kept keys: $name: the interpreter's bits in 6 cells" test "$(sort "$WORK/hashes" | uniq -c | awk '{ print $1 }')" = 7
    "$BURIN" check "$WORK/$name.onnx" > "$WORK/check" 2>&1
    check "kept keys: $name: burin check" test $? = 0
done
says "kept keys: fewer positions" 0 "all 16 positions of the context" "$BURIN" build "$WORK/sigmoid.onnx" --ctx=16 -o "$WORK/program"
