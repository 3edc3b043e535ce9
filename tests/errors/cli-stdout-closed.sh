$BURIN --help >&-
