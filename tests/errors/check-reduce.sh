"$BURIN" check "$TOP/examples/austen" --reduce -o x.ir
