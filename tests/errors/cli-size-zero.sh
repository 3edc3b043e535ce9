$BURIN build model --max-ram=0
