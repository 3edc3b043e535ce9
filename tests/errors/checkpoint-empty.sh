: > x.gguf; $BURIN build x.gguf; s=$?; rm x.gguf; exit $s
