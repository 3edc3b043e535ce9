$BURIN inspect $TOP/examples/austen --stop-after=infer --dump-ir=d > log || cat log
printf X | dd of=d/constants bs=1 seek=400000 conv=notrunc 2> log
$BURIN inspect d/01-infer.ir --start-from=fold; s=$?; rm -r d log; exit $s
