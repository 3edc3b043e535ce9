$BURIN build $TOP/examples/austen -o nowhere/out
