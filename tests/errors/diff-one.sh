"$BURIN" diff "$TOP/examples/austen"
