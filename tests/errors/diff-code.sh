mkdir -p a/runtime && touch a/MANIFEST; "$BURIN" diff a "$TOP/examples/austen"; s=$?; rm -r a; exit $s
