$BURIN inspect $TOP/examples/austen --quant=q4_0,ffn_dwn=q8_0 > /dev/null
