. "$TOP/tests/errors/inc/onnx_files.sh"
encoder
build e.onnx e.onnx
