$BURIN inspect $TOP/examples/austen --bind=x=tokens
