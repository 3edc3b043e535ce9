$BURIN inspect model.onnx --dim batch
