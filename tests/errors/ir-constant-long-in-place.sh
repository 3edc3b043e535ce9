cat > x.ir <<'END'
graph g(%x: f32[T, 4]) -> (%y) where T <= 9 {
  %y = constant {value=[1, 2, 3]} : f32[40]
}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
