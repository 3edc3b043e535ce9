#!/bin/sh
# ONNX models of 3 GB, with their weights inside the file and beside it, are read in 256 MB: mapped, never copied.
. tests/lib.sh
tool=$(cd "$(dirname "$BUILD/tools/large_onnx")" && pwd)/large_onnx
(cd "$WORK" && "$tool")
for model in inside beside; do
    check "onnx: 3 GB $model the file" "$BUILD/tools/peak" 256 $BURIN inspect "$WORK/$model.onnx"
    $BURIN inspect "$WORK/$model.onnx" 2>&1 | grep -q "3221225472 bytes of constants" && ok "onnx: $model: all of it" ||
        not_ok "onnx: $model: all of it"
done
