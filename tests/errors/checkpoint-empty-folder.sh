mkdir m; $BURIN build m -o out; s=$?; rmdir m; exit $s
