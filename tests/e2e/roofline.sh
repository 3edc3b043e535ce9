#!/bin/sh
# --bench --roofline: limits of this machine, and every kernel of a step of one row and of a prompt; costs are those of the report.
. tests/lib.sh
$BURIN build examples/austen -o "$WORK/austen" --mcpu=x86-64-v3 > "$WORK/said" 2>&1 || sed 's/^/# /' "$WORK/said"
"$WORK/austen" --bench --roofline --positions 0 > "$WORK/roofline" 2>&1
check "roofline: limits of this machine" grep -qE '^this machine: [0-9.]+ GB/s read, of 5.6 MB; [0-9.]+ GFLOP/s of f32 multiply-adds$' "$WORK/roofline"
check "roofline: a step of one row and one of a prompt" [ "$(sed -n 's/, [0-9.]* ms a step (thread 0), .* waiting$//p' "$WORK/roofline" | tr '\n' ' ')" = "1 row 128 rows " ]
$BURIN build examples/austen --emit=c > "$WORK/austen.c"
sites=$(grep -c 'DONE(' "$WORK/austen.c")
check "roofline: every call of the text has its line, twice" [ "$(grep -c 'llama.burin:' "$WORK/roofline")" = $((2 * (sites - 1))) ]
# GB/s times microseconds a call are the bytes that the matrix has; operations a row are two for each of its elements
cost() { awk -v name="$1" -v rows="$2" '/ rows?, /{ here = $1 } here == rows && $0 ~ name { print $('"$3"') * $5 * 1e3; exit }' "$WORK/roofline"; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0.97 * b && a < 1.03 * b) }'; }
check "roofline: bytes of a matrix" near "$(cost matmul_bf16_192x512_silu 128 7)" $((2 * 192 * 1024))
check "roofline: operations of 128 rows" near "$(cost matmul_bf16_192x512_silu 128 9)" $((128 * 2 * 192 * 1024))
check "roofline: of the logits those of one row" near "$(cost matmul_bf16_192x2048 128 9)" $((2 * 192 * 2048))
says "roofline: without --bench" 2 "--roofline without --bench" "$WORK/austen" --roofline
# The loop that measures the limit keeps its chains in registers and computes all of them; otherwise
# the limit is a third of the real one.
limit() {
    clang-19 -std=gnu17 -D_GNU_SOURCE -O2 -Iruntime -S -o - runtime/bench/roofline.c | sed -n "/^fma_$1:/,/\\.size/p" | grep -E 'vfmadd|fmla'
}
for vectors in avx2 avx512; do
    [ "$(uname -m)" = x86_64 ] || break
    limit $vectors > "$WORK/fma"
    check "roofline: the multiply-adds of $vectors" [ $(($(wc -l < "$WORK/fma") % 12)) = 0 ]
    check "roofline: twelve chains of them, in registers" [ "$(cut -d'#' -f1 "$WORK/fma" | sort -u | grep -vc '(')" = 12 ]
done
