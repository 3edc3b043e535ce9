$BURIN build model --mcpu=pentium
