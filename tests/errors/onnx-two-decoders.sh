. "$TOP/tests/errors/inc/onnx_files.sh"
decoder d.onnx input_ids logits 'input input_ids i64 [1,T]'
build d.onnx d.onnx
