$BURIN ops model
