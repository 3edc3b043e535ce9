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

as_promised "austen: memory of a full context" "$WORK/austen" It --ignore-eos -n 500 -t 2
full=$_peak
as_promised "austen: memory of a few tokens" "$WORK/austen" It --ignore-eos -n 9 -t 2
check "austen: the cache grows with use: $_peak KB, full $full" test $((full - _peak)) -ge 1000

within() { awk -v a="$1" -v b="$2" -v r="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; print a, b; exit !(a > 0 && d <= r * b) }'; }
got=$("$WORK/austen" --perplexity $model/held_out.txt --window 256 | sed "s/^perplexity \([0-9.]*\).*/\1/")
check "austen: perplexity" within "$got" "$($expected perplexity)" 1e-4

# A trace: each thread's part of the work, one after the other, kernels with their sources and waits. Nothing of the text changes.
"$WORK/austen" It -n 8 --temp 0 > "$WORK/expected" 2> "$WORK/err"
"$WORK/austen" It -n 8 --temp 0 -t 2 --profile="$WORK/trace.json" > "$WORK/text" 2> "$WORK/err"
same "austen: the same text with a trace" "$WORK/expected" "$WORK/text"
at="$BUILD/tools/json_at $WORK/trace.json traceEvents"
check "austen: the trace has two threads" sh -c "[ \"\$($at.*.tid | sort -u | tr '\\n' ' ')\" = '0 1 ' ]"
check "austen: and kernels" sh -c "[ \$($at.*.name | grep -c '^matmul_bf16_192x320') -ge 96 ]"
check "austen: and waits" sh -c "[ \$($at.*.cat | grep -c '^wait') -ge 16 ]"
check "austen: and sources" sh -c "$at.*.args.source | grep -q '^llama.burin:[0-9]*:[0-9]* model.layers'"
check "austen: spans end before the next begins" sh -c "sed -n 's/.*\"tid\":\([0-9]*\),\"ts\":\([0-9.]*\),\"dur\":\([0-9.]*\).*/\1 \2 \3/p' '$WORK/trace.json' |
    awk '\$2 + 0.01 < last[\$1] { wrong = 1 } { last[\$1] = \$2 + \$3; n++ } END { exit wrong || n < 100 }'"
says "austen: a trace that cannot be written" 1 "--profile=$WORK: " "$WORK/austen" It -n 1 --profile="$WORK"
says "austen: --profile prints" 0 "time of thread 0" "$WORK/austen" It -n 1 --profile

# Weights at an odd byte of their file: one more space after the header.
mkdir "$WORK/odd"
cp $model/*.json "$WORK/odd"
header=$(od -An -N 8 -t u8 $model/model.safetensors | tr -d ' ') longer=$((header + 1))
for shift in 0 8 16 24 32 40 48 56; do
    # shellcheck disable=SC2059 # an escape
    printf "\\$(printf %o $((longer >> shift & 255)))"
done > "$WORK/odd/model.safetensors"
{ head -c $((8 + header)) $model/model.safetensors | tail -c "$header" && printf ' ' && tail -c +$((9 + header)) $model/model.safetensors; } >> "$WORK/odd/model.safetensors"
check "austen: builds from unaligned weights" $BURIN build "$WORK/odd" -o "$WORK/unaligned"
"$WORK/austen" --tokens "$($expected first_tokens)" -n 0 --logits-hash > "$WORK/expected"
"$WORK/unaligned" --tokens "$($expected first_tokens)" -n 0 --logits-hash > "$WORK/got" 2>&1
same "austen: the same bits from unaligned weights" "$WORK/expected" "$WORK/got"
