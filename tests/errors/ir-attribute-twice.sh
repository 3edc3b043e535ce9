cat > x.ir <<'END'
graph g(%x: f32[T, 4]) -> (%y) where T <= 9 {
  %y = cast(%x) {to=f16, to=f32}
}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
