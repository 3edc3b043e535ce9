env -u HOME -u XDG_CACHE_HOME $BURIN run $TOP/examples/austen
