cat > x.ir <<'END'
// {"module":"x","context":-3}
graph g() -> () {}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
