BURIN_OPTIMIZE=fast $BURIN build $TOP/examples/austen -o out
