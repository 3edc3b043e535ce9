$BURIN build model.ir
