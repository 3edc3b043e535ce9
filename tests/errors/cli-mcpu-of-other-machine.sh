$BURIN build model --mcpu=cortex-a76
