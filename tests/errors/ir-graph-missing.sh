$BURIN inspect $TOP/examples/numbers --stop-after=fuse --dump-ir=d > log || cat log
sed -e '/^graph decode/,$d' -e '1s|"description":"[^"]*"|"description":"marian.burin"|' d/*-fuse_elementwise.ir > d/x.ir
$BURIN inspect d/x.ir --start-from=incremental; s=$?; rm -r d log; exit $s
