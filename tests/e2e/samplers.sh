#!/bin/sh
# Every step of the sampler against an oracle: transformers' logits processors, and llama.cpp's formulas in double precision
# (samplers.py wrote them).
. tests/lib.sh
"$BUILD/tools/sample" examples/austen/tokenizer.json < tests/e2e/samplers.txt > "$WORK/got"
echo "113 cases" > "$WORK/expected"
same "samplers: logits, what remains of them, its probabilities" "$WORK/expected" "$WORK/got"
