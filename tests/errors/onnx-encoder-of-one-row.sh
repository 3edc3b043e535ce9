. "$TOP/tests/errors/inc/onnx_files.sh"
opset=17
model e.onnx 'input input_ids i64 [1,S]' 'output last_hidden_state f32 [1,4]' 'node Gather E input_ids -> h' \
    'node ReduceMean h -> last_hidden_state : keepdims=0 axes=[1]'
decoder d.onnx input_ids logits 'input input_ids i64 [1,T]'
build e.onnx d.onnx
