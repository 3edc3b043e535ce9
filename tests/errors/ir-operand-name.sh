cat > x.ir <<'END'
graph g(%x: f32[T, 4]) -> (%y) where T <= 9 {
  %y = layer_normalization(%x, scale=%x) {epsilon=1e-5}
}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
