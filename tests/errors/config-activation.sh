mkdir m; cp $TOP/examples/austen/model.safetensors m; sed "s/\"silu\"/\"xielu\"/" $TOP/examples/austen/config.json > m/config.json; $BURIN build m -o out; s=$?; rm -r m; exit $s
