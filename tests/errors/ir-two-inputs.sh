cat > x.ir <<'END'
graph g(%x: f32, %x: f32) -> (%x) {}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
