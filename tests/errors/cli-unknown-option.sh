$BURIN build model --wieghts=x
