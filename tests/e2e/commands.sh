#!/bin/sh
# Output of the commands: help, lists, inspect, reports, the text of the IR and of C.
. tests/lib.sh
model=examples/austen

says "commands: version" 0 "burin 0." $BURIN --version
says "commands: help" 0 "burin compiles one Transformer into one standalone program." $BURIN --help
for command in build run check inspect bench; do says "commands: help of $command" 0 "--quant=FORMAT" $BURIN $command --help; done
says "commands: ops" 0 "rotary_embedding" $BURIN ops
says "commands: a list" 0 "rotary_embedding" $BURIN list ops
says "commands: targets" 0 "--mcpu=x86-64-v3" $BURIN targets
says "commands: targets: both machines" 0 "--target=aarch64-linux-gnu" $BURIN targets
says "commands: targets: what is missing for one" 0 "missing: qemu-riscv64-static (apt-get install qemu-user-static)" env PATH=/nowhere $BURIN targets
says "commands: targets: for those without a system" 0 "missing: arm-none-eabi-gcc, qemu-system-arm (apt-get install gcc-arm-none-eabi qemu-system-arm)" \
    env PATH=/nowhere $BURIN targets
says "commands: targets: without a compiler" 0 "missing: clang (apt-get install clang-19)" env PATH=/nowhere $BURIN targets
$BURIN targets > "$WORK/targets"
for other in wasm windows apple android musl armv6 thumbv7m i686 big-endian powerpc64le; do check "commands: targets: why $other is none" grep -q "^no target: $other  *[A-Za-z]" "$WORK/targets"; done
check "commands: targets: how each is tested" [ "$(grep -c '  --mcpu=' "$WORK/targets")" -gt 9 -a "$(grep -c '  --mcpu=' "$WORK/targets")" = "$(grep -c '  tested: .*make test' "$WORK/targets")" ]
for tested in $(sed -nE 's/.*tested: qemu.* (-cpu|-M) ([a-z0-9=-]*).*/\2/p' "$WORK/targets"); do
    check "commands: targets: $tested is in a test of them" grep -qE "[ :]$tested( |,|\$|;)" tests/lib_machines.sh tests/arm/boards.sh
done
says "commands: run without qemu" 1 "programs for riscv64-linux-gnu run here by qemu-riscv64-static, which is missing" \
    env PATH=/nowhere $BURIN run examples/digits/digits.onnx --target=riscv64-linux-gnu
if command -v arm-linux-gnueabihf-gcc > /dev/null; then
    says "commands: more than 32 bits address" 1 " GB of weights and cache do not fit the 2 GB that a program for arm-linux-gnueabihf can count on" \
        $BURIN build examples/austen --target=arm-linux-gnueabihf --ctx=4000000 -o "$WORK/large"
else skip "commands: more than 32 bits address" "no arm-linux-gnueabihf-gcc"; fi
says "commands: targets: what comes with weights in blocks" 0 "Zen 4 and later (default with weights in blocks)" $BURIN targets
# cpus NAME EXPECTED OPTIONS...
cpus() {
    _said=$($BURIN build $model -o "$WORK/cpus.c" "$3" "$4" | sed -n "\$s,;.*,,p")
    check "commands: $1: ${_said#*: }" [ "${_said#*: }" = "a folder of C for $2" ]
}
cpus "the CPUs of a program" "x86-64-v3 x86-64-v4" --target=x86_64-linux-gnu --quant=bf16
cpus "of one that multiplies integers" "x86-64-v3 x86-64-v3+vnni x86-64-v4 x86-64-v4+vnni x86-64-v4+amx" --target=x86_64-linux-gnu --quant=q8_0
cpus "that were asked for" "x86-64-v3 x86-64-v4+vnni" --target=x86_64-linux-gnu --mcpu=znver4,haswell
cpus "of ARM" "armv8-a" --target=aarch64-linux-gnu --quant=f32
cpus "of ARM that multiplies integers" "armv8-a armv8.2-a+dotprod armv8.2-a+i8mm" --target=aarch64-linux-gnu --quant=q4_0
says "commands: models" 0 "llama                  LLaMA" $BURIN models
says "commands: models: papers" 0 "https://arxiv.org/abs/2302.13971" $BURIN models
says "commands: inspect: bytes of the constants" 0 "f32[512, 16]" $BURIN inspect $model
says "commands: inspect: number of an op" 0 "attention                         6" $BURIN inspect $model
for model_file in tests/formats/mixed/model.gguf $FIXTURES/formats/folders/gptq4_cut examples/austen/model.safetensors; do
    $BURIN inspect $model_file 2> /dev/null | sed -e '/^model /,$d' -e "s|$FIXTURES/|tests/|"
done > "$WORK/weights"
same "commands: inspect: what is in files of weights" tests/e2e/inspect.txt "$WORK/weights"
says "commands: inspect: another file" 0 "graph decode(" $BURIN inspect $model --emit=ir
says "commands: inspect: a description" 0 "graph decode(" $BURIN inspect dsl/models/llama.burin --weights $model --stop-after=infer
says "commands: the report of the fusions" 0 "attention                       6        0" $BURIN build $model --report --stop-after=fuse
says "commands: no fusion missed" 0 "a program" $BURIN build $model --require-fusion -o "$WORK/austen"
says "commands: C text" 0 "forward_" $BURIN build $model --emit=c
says "commands: C text is printed, not written" 0 "$WORK/text has no effect: --emit prints" $BURIN build $model --emit=c -o "$WORK/text"
says "commands: steps and commands" 0 "+ clang-19" $BURIN build $model -v --mcpu=x86-64-v3 -o "$WORK/austen"
says "commands: objects that are kept" 0 "a program" $BURIN build $model --save-temps --mcpu=x86-64-v3 -o "$WORK/kept"
check "commands: they are there" [ -s "$WORK/kept.temps/model.c" ]
says "commands: a description with weights" 0 "a program" $BURIN build dsl/models/llama.burin --weights $model --tokenizer $model/tokenizer.json \
    --mcpu=x86-64-v3 -o "$WORK/described"
check "commands: it writes as the folder's" [ "$("$WORK/austen" "It was" -n 9 --temp 0)" = "$("$WORK/described" "It was" -n 9 --temp 0)" ]
says "commands: a native program" 0 "a program for" $BURIN build $model --mcpu=native -o "$WORK/native"
need=$($BURIN build $model --max-ram 64K --mcpu=x86-64-v3 -o "$WORK/small" 2>&1 | sed -n 's/.*the program needs [0-9.]* MB (\([0-9]*\) bytes).*/\1/p')
says "commands: a promise of memory" 0 "a program" $BURIN build $model --max-ram "$need" --mcpu=x86-64-v3 -o "$WORK/small"
says "commands: of a byte less" 1 "($need bytes)" $BURIN build $model --max-ram "$((need - 1))" --mcpu=x86-64-v3 -o "$WORK/smaller"
says "commands: bench" 0 "decode at 0" $BURIN bench $model --ctx 64 --mcpu=x86-64-v3

# A machine where a file of the cross compiler is missing: hidden in a namespace of our own, where that is allowed.
hide='mount -t tmpfs none "$0" && exec "$@"'
for folder in /usr/aarch64-linux-gnu /usr/lib/gcc-cross; do
    unshare -rm sh -c "$hide" $folder true 2> /dev/null || { skip "commands: without $folder" "it cannot be hidden" && continue; }
    says "commands: without $folder, the packages" 1 "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross" \
        unshare -rm sh -c "$hide" $folder $BURIN build $model --target=aarch64-linux-gnu -o "$WORK/cross"
done
