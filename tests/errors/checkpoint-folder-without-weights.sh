mkdir m; cp $TOP/examples/austen/config.json m; $BURIN build m -o out; s=$?; rm -r m; exit $s
