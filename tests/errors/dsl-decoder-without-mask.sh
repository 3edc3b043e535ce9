. "$TOP/tests/errors/inc/tiny_decoder.sh"
tiny_decoder s "logits: [T, vocab_size]" "h @ table^T"
$BURIN inspect x.burin --weights m --ctx=16 > /dev/null
s=$?
rm -r m x.burin
exit $s
