$TOOLS/onnx_of_text d.onnx << 'END'
ir 10
opset 23
tensor E f32 [4,4] raw 0.9 -0.2 0.1 0.4 -0.5 0.8 0.3 -0.1 0.2 0.6 -0.7 0.5 -0.3 -0.4 0.9 0.1
tensor axis i64 [1] raw 1
input input_ids i64 [1,T]
node Gather E input_ids -> x
node Attention x x x -> a : q_num_heads=1 kv_num_heads=1 is_causal=1
node ReduceMean a axis -> m
node Add a m -> logits
output logits f32 [1,T,4]
END
$BURIN build d.onnx --require-fusion -o net
status=$?
rm -f d.onnx
exit $status
