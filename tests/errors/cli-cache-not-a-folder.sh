touch cache; XDG_CACHE_HOME=cache $BURIN run $TOP/examples/austen; s=$?; rm cache; exit $s
