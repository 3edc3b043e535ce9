#!/bin/sh
# `burin check --against`: a recording of PyTorch or ONNX Runtime agrees, and an error that is planted is named where it is made.
. tests/lib.sh
tar xJf tests/e2e/against.tar.xz -C "$WORK"
recorded=$WORK/against
for model in llama albert t5; do
    says "against: $model agrees" 0 ", 0 differ" $BURIN check "$recorded/$model" --against "$recorded/$model.npz"
done
check "against: all modules of llama that give a value have a place" sh -c \
    "$BURIN check '$recorded/llama' --against '$recorded/llama.npz' | grep -q '^43 values compared'"
says "against: values of an ONNX file" 0 "5 values compared, 0 differ" $BURIN check examples/digits/digits.onnx --against "$recorded/digits.npz"
says "against: values that numpy compressed" 0 "5 values compared, 0 differ" $BURIN check examples/digits/digits.onnx --against "$recorded/compressed.npz"
size=$(($(wc -c < "$recorded/compressed.npz") / 2))
{ head -c $size "$recorded/compressed.npz" && printf 'x' && tail -c +$((size + 2)) "$recorded/compressed.npz"; } > "$WORK/damaged.npz"
says "against: a byte of them changed" 1 "what is compressed in it is damaged" $BURIN check examples/digits/digits.onnx --against "$WORK/damaged.npz"

# planted NAME PLACE LINE [OPTIONS...]: check in $home on $WORK/model names this value, and this line of the description
home=$PWD
planted() {
    _name=$1 _place=$2 _line=$3
    BURIN_HOME=$home $BURIN check "$WORK/model" --against "$recorded/llama.npz" > "$WORK/said" 2>&1
    check "against: $_name: status $?" grep -q "$_line: error: $_place is the first value that differs" "$WORK/said"
    rm -rf "$WORK/model"
    cp -R "$recorded/llama" "$WORK/model"
}
cp -R "$recorded/llama" "$WORK/model"
norm=$(sed -n '/"input_layernorm"/=' dsl/models/llama.burin) gate=$(sed -n '/gated_mlp(/=' dsl/models/llama.burin)
output=$(sed -n '/"o_proj"/=' dsl/models/llama.burin)
sed -i 's/"rms_norm_eps": 1e-05/"rms_norm_eps": 1e-06/' "$WORK/model/config.json"
planted "a wrong eps" model.layers.0.input_layernorm "llama.burin:$norm:[0-9]*"
$BUILD/tools/plant "$WORK/model/model.safetensors" swap model.layers.1.mlp.gate_proj.weight model.layers.1.mlp.up_proj.weight
planted "two weights swapped" model.layers.1.mlp.gate_proj "llama.burin:$gate:[0-9]*"
$BUILD/tools/plant "$WORK/model/model.safetensors" transpose model.layers.0.self_attn.o_proj.weight
planted "a transposed matrix" model.layers.0.self_attn.o_proj "llama.burin:$output:[0-9]*"
check "against: and that what it takes agrees" grep -q 'computed from agrees: model.layers.0.self_attn.o_proj.input$' "$WORK/said"
sed -i 's/"rope_theta": 10000.0/"rope_theta": 9000.0/' "$WORK/model/config.json"
planted "a rotary base that is off" model.layers.0.self_attn.o_proj.input "llama.burin:$output:[0-9]*"
check "against: and that queries, keys and values agree" grep -q 'agrees: .*q_proj, .*k_proj, .*v_proj$' "$WORK/said"
check "against: and the rotation in between" grep -q "llama.burin:$(sed -n '/  q = rope/=' dsl/models/llama.burin):.* cos" "$WORK/said"
mkdir "$WORK/home" && cp -R runtime dsl "$WORK/home"
sed -i 's/seen = window == null ? j <= i :/seen = window == null ? j <= i + 1 :/' "$WORK/home/dsl/std/mask.burin"
home=$WORK/home
planted "a mask that is off by one" model.layers.0.self_attn.o_proj.input "llama.burin:$output:[0-9]*"
check "against: and the mask in between" grep -q "llama.burin:$(sed -n '/p = softmax(causal/=' dsl/models/llama.burin):.*less_or_equal" "$WORK/said"
home=$PWD

# The logits alone, in a folder too, of tokens that are given.
need "against: logits" "$SHARED/data/families/llama"
family=$SHARED/data/families/llama tokens=$(values "$SHARED/data/families/llama/input_ids.npy" | od -An -v -td8 | tr -s ' \n' ,,)
tokens=${tokens#,} tokens=${tokens%,}
says "against: logits.npy" 0 "1 values compared, 0 differ" $BURIN check "$family" --tokens "$tokens" --against "$family/logits.npy"
says "against: a folder" 0 "1 values compared, 0 differ" $BURIN check "$family" --against "$family"
says "against: --input" 0 "0 differ" $BURIN check "$family" --input "tokens=$family/input_ids.npy" --against "$family/logits.npy"
says "against: other tokens" 1 "logits is the first value that differs" $BURIN check "$family" --tokens "9,${tokens#*,}" --against "$family/logits.npy"

# burin-record: what it says without its packages, and what ONNX Runtime computes, where it is installed.
python=${PYTHON:-python3}
if "$python" -c 'import numpy' 2> /dev/null; then
    says "against: burin-record: no ids" 1 "burin-record: c: expected integers with commas, F.npy" "$python" tests/tools/record.py a.onnx "$WORK/b.npz" c
else skip "against: burin-record" "no numpy"; fi
if "$python" -c 'import numpy, onnx, onnxruntime' 2> /dev/null; then
    says "against: burin-record: inputs" 1 "without a value: image" "$python" tests/tools/record.py examples/digits/digits.onnx "$WORK/new.npz" x=1
    says "against: burin-record: nodes" 0 "158 values" "$python" tests/tools/record.py examples/digits/digits.onnx "$WORK/new.npz" image=examples/digits/images.npy
    says "against: burin-record: they agree" 0 "155 values compared, 0 differ" $BURIN check examples/digits/digits.onnx --against "$WORK/new.npz"
else skip "against: burin-record of ONNX files" "no onnxruntime"; fi
