"$BURIN" help xyzzy
