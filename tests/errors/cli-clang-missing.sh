mkdir bin; PATH=bin $BURIN build $TOP/examples/austen -o out; s=$?; rmdir bin; exit $s
