#!/bin/sh
# Every operator of the ONNX importer with each operand absent, empty, of another rank or type, and each attribute out of range: a
# result or one message.
. tests/lib.sh
"$BUILD/tools/onnx_sweep" tests/readers/onnx_calls.txt || not_ok "onnx operands"
