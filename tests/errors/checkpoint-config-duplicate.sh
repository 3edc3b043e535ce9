mkdir m && cp "$TOP/examples/austen/model.safetensors" m
sed "s/\"mlp_bias\": false/\"hidden_size\": 64/" "$TOP/examples/austen/config.json" > m/config.json
"$BURIN" build m -o story; status=$?; rm -r m; exit $status
