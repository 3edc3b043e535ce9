$BURIN build model.gguf
