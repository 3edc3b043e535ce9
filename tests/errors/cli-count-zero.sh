$BURIN build model --chunk 0
