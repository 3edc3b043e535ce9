$BURIN build $TOP/examples/austen --tokenizer nowhere.json -o out
