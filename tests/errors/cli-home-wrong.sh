BURIN_HOME=/ $BURIN build $TOP/examples/austen -o out
