. "$TOP/tests/errors/inc/tiny_decoder.sh"
digits=$TOP/examples/digits/digits.onnx
$BURIN inspect $digits --ctx=5 --chunk=3 --quant=f32 --pooling=mean --tokenizer=$TOP/examples/austen/tokenizer.json > /dev/null
tiny_decoder "where(later, -inf, s)" "logits: [T, vocab_size]" "h @ table^T"
$BURIN inspect x.burin --weights m --quant=q8_0 > /dev/null
$BURIN run x.burin --weights m --interpret --mcpu=x86-64 --max-ram=1G --tokens 1,2 -n 0
s=$?
rm -r m x.burin
exit $s
