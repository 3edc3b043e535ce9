$BURIN build $SHARED/data/onnx/exports/gpt2-optimum-nocache/model.onnx --dim batch_size=1 -o out
