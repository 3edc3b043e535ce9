cat > x.ir <<'END'
// {"module":"../x"}
graph g() -> () {}
END
$BURIN build x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
