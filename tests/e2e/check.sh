#!/bin/sh
# `burin check`: every kernel's result is within what rounding explains; a kernel that is wrong is named.
. tests/lib.sh
for options in "" "--quant q8_0" "--quant f16 --mcpu x86-64" "--chunk 1"; do
    # shellcheck disable=SC2086 # words
    check "check: austen ${options:-as it is}" $BURIN check examples/austen $options
done

# The mutation: norms with another epsilon.
home_with_fault FAULT_EPSILON 0.001f
BURIN_HOME=$WORK/home $BURIN check examples/austen > "$WORK/said" 2>&1
check "check: it fails" [ $? = 1 ]
check "check: and names the kernel" grep -q 'llama.burin:.*error: .*rms_normalization' "$WORK/said"

# Networks: random tensors in, every kernel compared.
for model in "$SHARED/data/families/bert" examples/digits/digits.onnx; do
    [ -e "$model" ] || { skip "check: $model" "not here"; continue; }
    check "check: $model" "$BURIN" check "$model"
done
