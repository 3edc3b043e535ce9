cat > x.ir <<'END'
graph g(%x: f32[T, 4]) -> (%y) where T <= 9 {
  %i = constant {value=[1]} : i32[1]
  %y = cache_append(%x, %x, %i, %i) {heads=1}
}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
