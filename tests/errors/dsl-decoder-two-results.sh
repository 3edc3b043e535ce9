. "$TOP/tests/errors/inc/tiny_decoder.sh"
tiny_decoder "where(later, -inf, s)" "logits: [T, vocab_size], hidden: [T, hidden_size]" "h @ table^T, h"
$BURIN inspect x.burin --weights m > out
s=$?
grep '^context' out
rm -r m x.burin out
exit $s
