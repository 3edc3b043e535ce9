cp $TOP/examples/austen/model.safetensors x.safetensors
$BURIN build x.safetensors -o y; s=$?; rm x.safetensors; exit $s
