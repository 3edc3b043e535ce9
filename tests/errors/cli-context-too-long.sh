$BURIN build $TOP/examples/austen --ctx 100000 -o out
