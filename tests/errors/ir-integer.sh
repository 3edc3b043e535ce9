cat > x.ir <<'END'
graph g(%x: f32[T, 4]) -> (%y) where T <= 9 {
  %y = softmax(%x) {axis=99999999999999999999}
}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
