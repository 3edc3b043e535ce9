printf "GGUF\\143\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0" > x.gguf; $BURIN build x.gguf; s=$?; rm x.gguf; exit $s
