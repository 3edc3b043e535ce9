head -c 100000 $TOP/examples/austen/model.safetensors > x.safetensors; $BURIN build x.safetensors; s=$?; rm x.safetensors; exit $s
