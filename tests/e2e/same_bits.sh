#!/bin/sh
# One hash of all logits over every CPU, number of threads and chunk, for products of integers, and of floats in one layer, whose
# kernels levels share; the interpreter gives it too. With the order of k reversed in one kernel, the hashes differ.
# slow-same_bits.sh has the other formats. Arguments: formats.
. tests/lib.sh
optimized
unsanitized "same bits"
. tests/bits.sh
model=examples/austen
tokens=$(seq -s , 1000 1051) # enough rows for AMX tiles
for format in ${*:-q8_0}; do
    rules=$format,layers.0.=f16
    matrix "austen $format" $model --quant "$rules"
    head -n 1 "$WORK/cells" | cut -c 1-16 > "$WORK/expected"
    $BURIN run $model --quant "$rules" --interpret --tokens "$tokens" -n 0 --logits-hash > "$WORK/got" 2> "$WORK/said"
    same "same bits: austen $format in the interpreter" "$WORK/expected" "$WORK/got"
done

$BURIN build $model --quant "$rules" -O1 --mcpu=x86-64-v3 -o "$WORK/quick" > "$WORK/said" 2>&1 || cat "$WORK/said"
"$WORK/quick" --tokens "$tokens" -n 0 --logits-hash > "$WORK/got" 2>&1
same "same bits: austen $format by -O1" "$WORK/expected" "$WORK/got"
check "same bits: its --info says so" sh -c "'$WORK/quick' --info | grep -q '^compiler .* -O1 '"

# The mutation: the kernel of several rows adds its products from the last k to the first.
home_with_fault FAULT_K_DESCENDING 1
BURIN_HOME=$WORK/home $BURIN build $model --quant f32 -O1 --mcpu=x86-64-v3 -o "$WORK/mutant" > "$WORK/said" 2>&1 || cat "$WORK/said"
: > "$WORK/cells"
threads=1
cells x86-64-v3 "$WORK/mutant"
check "same bits: the mutation is seen: $(hashes) hashes" [ "$(hashes)" -gt 1 ]
