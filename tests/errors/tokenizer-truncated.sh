head -c 20000 $TOP/examples/austen/tokenizer.json > t.json; $BURIN build $TOP/examples/austen --tokenizer t.json -o out; s=$?; rm t.json; exit $s
