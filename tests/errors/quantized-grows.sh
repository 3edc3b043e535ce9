$BURIN inspect $TOP/tests/formats/folders/ct8_one --stop-after=infer > /dev/null
