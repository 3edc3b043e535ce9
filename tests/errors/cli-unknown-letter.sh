$BURIN build model -q
