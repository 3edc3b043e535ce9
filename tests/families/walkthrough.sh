#!/bin/sh
# The walk-through of dsl/README.md: its description, taken from the page, makes a program with transformers' numbers; and it is the
# one in dsl/models.
. tests/lib.sh
awk '/^```burin/ { inside = 1; next } /^```/ { inside = 0 } inside' dsl/README.md > "$WORK/olmo2.burin"
"$BUILD/tools/family_weights" $FIXTURES/families/olmo2 "$WORK/model"
same "walk-through: the description" dsl/models/olmo2.burin "$WORK/olmo2.burin"
check "walk-through: builds" "$BURIN" build "$WORK/olmo2.burin" --weights "$WORK/model" --mcpu=x86-64-v3 -o "$WORK/olmo2"
tokens=$(od -An -v -w4 -j 128 -t d4 "$WORK/model/input_ids.npy" | xargs | tr ' ' ,)
check "walk-through: runs" "$WORK/olmo2" --tokens "$tokens" -n 0 --logits "$WORK/logits.npy"
check "walk-through: numbers" "$BUILD/tools/npy_near" "$WORK/logits.npy" "$WORK/model/logits.npy" 1e-5 largest
