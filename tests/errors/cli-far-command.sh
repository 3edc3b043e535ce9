$BURIN frobnicate
