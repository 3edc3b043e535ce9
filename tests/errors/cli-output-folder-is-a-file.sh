: > out.c; $BURIN build $TOP/examples/austen -o out.c; s=$?; rm out.c; exit $s
