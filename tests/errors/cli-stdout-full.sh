$BURIN inspect $TOP/examples/austen --stop-after=infer > /dev/full
