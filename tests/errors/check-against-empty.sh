mkdir recorded; "$BURIN" check "$TOP/examples/austen" --against recorded; s=$?; rmdir recorded; exit $s
