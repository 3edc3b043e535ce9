mkdir m; cp $TOP/examples/austen/config.json m; echo "{}" > m/pytorch_model.bin.index.json; $BURIN build m -o out; s=$?; rm -r m; exit $s
