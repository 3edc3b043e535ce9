$BURIN build $TOP/examples/austen -O2 -o out
