"$BURIN" build "$TOP/examples/austen" --mcpu=x86-64-v4+bf16 --target=x86_64-linux-gnu
