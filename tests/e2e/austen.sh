#!/bin/sh
# austen against PyTorch: greedy tokens, logits, perplexity; read at once and one token at a time.
. tests/lib.sh
model=examples/austen
expected="$BUILD/tools/expected $model/expected.json"
check "austen: builds" $BURIN build $model -o "$WORK/austen"

for i in 0 1 2; do
    $expected greedy $i next > "$WORK/expected"
    for chunk in 1 64; do
        "$WORK/austen" --tokens "$($expected greedy $i ids)" -n 200 --temp 0 --chunk $chunk > "$WORK/ids" 2>&1
        same "austen: greedy $i in chunks of $chunk" "$WORK/expected" "$WORK/ids"
    done
    $expected greedy $i text > "$WORK/expected"
    "$WORK/austen" "$($expected greedy $i prompt)" -n 200 --temp 0 > "$WORK/text" 2>&1
    same "austen: greedy $i as text" "$WORK/expected" "$WORK/text"
done

for chunk in 1 7 64; do
    "$WORK/austen" --tokens "$($expected first_tokens)" -n 0 --chunk $chunk --logits "$WORK/logits.npy"
    check "austen: logits in chunks of $chunk" "$BUILD/tools/npy_compare" "$WORK/logits.npy" $model/logits.npy 2e-4
done

within() { awk -v a="$1" -v b="$2" -v r="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; print a, b; exit !(a > 0 && d <= r * b) }'; }
got=$("$WORK/austen" --perplexity $model/held_out.txt --window 256 | sed "s/^perplexity \([0-9.]*\).*/\1/")
check "austen: perplexity" within "$got" "$($expected perplexity)" 1e-4
