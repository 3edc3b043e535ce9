$BURIN build $TOP/examples/digits/digits.onnx --as=text -o out
