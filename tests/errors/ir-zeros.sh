head -c 100 /dev/zero > x.ir
$BURIN inspect x.ir --start-from=simplify; s=$?; rm x.ir; exit $s
