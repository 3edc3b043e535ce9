mkdir m; cp $TOP/examples/austen/model.safetensors m; sed "s/^{/{\n  \"use_moe\": true,/" $TOP/examples/austen/config.json > m/config.json; $BURIN build m -o out; s=$?; rm -r m; exit $s
