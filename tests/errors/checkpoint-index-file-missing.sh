mkdir m; cp $TOP/examples/austen/config.json m; echo "{\"weight_map\": {\"a\": \"model-1.safetensors\"}}" > m/model.safetensors.index.json; $BURIN build m -o out; s=$?; rm -r m; exit $s
