"$BURIN" build "$TOP/examples/austen" --target=all-linux --mcpu=cortex-a76 -o all
