#!/bin/sh
# burin explain: the figures of the report, in words.
. tests/lib.sh
at() { "$BUILD/tools/json_at" "$@"; }
explain() { $BURIN explain "$@" > "$WORK/said" 2>&1; }
# tells NAME TEXT: the last output has it
tells() { check "explain: $1" grep -qF -- "$2" "$WORK/said"; }

$BURIN report examples/austen --json > "$WORK/austen.json"
explain examples/austen model.layers.3.self_attn
tells "the lines of the description" "models/llama.burin:15 |   q = rope(q, rope_theta"
tells "what a pass did" "fuse_attention      18 vanished,   1 changed,   1 appeared"
tells "what it became" "  %attention.3 = attention("
tells "a kernel" "matmul_bf16_192x320                             1.229e+05         122880"
check "explain: its weights add up" [ "$(awk '/matmul|rotary|cache_append_|attention_6/ && $1 ~ /^[0-9]+$/ { s += $4 } /all of them/ { print s - $5 }' "$WORK/said")" = 0 ]
explain examples/austen %attention.2
tells "a value" "attention.2 in decode"
tells "a value in a pass" "fuse_attention       0 vanished,   0 changed,   1 appeared"
explain examples/austen --memory
for key in arena_bytes:arena lower_bound:"at least" slot_bytes:state weight_bytes:weights; do
    tells "memory: ${key#*:}" "$(printf '%-10s %14s ' "${key#*:}" "$(at "$WORK/austen.json" programs.0.memory."${key%%:*}")")"
done
tells "memory: the peak" "most is live at kernel $(at "$WORK/austen.json" programs.0.memory.peak.kernel), matmul_bf16_192x512_silu_mul"
explain examples/austen
tells "a model" "rotary_embedding               12        0"
explain examples/numbers --memory
tells "the memory of two graphs" "encode: bytes for 96 rows at once"
explain examples/digits/digits.onnx --time --mcpu=x86-64-v3
tells "time" "runs over random values: "
tells "the time of a kernel" "attention_4x4x12 digits.onnx, node 34"
explain examples/austen --why-not attention
tells "no miss" "attention: 6 matched, 0 missed"

# ---- a fusion that misses ----
"$BUILD/tools/onnx_of_text" "$WORK/clip.onnx" << 'END'
ir 10
opset 20
input q f32 [2,4,8]
input k f32 [2,8,4]
input v f32 [2,4,8]
input seen bool [2,4,4]
tensor low f32 [] raw -30
node MatMul q k -> scores
node Where seen scores low -> clamped
node Softmax clamped -> shares : axis=-1
node MatMul shares v -> y
output y f32 [2,4,8]
END
explain "$WORK/clip.onnx" --why-not attention
tells "the node that broke a fusion" "%clamped selects between scores and something that is not minus infinity"
tells "the path to it" "path: softmax %shares <- where %clamped"
tells "what to change" "hint: mask scores by minus infinity"
tells "how many" "attention: 0 matched, 1 missed"
$BURIN report "$WORK/clip.onnx" --json > "$WORK/clip.json"
check "explain: the report says the same" [ "$(at "$WORK/clip.json" sites.0.node)" = clamped ]

# ---- errors ----
says "explain: no such part" 1 "did you mean model.layers.3?" $BURIN explain examples/austen model.layer.3
says "explain: nothing like it" 1 "nothing in the compiled model is called zzzzzzzzzzzzzzzz" $BURIN explain examples/austen zzzzzzzzzzzzzzzz
says "explain: no such pattern" 1 "did you mean attention?" $BURIN explain examples/austen --why-not atention
says "explain: no pattern like it" 1 "no part of this model looks like convolution" $BURIN explain examples/austen --why-not convolution
says "explain: two questions" 2 "burin explain says one thing at a time: WHAT, --why-not, --memory or --time" $BURIN explain examples/austen x --memory
