#!/bin/sh
# --profile of a step with more calls than there were accounts for once: each has its own, and their time is not called waiting.
. tests/lib.sh
{
    printf '%s\n' 'ir 10' 'opset 20' 'input x f32 [2,8]' 'output y600 f32 [2,8]' 'node Softmax x -> y1'
    i=1 random=7
    while [ $i -lt 600 ]; do
        random=$((random * 75 % 65537))
        echo "node Softmax y$i -> y$((i + 1)) : axis=$((random % 2))"
        i=$((i + 1))
    done
} > "$WORK/deep.txt"
"$BUILD/tools/onnx_of_text" "$WORK/deep.onnx" < "$WORK/deep.txt"
check "a deep network builds" "$BURIN" build "$WORK/deep.onnx" --mcpu=native -O1 -o "$WORK/deep"
"$WORK/deep" --random --hash -t 1 --profile > "$WORK/said" 2>&1
sites=$("$BURIN" build "$WORK/deep.onnx" --emit=c 2> "$WORK/none" | grep -c 'DONE(')
check "its text is long: $sites" [ "$sites" -gt 520 ]
check "every call has an account" [ "$(grep ' calls ' "$WORK/said" | grep -vc waiting)" = $((sites - 1)) ]
