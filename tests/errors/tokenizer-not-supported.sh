sed "s/\"ByteLevel\"/\"Odd\"/" "$TOP/examples/austen/tokenizer.json" > t.json
"$BURIN" build "$TOP/examples/austen" --tokenizer=t.json -o story; status=$?; rm t.json; exit $status
