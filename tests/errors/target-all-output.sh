"$BURIN" build "$TOP/examples/austen" --target=all-linux
