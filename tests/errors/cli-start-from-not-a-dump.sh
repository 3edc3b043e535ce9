$BURIN build model.gguf --start-from=fuse
