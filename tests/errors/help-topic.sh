"$BURIN" help pases
