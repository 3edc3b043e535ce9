. "$TOP/tests/errors/inc/onnx_files.sh"
decoder d.onnx input_ids logits 'input input_ids i64 [1,T]'
decoder p.onnx input_ids logits 'input input_ids i64 [1,T]' 'input past_key_values.0.encoder.key f32 [1,1,S,4]'
build d.onnx p.onnx
