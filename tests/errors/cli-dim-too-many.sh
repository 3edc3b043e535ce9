$BURIN inspect model.onnx --max "$(seq -s, -f 'd%g=4' 65)"
