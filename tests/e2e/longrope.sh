#!/bin/sh
# LongRoPE: programs for more positions than the original context (--ctx) compute what transformers does of a text as long.
. tests/lib.sh
unsanitized longrope
for case in phi3-longrope:40 phimoe-longrope:40 llama-longrope:72; do
    name=${case%:*} tokens=${case#*:}
    "$BUILD/tools/family_weights" "$FIXTURES/families/$name" "$WORK/$name"
    ids=$(awk "BEGIN { for (i = 0; i < $tokens; i++) printf \"%s%d\", i ? \",\" : \"\", (7 * i + 3) % 96 }")
    says "longrope: $name: said" 0 "turned by the long factors" $BURIN build "$WORK/$name" --ctx=$tokens --mcpu=x86-64-v3 -o "$WORK/long"
    "$WORK/long" --tokens "$ids" -n 0 --logits "$WORK/logits.npy" 2> "$WORK/said"
    check "longrope: $name: transformers' logits" "$BUILD/tools/npy_near" "$WORK/logits.npy" "tests/e2e/longrope/$name.npy" 2e-5
done
