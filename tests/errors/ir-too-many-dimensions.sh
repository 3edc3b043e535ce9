cat > x.ir <<'END'
graph g(%x: f32[1, 2, 3, 4, 5, 6, 7, 8, 9]) -> (%x) {}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
