#!/bin/sh
# What the commands say: help, lists, inspect, reports, the text of the IR and of C.
. tests/lib.sh
model=examples/austen

# says NAME TEXT COMMAND...: the command succeeds, and prints a line with the text
says() {
    _what=$1 _text=$2
    shift 2
    "$@" > "$WORK/said" 2>&1
    _status=$?
    if [ $_status = 0 ] && grep -qF -e "$_text" "$WORK/said"; then ok "commands: $_what"; else
        not_ok "commands: $_what (status $_status)"
        head -n 20 "$WORK/said" | sed 's/^/# /'
    fi
}
says "version" "burin 0." $BURIN --version
says "help" "burin compiles one Transformer into one standalone program." $BURIN --help
for command in build run check inspect bench; do says "help of $command" "--quant=FORMAT" $BURIN $command --help; done
says "ops" "rotary_embedding" $BURIN ops
says "targets" "--mcpu=x86-64-v3" $BURIN targets
says "targets: both machines" "--target=aarch64-linux-gnu" $BURIN targets
says "models" "llama                  LLaMA" $BURIN models
says "models: papers" "https://arxiv.org/abs/2302.13971" $BURIN models
says "inspect: bytes of the constants" "f32[512, 16]" $BURIN inspect $model
says "inspect: number of an op" "attention                         6" $BURIN inspect $model
says "inspect: another file" "graph decode(" $BURIN inspect $model --emit=ir
says "inspect: a description" "graph decode(" $BURIN inspect dsl/models/llama.burin --weights $model --stop-after=infer
says "the report of the fusions" "attention                       6        0" $BURIN build $model --report --stop-after=fuse
says "no fusion missed" "context" $BURIN build $model --require-fusion -o "$WORK/austen"
says "C text" "forward_" $BURIN build $model --emit=c
says "steps and commands" "+ clang-19" $BURIN build $model -v --mcpu=x86-64-v3 -o "$WORK/austen"
says "objects that are kept" "a program" $BURIN build $model --save-temps --mcpu=x86-64-v3 -o "$WORK/kept"
check "commands: they are there" [ -s "$WORK/kept.temps/austen.c" ]
says "a description with weights" "a program" $BURIN build dsl/models/llama.burin --weights $model --tokenizer $model/tokenizer.json \
    --mcpu=x86-64-v3 -o "$WORK/described"
check "commands: it writes as the folder's" [ "$("$WORK/austen" "It was" -n 9 --temp 0)" = "$("$WORK/described" "It was" -n 9 --temp 0)" ]
says "a native program" "a program for" $BURIN build $model --mcpu=native -o "$WORK/native"
says "a promise of memory" "a program" $BURIN build $model --max-ram 16M --mcpu=x86-64-v3 -o "$WORK/small"
says "bench" "decode at 0" $BURIN bench $model --ctx 64 --mcpu=x86-64-v3
