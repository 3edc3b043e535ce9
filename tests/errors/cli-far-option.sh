$BURIN build model --zzzzzzzzz
