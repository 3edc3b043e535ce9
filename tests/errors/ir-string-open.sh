cat > x.ir <<'END'
graph g(%x: f32[T, 4]) -> (%y) where T <= 9 {
  %y = quantize_rows(%x) {format="q8_0}
}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
