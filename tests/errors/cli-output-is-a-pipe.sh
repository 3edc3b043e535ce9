mkfifo out; $BURIN build $TOP/examples/austen -o out; s=$?; test -p out && rm out; exit $s
