$BURIN inspect $TOP/examples/numbers --stop-after=fuse --dump-ir=d > log || cat log
sed '/^graph decode/,$d' d/05-fuse.ir > d/x.ir
$BURIN inspect d/x.ir --start-from=incremental; s=$?; rm -r d log; exit $s
