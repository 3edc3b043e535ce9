. "$TOP/tests/errors/inc/quick_clang.sh"
touch cache; XDG_CACHE_HOME=cache $BURIN run $TOP/examples/austen --mcpu=x86-64-v3 --tokens 0 -n 0; s=$?; rm -r bin cache; exit $s
