$BURIN inspect $TOP/examples/austen --quant=q4_0,ffn_dwn=q8_0 > /dev/null
$BURIN inspect $TOP/examples/austen --quant=Q4_0,head=q8_0,layers.0.=q6_k,token_embd=F16,head=q5_0 > /dev/null
