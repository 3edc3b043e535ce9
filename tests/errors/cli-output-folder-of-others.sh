mkdir x.c; touch x.c/mine; $BURIN build $TOP/examples/austen -o x.c; s=$?; rm -r x.c; exit $s
