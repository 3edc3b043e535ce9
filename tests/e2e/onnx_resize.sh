#!/bin/sh
# Resize of images whose size only the run knows, against the same file with its sizes fixed by --dim (which the conformance cases
# test); and how corners are aligned where the size is a fraction.
. tests/lib.sh
model() { "$BUILD/tools/onnx_of_text" "$WORK/$1.onnx"; }
# run NAME FILE OPTION...: the interpreter's result for x=FILE
run() {
    name=$1 file=$2
    shift 2
    rm -rf "$WORK/out"
    "$BURIN" run "$WORK/$name.onnx" --as=net --interpret "$@" --input x="$file" --output "$WORK/out" 2> "$WORK/$name.log"
}
awk 'BEGIN { for (i = 0; i < 140; i++) print "0 " (i * 37 + 11) % 251 " 200 " 62 + i % 2 }' |
    while read -r a b c d; do printf "\\$(printf %o "$a")\\$(printf %o "$b")\\$(printf %o "$c")\\$(printf %o "$d")"; done | npy '<f4' 1,2,7,10 > "$WORK/image.npy"
# resize NAME INPUTS MODE COORDINATE NEAREST
resize() {
    model "$1" << END
ir 8
producer pytorch
opset 18
input x f32 [1,2,H,W]
tensor scales f32 [4] raw 1 1 1.7 0.6
tensor two i64 [1] raw 2
tensor some i64 [2] raw 12 1
node Shape x -> height : start=2 end=3
node Shape x -> before : start=0 end=2
node Mul height two -> twice
node Add twice two -> more
node Concat before more twice -> sizes : axis=0
node Concat before some -> fixed : axis=0
node Resize x _ $2 -> r : mode='$3' coordinate_transformation_mode='$4' nearest_mode='$5'
node Flatten r -> y : axis=3
output y f32
END
}
while read -r mode coordinate nearest; do
    for inputs in scales '_ sizes' '_ fixed'; do
        name=$(echo "$mode-$coordinate-$nearest-$inputs" | tr -d ' ')
        resize "$name" "$inputs" "$mode" "$coordinate" "$nearest"
        run "$name" "$WORK/image.npy" --dim H=7,W=10 && cp "$WORK/out/y.npy" "$WORK/fixed.npy"
        run "$name" "$WORK/image.npy" && cp "$WORK/out/y.npy" "$WORK/open.npy"
        check "resize: $name of an open size" "$BUILD/tools/npy_compare" "$WORK/open.npy" "$WORK/fixed.npy" 1e-5
    done
done << 'END'
nearest half_pixel round_prefer_floor
nearest asymmetric floor
nearest align_corners ceil
nearest tf_half_pixel_for_nn round_prefer_ceil
linear half_pixel floor
linear align_corners floor
linear pytorch_half_pixel floor
cubic asymmetric floor
cubic half_pixel floor
cubic pytorch_half_pixel floor
END
name=cubic-half_pixel-floor-_sizes
check "resize: $name as a program" "$BURIN" build "$WORK/$name.onnx" --as=net --mcpu=native --max H=16,W=16 -o "$WORK/program"
"$WORK/program" --input x="$WORK/image.npy" --hash > "$WORK/program.out"
"$BURIN" run "$WORK/$name.onnx" --as=net --interpret --max H=16,W=16 --input x="$WORK/image.npy" --hash > "$WORK/interpreted"
same "resize: ... with the interpreter's bits" "$WORK/interpreted" "$WORK/program.out"
model antialias << 'END'
ir 8
opset 18
input x f32 [1,2,H,W]
tensor s f32 [4] raw 1 1 0.5 0.5
node Resize x _ s -> y : mode='linear' antialias=1
output y f32
END
says "resize: what takes constants says so" 1 'must be constant' "$BURIN" inspect "$WORK/antialias.onnx"

# ---- 4 elements scaled by 1.7 are 6: corners are aligned by 6 as PyTorch does, or by 6.8 as ONNX's reference does
printf '\0\0\0\0\0\0\200\77\0\0\000\100\0\0\100\100' | npy '<f4' 4 > "$WORK/four.npy"
for producer in pytorch onnx.quantize reference; do
    model "$producer" << END
ir 8
producer $producer
opset 18
input x f32 [4]
tensor s f32 [1] raw 1.7
node Resize x _ s -> y : mode='linear' coordinate_transformation_mode='align_corners'
output y f32 [6]
END
    run "$producer" "$WORK/four.npy"
    values "$WORK/out/y.npy" | od -An -w4 -tf4 | xargs | awk '{ for (i = 1; i <= NF; i++) printf "%.3f ", $i; print "" }' > "$WORK/$producer"
done
echo "0.000 0.600 1.200 1.800 2.400 3.000 " > "$WORK/by_result"
echo "0.000 0.517 1.034 1.552 2.069 2.586 " > "$WORK/by_fraction"
same "resize: corners of an export of PyTorch" "$WORK/by_result" "$WORK/pytorch"
same "resize: ... also once it was quantized" "$WORK/by_result" "$WORK/onnx.quantize"
same "resize: corners as ONNX's tests have them" "$WORK/by_fraction" "$WORK/reference"
check "resize: ... which is told" grep -q 'Resize aligns corners by a length of 6.8' "$WORK/reference.log"
check "resize: ... there alone" sh -c "! grep -q corners '$WORK/pytorch.log'"
