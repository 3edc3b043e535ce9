$BURIN build model --target=z80
