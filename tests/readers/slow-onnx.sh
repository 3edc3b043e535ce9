#!/bin/sh
# Many more damaged ONNX models: cut at every percent, and 2,000 with one to three bits flipped. A
# process each: it imports the file, or ends with a message and status 1; in bounded time and
# memory.
. tests/lib.sh
broken=$(cd "$(dirname "$BUILD/tools/broken_onnx")" && pwd)/broken_onnx
cd "$WORK" || exit 1
check "readers: onnx cut at every percent" "$broken" --cuts
check "readers: onnx with flipped bits" "$broken" --flips 1 2000
