$TOOLS/onnx_of_text e.onnx <<'END'
ir 10
opset 20
input input_ids i64 [1,S]
output last_hidden_state f32 [1,S,4]
tensor E f32 [3,4] raw 1 2 3 4 5 6 7 8 9 10 11 12
node Gather E input_ids -> last_hidden_state
END
$BURIN build e.onnx e.onnx -o net; s=$?; rm e.onnx; exit $s
