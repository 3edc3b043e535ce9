$BURIN build model --require-fusion=yes
