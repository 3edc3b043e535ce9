cat > x.ir <<'END'
graph g(%x: f33[4]) -> (%x) {}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
