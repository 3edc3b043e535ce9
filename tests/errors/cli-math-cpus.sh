"$BURIN" build "$TOP/examples/austen" --math=fast --mcpu=x86-64-v3 --target=x86_64-linux-gnu --emit=c > /dev/null
