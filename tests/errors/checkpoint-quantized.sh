mkdir m; cp $TOP/examples/austen/model.safetensors m
for q in '"quant_method": "fp8", "weight_block_size": [128, 128]' '"quant_method": "eetq"' '"bits": 4'; do
    sed "s/^{/{ \"quantization_config\": {$q},/" $TOP/examples/austen/config.json > m/config.json; $BURIN build m -o out; s=$?
done
rm -r m; exit $s
