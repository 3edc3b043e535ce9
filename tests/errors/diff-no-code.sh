mkdir -p a/runtime && touch a/MANIFEST; "$BURIN" diff a a; s=$?; rm -r a; exit $s
