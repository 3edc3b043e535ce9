"$BURIN" check "$TOP/examples/austen" --against "$TOP/examples/austen/logits.npy"
