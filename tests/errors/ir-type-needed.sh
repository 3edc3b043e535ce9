cat > x.ir <<'END'
graph g(%x: f32[T, 4]) -> (%y) where T <= 9 {
  %y = state {kind="key"}
}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
