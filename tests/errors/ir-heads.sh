cat > x.ir <<'END'
graph g(%x: f32[T, 4]) -> (%y) where T <= 9 {
  %y = attention(%x, %x, %x) {num_heads=4, num_kv_heads=3, scale=1.0}
}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
