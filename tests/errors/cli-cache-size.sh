BURIN_CACHE_SIZE=lots $BURIN build $TOP/examples/austen --mcpu=x86-64-v3 -o out > /dev/null; s=$?; rm -f out; exit $s
