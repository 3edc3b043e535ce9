mkdir m; cp $TOP/examples/austen/config.json m; printf "PK\003\004pytorch" > m/pytorch_model.bin; $BURIN build m -o out; s=$?; rm -r m; exit $s
