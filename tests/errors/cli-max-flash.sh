$BURIN build $TOP/examples/austen --max-flash 64K -o out
