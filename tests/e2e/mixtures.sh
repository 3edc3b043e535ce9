#!/bin/sh
# Mixtures of experts as exporters write them (mixtures.py makes mixtures.tar.xz): loops over
# experts that take their rows, marks of one, matrices that are gathered or all in one tensor,
# operators of com.microsoft. Each computes the selected experts alone, with ONNX Runtime's logits;
# others are reported as missed.
. tests/lib.sh
unsanitized "mixtures"
tar -xJf tests/e2e/mixtures.tar.xz -C "$WORK"
tokens=5,17,30,2,30,11,7,23,9

# mixture NAME EXPERT_PRODUCTS: two of a mixture, gate and up in one
mixture() {
    "$BURIN" inspect "$WORK/$1.onnx" > "$WORK/inspect" 2>&1
    check "$1: the chosen experts alone" grep -qE "^expert_matmul +$2\$" "$WORK/inspect"
    check "$1: no product with all" awk '/^mixture of experts/ { seen = 1; missed = $NF } END { exit !seen || missed }' "$WORK/inspect"
    shift 2
    "$BURIN" run "$WORK/$name.onnx" --interpret "$@" > "$WORK/out" 2>&1
    check "$name: ONNX Runtime's logits" "$BUILD/tools/npy_near" "$WORK/logits.npy" "$WORK/$name.npy" 1e-5 largest
}
for name in loop-scr loop-dyn deepseek-own-scr deepseek-dyn marks-scr marks-dyn one-hot-scr lookup-scr lookup-dyn lookup-add-dyn \
    lookup-einsum-scr stack-scr stack-dyn stack-einsum-dyn; do
    mixture $name 2 --tokens $tokens -n 0 --logits "$WORK/logits.npy"
done
for name in moe moe-relu qmoe; do
    mixture $name 2 --input input_ids="$WORK/tokens.npy" --output "$WORK"
done

says "odd-scr: --require-fusion names the mixture" 1 "error: mixture of experts is not fused" \
    "$BURIN" build "$WORK/odd-scr.onnx" --require-fusion -o "$WORK/program"
check "odd-scr: and writes no program" test ! -e "$WORK/program"
"$BURIN" run "$WORK/odd-scr.onnx" --interpret --tokens $tokens -n 0 --logits "$WORK/logits.npy" > "$WORK/out" 2>&1
check "odd-scr: ONNX Runtime's logits" "$BUILD/tools/npy_near" "$WORK/logits.npy" "$WORK/odd-scr.npy" 1e-5 largest

for name in deepseek-dyn lookup-scr; do
    check "$name builds" "$BURIN" build "$WORK/$name.onnx" --mcpu=native --require-fusion -o "$WORK/program"
    "$BURIN" run "$WORK/$name.onnx" --interpret --tokens $tokens -n 0 --logits "$WORK/logits.npy" > "$WORK/out" 2>&1
    for chunk in 1 4 9; do
        "$WORK/program" --tokens $tokens -n 0 --chunk $chunk --logits "$WORK/program.npy" > "$WORK/out" 2>&1
        same "$name: the interpreter's bits in chunks of $chunk" "$WORK/logits.npy" "$WORK/program.npy"
    done
done
