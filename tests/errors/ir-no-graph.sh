cat > x.ir <<'END'
graf g() -> () {}
END
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
