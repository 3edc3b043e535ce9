. "$TOP/tests/errors/inc/onnx_files.sh"
encoder
decoder d.onnx w logits 'input input_ids i64 [1,T]' 'tensor l i64 [1] raw -1' 'tensor b i64 [1] raw -9999999' 'tensor a i64 [1] raw 1' \
    'node Slice input_ids l b a l -> w'
build e.onnx d.onnx
