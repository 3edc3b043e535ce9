$BURIN build $TOP/examples/austen --max-ram 64K -o out
