$BURIN build model --mcpu=x86-64-v5
