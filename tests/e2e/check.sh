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

# Networks: random tensors in, every kernel compared. Encoder-decoders: both graphs.
families=$SHARED/data/families exports=$SHARED/data/onnx/exports
for model in "$families/bert" "$families/t5" examples/numbers examples/digits/digits.onnx \
    "$exports/bert-optimum-enc/model.onnx" "$exports/whisper-optimum-s2s-decoder/model.onnx"; do
    [ -e "$model" ] || { skip "check: $model" "not here"; continue; }
    check "check: $model" "$BURIN" check "$model"
done

# With the same mutation an encoder-decoder's first wrong node is its encoder's, and all 12 norms of its two graphs are wrong.
[ -d "$families/t5" ] || { skip "check: a wrong encoder-decoder" "$families is missing" && exit 0; }
BURIN_HOME=$WORK/home $BURIN check "$families/t5" > "$WORK/said" 2>&1
check "check: t5 fails" [ $? = 1 ]
line=$(sed -n 's/.*t5.burin:\([0-9]*\):.*rms_normalization.*/\1/p' "$WORK/said")
check "check: and names the encoder's norm" [ "${line:-999}" -lt "$(sed -n '/^graph decode/=' dsl/models/t5.burin)" ]
check "check: all norms of both graphs are outside" grep -q ', 12 outside of their bounds' "$WORK/said"
