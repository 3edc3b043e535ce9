echo nothing > a.npz; "$BURIN" check "$TOP/examples/austen" --against a.npz; s=$?; rm a.npz; exit $s
