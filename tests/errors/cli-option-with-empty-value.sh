$BURIN build model --quant=
