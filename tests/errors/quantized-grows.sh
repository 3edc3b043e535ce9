$BURIN inspect $TOP/tests/formats/folders/hqq4_axis0 --stop-after=infer > /dev/null
