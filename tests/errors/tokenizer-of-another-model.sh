printf "{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":2048}}}" > t.json
"$BURIN" build "$TOP/examples/austen" --tokenizer=t.json -o story; status=$?; rm t.json; exit $status
