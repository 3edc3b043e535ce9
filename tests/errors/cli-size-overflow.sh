$BURIN build model --max-ram=99999999999G
