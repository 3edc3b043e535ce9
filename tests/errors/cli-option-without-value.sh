$BURIN build model --quant
