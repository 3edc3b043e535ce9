TMPDIR=/nowhere $BURIN build $TOP/examples/austen -o out
