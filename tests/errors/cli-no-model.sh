$BURIN build
