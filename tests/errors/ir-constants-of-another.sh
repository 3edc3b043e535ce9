$BURIN inspect $TOP/examples/austen --stop-after=infer --dump-ir=d > log || cat log
head -c 16 d/constants > some && mv some d/constants
$BURIN inspect d/01-infer.ir --start-from=fold; s=$?; rm -r d log; exit $s
