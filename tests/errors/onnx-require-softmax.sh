$TOOLS/onnx_of_text d.onnx << 'END'
ir 10
opset 20
tensor two f32 [] raw 2
tensor axis i64 [1] raw 2
input q f32 [1,T,4]
input k f32 [1,T,4]
input v f32 [1,T,4]
node Transpose k -> kt : perm=[0,2,1]
node MatMul q kt -> s
node Exp s -> e
node ReduceSum e axis -> z
node Add z two -> d
node Div e d -> p
node MatMul p v -> y
output y f32
END
$BURIN build d.onnx --require-fusion -o net
status=$?
rm -f d.onnx
exit $status
