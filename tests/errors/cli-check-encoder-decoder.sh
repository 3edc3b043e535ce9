$BURIN check $TOP/examples/numbers
