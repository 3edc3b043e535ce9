"$BURIN" check "$TOP/examples/austen" --against there.npz
