. "$TOP/tests/errors/inc/quick_clang.sh"
unset HOME XDG_CACHE_HOME; $BURIN run $TOP/examples/austen --mcpu=x86-64-v3 --tokens 0 -n 0; s=$?; rm -r bin; exit $s
