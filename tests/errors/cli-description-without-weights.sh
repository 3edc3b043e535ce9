$BURIN build model.burin
