$BURIN inspect $TOP/examples/digits/digits.onnx --dim=sequence=4; exit $?
