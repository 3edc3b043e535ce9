cat > x.ir <<'END'
graph g(%x: f32[T, 4]) -> (%y) where T <= 9 {
  %w = constant {value=[1, 2, 3, 4]} : f32[1, 4]
  %p = pack(%w) {format="f32"}
  %y = matmul_packed(%x, %p) {columns=1, epilogue=add($0, $1)}
}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
