$BURIN build model --quant=q4_k_m,head
$BURIN build model --quant=q4_k_m,head=q9_k
$BURIN build model --quant=q4_0$(printf ',head=q8_0%.0s' $(seq 33))
$BURIN build $TOP/examples/austen -o x --quant=q4_0,head=Q4_K_M
