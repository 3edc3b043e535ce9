$BURIN build model --max-ram=64Q
