$BURIN build one two
