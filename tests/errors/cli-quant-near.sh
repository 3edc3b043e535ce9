$BURIN build model --quant=q8_1
