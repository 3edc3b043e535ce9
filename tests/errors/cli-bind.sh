$BURIN build $TOP/examples/digits/digits.onnx --bind=pixels=colours -o out
