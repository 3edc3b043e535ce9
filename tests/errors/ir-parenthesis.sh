cat > x.ir <<'END'
graph g(%x: f32
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
