"$BURIN" check "$TOP/examples/austen" --against "$TOP/examples/austen/logits.npy" --input "tokens=$TOP/examples/austen/logits.npy"
