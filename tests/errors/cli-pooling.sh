$BURIN build model --pooling=middle
