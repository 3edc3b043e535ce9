$BURIN build model --ctx=many
