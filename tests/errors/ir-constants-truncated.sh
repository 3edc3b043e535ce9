$BURIN inspect $TOP/examples/austen --stop-after=infer --dump-ir=d > log || cat log
truncate -s 100000 d/constants
$BURIN inspect d/01-infer.ir --start-from=fold; s=$?; rm -r d log; exit $s
