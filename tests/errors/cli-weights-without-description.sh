$BURIN build model.gguf --weights=other.gguf
