$TOOLS/onnx_of_text e.onnx <<'END'
ir 10
opset 20
input input_ids i64 [1,S]
output last_hidden_state f32 [1,S,4]
tensor E f32 [3,4] raw 1 2 3 4 5 6 7 8 9 10 11 12
node Gather E input_ids -> last_hidden_state
END
$TOOLS/onnx_of_text d.onnx <<'END'
ir 10
opset 20
input input_ids i64 [1,T]
input encoder_hidden_states f32 [1,S,4]
output logits f32 [1,T,4]
tensor E f32 [3,4] raw 1 2 3 4 5 6 7 8 9 10 11 12
tensor l i64 [1] raw -1
tensor b i64 [1] raw -9999999
tensor a i64 [1] raw 1
node Slice input_ids l b a l -> w
node Gather E w -> e
node ReduceMean encoder_hidden_states -> m : keepdims=0
node Add e m -> logits
END
$BURIN build e.onnx d.onnx -o net; s=$?; rm e.onnx d.onnx; exit $s
