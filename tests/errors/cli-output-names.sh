long=$(printf '%0120d' 1)
for name in x.SO x.C .so out/.c libx.so.1 out/string.a threads.c - out/ $long.a; do
    $BURIN build $TOP/examples/austen -o $name
done
exit $?
