(ulimit -f 4000; $BURIN build $TOP/examples/austen -o x.c --mcpu=x86-64 > log 2> text); s=$?
sed 's/\.x\.c\.\(......\)\//.x.c.RANDOM\//' text; rm log text; exit $s
