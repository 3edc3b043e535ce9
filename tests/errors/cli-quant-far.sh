$BURIN build model --quant=wonderful
