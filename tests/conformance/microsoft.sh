#!/bin/sh
# Operators of com.microsoft in the reference interpreter against ONNX Runtime's results: cases made by microsoft.py.
. tests/lib.sh
tar xJf tests/conformance/microsoft.tar.xz -C "$WORK"
for case in "$WORK"/*/model.onnx; do
    folder=${case%/model.onnx}
    result=$("$BUILD"/tools/conformance "$folder" | cut -f 3)
    if [ "$result" = pass ]; then ok "com.microsoft: $(basename "$folder")"; else not_ok "com.microsoft: $(basename "$folder"): $result"; fi
done

# Whole decoders as GenAI's builder writes them: the text program gives ONNX Runtime's logits.
for model in "$WORK"/programs/*.onnx; do
    name=$(basename "$model" .onnx)
    check "com.microsoft: $name builds" $BURIN build "$model" -o "$WORK/$name" --ctx 32
    "$WORK/$name" --tokens 5,17,33,2,30,11,7 --logits "$WORK/$name.npy" -n 1 > /dev/null
    check "com.microsoft: $name gives the same logits" "$BUILD/tools/npy_compare" "$WORK/$name.npy" "${model%.onnx}.npy" 1e-4
done
