mkdir m; cp $TOP/examples/austen/config.json m; echo "{}" > m/model.safetensors.index.json; $BURIN build m -o out; s=$?; rm -r m; exit $s
