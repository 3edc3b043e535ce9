mkdir m; echo "{\"model_type\": llama}" > m/config.json; cp $TOP/examples/austen/model.safetensors m; $BURIN build m -o out; s=$?; rm -r m; exit $s
