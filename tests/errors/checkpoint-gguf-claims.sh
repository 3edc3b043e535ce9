printf "GGUF\\003\\0\\0\\0\\377\\377\\377\\377\\377\\377\\377\\177\\0\\0\\0\\0\\0\\0\\0\\0" > x.gguf; $BURIN build x.gguf; s=$?; rm x.gguf; exit $s
