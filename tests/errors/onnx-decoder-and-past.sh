$TOOLS/onnx_of_text d.onnx <<'END'
ir 10
opset 20
input input_ids i64 [1,T]
input encoder_hidden_states f32 [1,S,4]
output logits f32 [1,T,4]
tensor E f32 [3,4] raw 1 2 3 4 5 6 7 8 9 10 11 12
node Gather E input_ids -> e
node ReduceMean encoder_hidden_states -> m : keepdims=0
node Add e m -> logits
END
$TOOLS/onnx_of_text p.onnx <<'END'
ir 10
opset 20
input input_ids i64 [1,T]
input encoder_hidden_states f32 [1,S,4]
input past_key_values.0.encoder.key f32 [1,1,S,4]
output logits f32 [1,T,4]
tensor E f32 [3,4] raw 1 2 3 4 5 6 7 8 9 10 11 12
node Gather E input_ids -> e
node ReduceMean encoder_hidden_states -> m : keepdims=0
node Add e m -> logits
END
$BURIN build d.onnx p.onnx -o net; s=$?; rm d.onnx p.onnx; exit $s
