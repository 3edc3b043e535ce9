#!/bin/sh
# Operators of com.microsoft in the reference interpreter against ONNX Runtime's results: cases made by microsoft.py.
. tests/lib.sh
tar xJf tests/conformance/microsoft.tar.xz -C "$WORK"
for case in "$WORK"/*/model.onnx; do
    folder=${case%/model.onnx}
    result=$("$BUILD"/tools/conformance "$folder" | cut -f 3)
    if [ "$result" = pass ]; then ok "com.microsoft: $(basename "$folder")"; else not_ok "com.microsoft: $(basename "$folder"): $result"; fi
done
