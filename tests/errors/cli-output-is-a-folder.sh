mkdir out; $BURIN build $TOP/examples/austen -o out; s=$?; rmdir out; exit $s
