$TOOLS/onnx_of_text x.onnx <<'END'
ir 10
opset 20
input x f32 [batch,sequence]
output y f32 [batch,sequence]
node Relu x -> y
END
$BURIN inspect x.onnx --max=batch=2,sequense=4; s=$?; rm x.onnx; exit $s
