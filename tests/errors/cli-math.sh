"$BURIN" build "$TOP/examples/austen" --math=quick
