#!/bin/sh
# `burin check --bisect`: a fault that is built into a pass (compiler/passes/fault.h) is named, and reduced to a graph of a few nodes;
# a pass that crashes leaves the graph before it and the command that repeats the crash.
. tests/lib.sh
unsanitized bisect
tar xJf tests/e2e/against.tar.xz -C "$WORK"
model=$WORK/against/llama
for right in "$model" "$WORK/against/t5" examples/digits/digits.onnx; do
    says "bisect: no pass changes the numbers of ${right##*/}" 0 "no pass changed the numbers" $BURIN check "$right" --bisect
done
says "bisect: formats of --quant are other numbers, and no fault" 0 "other formats" $BURIN check "$model" --bisect --quant f16

# faulty NAME FILE FAULT: $WORK/NAME is burin with FAULT=VALUE in this file
export BURIN_HOME="$PWD"
faulty() {
    gcc -std=gnu17 -ffp-contract=off -O0 -D_GNU_SOURCE -I. -Icompiler -Iruntime -I$BUILD/gen "-D$3" "compiler/passes/$2" \
        $BUILD/compiler/main.o $BUILD/libburin.a -ljansson -lprotobuf-c -lz -lm -lpthread -o "$WORK/$1" || not_ok "bisect: building $1"
}
faulty epsilon recognise/norm.c FAULT_NORM_EPSILON=1e-3
says "bisect: the node that norms changed" 1 "the pass norms changed the numbers, first those of " "$WORK/epsilon" check "$model" --bisect
check "bisect: how far" grep -q ': the output logits is .*, it was .*, rounding explains ' "$WORK/says"
check "bisect: before and after" grep -q 'note: after it: .*rms_normalization(.*epsilon=0.00101' "$WORK/says"
line=$(sed -n '/"input_layernorm"/=' dsl/models/llama.burin)
check "bisect: and its line" grep -q "llama.burin:$line:[0-9]*: error" "$WORK/says"

# To a few nodes, of a graph of hundreds, and the smaller one still fails.
deep=$SHARED/data/families/qwen3
[ -d "$deep" ] || deep=$model
"$WORK/epsilon" check "$deep" --bisect --reduce -o "$WORK/small.ir" > "$WORK/said" 2>&1
check "bisect: $(grep 'nodes of' "$WORK/said")" [ "$(grep -c ' = ' "$WORK/small.ir")" -lt 10 ]
check "bisect: the smaller graph fails" grep -q rms_normalization "$WORK/said"
says "bisect: --start-from runs it" 1 "the pass norms changed the numbers, first those of y: the output y is" "$WORK/epsilon" check "$WORK/small.ir" --start-from=norms --bisect
says "bisect: right passes change nothing of it" 0 "no pass changed the numbers" $BURIN check "$WORK/small.ir" --start-from=norms --bisect
check "bisect: no error was planted in a small graph" [ "$(sed -n 's/.* nodes of \([0-9]*\).*/\1/p' "$WORK/said")" -ge 150 ]

# Crashes.
faulty crash pass.c FAULT_ABORT=PASS_pack
here=$PWD
cd "$WORK" || exit 1
says "crash: is a bug" 134 "error: the pass pack aborts: this is a bug of burin" ./crash build "$model" -o x --chunk 4
command=$(sed -n 's/.*this repeats it: burin //p' "$WORK/says")
check "crash: the graph before it is there" grep -q '^graph decode' llama.crash/*-keep_floats.ir
check "crash: nothing else is left" [ ! -e x ]
says "crash: the command repeats it" 134 "the pass pack aborts" ./crash $command
check "crash: with the options: $command" test "$command" = "build $(ls llama.crash/*-keep_floats.ir) --start-from=pack --chunk=4"
check "crash: reduced" sh -c "./crash check '$model' --bisect --reduce -o c.ir | grep -q '^pack *crashes' && [ -s c.ir ]"
cd "$here" || exit 1
faulty operand pass.c FAULT_OPERAND=PASS_pack
cd "$WORK" || exit 1
says "crash: a graph that does not verify" 1 "the pass pack leaves a graph that is wrong" ./operand build "$model" -o x
