cat > x.ir <<'END'
// {"module":"x","suppress":[1,-9]}
graph g() -> () {}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
