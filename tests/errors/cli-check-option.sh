$BURIN check $TOP/examples/austen --output=x
