#!/bin/sh
# An emitted program under AddressSanitizer and UBSan: an encoder-decoder of examples/, whose folder of C has the runtime's every
# part. slow-sanitized.sh takes other models, formats and compilers.
. tests/lib.sh
unsanitized "sanitized"
. tests/lib_sanitize.sh
level=
[ "$(uname -m)" != x86_64 ] || level=--mcpu=x86-64-v3
# shellcheck disable=SC2086 # an option or none
check "sanitized: numbers builds" sanitized_build numbers "$SANITIZE" "-O1 -g -fsanitize=address" examples/numbers $level
for cell in 1:1 2:64 3:5 7:3; do
    same_output "threads:chunk $cell" numbers einhundertacht -t "${cell%:*}" --chunk "${cell#*:}"
done
printf 'neun\n\n\303\244\377 zwei\nzwanzigtausendvierhundertelf\n' > "$WORK/lines"
same_output "lines of a file, one of them empty, one no UTF-8" numbers -f "$WORK/lines"
same_output "sampled" numbers siebzehn --temp 1.5 --top-k 5 --top-p 0.9 --min-p 0.01 --repeat-penalty 1.2 --seed 3 -n 30
same_output "ids and logits" numbers --tokens 5,6,7,8 --logits "$WORK/logits.npy" --logits-hash -n 5
same_output "the file that it wrote is no text" numbers -f "$WORK/logits.npy" -n 3
for refused in "--temp hot" "--tokens 1,x" "--tokens 99999" "-f /nowhere" "--ctx 0" "--cpu none" "--info" "--help"; do
    # shellcheck disable=SC2086 # words
    same_output "$refused" numbers $refused
done
