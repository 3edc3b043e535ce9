cp $TOP/LICENSE t.json; $BURIN build $TOP/examples/austen --tokenizer t.json -o out; s=$?; rm t.json; exit $s
