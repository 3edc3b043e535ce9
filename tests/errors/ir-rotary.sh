cat > x.ir <<'END'
graph g(%x: f32[T, 4]) -> (%y) where T <= 9 {
  %y = rotary_embedding(%x, %x, %x) {num_heads=2}
}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
