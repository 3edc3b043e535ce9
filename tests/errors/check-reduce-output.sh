"$BURIN" check "$TOP/examples/austen" --bisect --reduce
