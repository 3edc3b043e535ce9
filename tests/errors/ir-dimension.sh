cat > x.ir <<'END'
graph g(%x: f32[T, U]) -> (%x) where T <= 9 {}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
