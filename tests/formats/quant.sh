#!/bin/sh
# --quant: recipes and rules for parts: the format of each matrix, its loss (--quant-report), and
# the interpreter's bits.
. tests/lib.sh
unsanitized "quant"
model=examples/austen
need "quant" $model/model.safetensors
ids=1,5,9,100,44,7,300,23,180,2,10,65,13,17,200,31,6,77,8,150,64,3,12,91,99

# build_quantized NAME QUANT OPTIONS...: the program $WORK/NAME, with the output in $WORK/NAME.said
build_quantized() {
    _out=$WORK/$1 _quant=$2
    shift 2
    "$BURIN" build "${source:-$model}" --quant="$_quant" --mcpu=x86-64-v3 --quant-report "$@" -o "$_out" > "$_out.said" 2>&1
}

# takes NAME FORMAT COUNT TENSOR: this number of matrices of this name have this format
takes() {
    _n=$(grep -cE "^[0-9.]+ +$2 +.*$4" "$WORK/$1.said")
    check "quant: $1: $2 for $3 of $4" test "$_n" = "$3"
}

# same_bits NAME QUANT: the interpreter's
same_bits() {
    "$BURIN" run $model --quant="$2" --interpret --tokens $ids -n 0 --logits-hash > "$WORK/expected" 2> "$WORK/said"
    "$WORK/$1" --tokens $ids -n 0 --logits-hash -t 2 --chunk 7 > "$WORK/got" 2>&1
    same "quant: $1: the interpreter's bits" "$WORK/expected" "$WORK/got"
}

# austen: 192 wide, 512 in the middle, 6 layers, a tied table. 192 is no multiple of 256.
build_quantized recipe q4_k_m
takes recipe q8_0 2 self_attn.v_proj
takes recipe q5_0 4 self_attn.v_proj
takes recipe q5_0 6 self_attn.k_proj
takes recipe q6_k 2 mlp.down_proj
takes recipe q4_k 4 mlp.down_proj
takes recipe q6_k 1 'layers\.5\.mlp.down_proj'
takes recipe q8_0 1 embed_tokens
check "quant: recipe: says that blocks do not fit" grep -q "rows of 192 weights are no whole number of blocks of 256, so q[46]_k becomes q[58]_0" "$WORK/recipe.said"
same_bits recipe q4_k_m
"$BURIN" build $model --quant=Q4_K_M --mcpu=x86-64-v3 -o "$WORK/capitals" > "$WORK/capitals.said" 2>&1
"$WORK/capitals" --tokens $ids -n 0 --logits-hash > "$WORK/got" 2>&1
same "quant: capitals, as in names of files" "$WORK/expected" "$WORK/got"
worst=$(sed -n '/^error/{n;s/^\([0-9.]*\) .* \(model.*\)/\2/p}' "$WORK/recipe.said")
check "quant: a line without --quant-report: $worst" grep -q "^quantized 43 matrices: error 0.0[0-9]* of the weights' rms; the worst $worst 0.0" "$WORK/capitals.said"

build_quantized rules q4_0,head=f16,ffn_down=q3_k,layers.1.=q8_0
takes rules q3_k 5 mlp.down_proj
takes rules q8_0 7 'layers\.1\.'
takes rules q4_0 5 gate_proj
takes rules '[a-z0-9_]*' 0 embed_tokens
same_bits rules q4_0,head=f16,ffn_down=q3_k,layers.1.=q8_0
check "quant: check" "$BURIN" check $model --quant=q4_1,attn_v=mxfp4,ffn_up=iq4_nl,ffn_down=q5_k --mcpu=native

# Worst first, and the sum of all
sed -n 's/^\(0\.[0-9]*\) .*/\1/p' "$WORK/rules.said" > "$WORK/errors"
check "quant: 42 matrices are reported" test "$(grep -cE '^0\.[0-9]+ +q[0-9a-z_]+ ' "$WORK/rules.said")" = 42
check "quant: the worst first" sh -c "sed \$d '$WORK/errors' | sort -rc"
check "quant: the sum of all" grep -qE "^0\.0[0-9]+ +of all 42 matrices" "$WORK/rules.said"

# Bits less, error more: the logits of f32 at the other end
"$BURIN" build $model --mcpu=x86-64-v3 -o "$WORK/plain" > "$WORK/said" 2>&1
"$WORK/plain" --tokens $ids -n 0 --logits "$WORK/plain.npy"
nearer() {
    build_quantized "$1" "$1" --activations=f32
    "$WORK/$1" --tokens $ids -n 0 --logits "$WORK/got.npy"
    check "quant: $1: logits within $2 of the largest" "$BUILD/tools/npy_near" "$WORK/got.npy" "$WORK/plain.npy" "$2" largest
    check "quant: $1: but not within $3" sh -c "! '$BUILD/tools/npy_near' '$WORK/got.npy' '$WORK/plain.npy' $3 largest"
}
nearer q8_0 0.02 1e-4
nearer q5_1 0.15 1e-3
nearer q4_0 0.25 1e-2

# --calibrate: other blocks (slow-smollm2.sh: that lose less); --perplexity, before and after
"$WORK/plain" "It was" -n 400 --seed 3 > "$WORK/text" 2> "$WORK/said"
build_quantized calibrated q4_0 --activations=f32 --calibrate "$WORK/text" --perplexity "$WORK/text" --window 64
perplexity_of() { sed -n "s/^$1perplexity \\([0-9.]*\\) over .*/\\1/p" "$2"; }
check "quant: perplexity before" test "$(perplexity_of 'before ' "$WORK/calibrated.said")" = "$("$WORK/plain" --perplexity "$WORK/text" --window 64 | perplexity_of '' -)"
"$WORK/calibrated" --perplexity "$WORK/text" --window 64 | perplexity_of '' - > "$WORK/expected"
perplexity_of 'after  ' "$WORK/calibrated.said" > "$WORK/got"
same "quant: perplexity after" "$WORK/expected" "$WORK/got"
identity() { "$WORK/$1" --info | sed -n 's/.*identity //p'; }
check "quant: calibrated: matrices are weighed" test "$(grep 'of all' "$WORK/q4_0.said")" != "$(grep 'of all' "$WORK/calibrated.said")"
check "quant: what a text has weighed is another model" test "$(identity q4_0)" != "$(identity calibrated)"

# Tables of tokens that no product reads, and blocks that a file has already
"$BUILD/tools/family_weights" $FIXTURES/families/arcee "$WORK/folder" 2> "$WORK/said"
source=$WORK/folder build_quantized untied q8_0
takes untied q8_0 1 embed_tokens
source=tests/formats/mixed/model.gguf build_quantized kept q4_0
check "quant: blocks of the file stay" grep -q "matrices stay in the file's blocks" "$WORK/kept.said"
source=tests/formats/mixed/model.gguf build_quantized again q4_0 --requantize
check "quant: unless asked for" grep -q "are quantized again: what the file lost stays lost" "$WORK/again.said"

# Routers stay floats, by whatever name.
for family in mixtral hunyuan_v1_moe minimax phimoe qwen3_moe deepseek_v3 gpt_oss dbrx granitemoe; do
    "$BUILD/tools/family_weights" $FIXTURES/families/$family "$WORK/family"
    "$BURIN" inspect "$WORK/family" --quant q8_0 --stop-after=layout 2>&1 | grep 'pack(.*format="q8_0"' > "$WORK/graph"
    check "quant: $family: matrices become blocks" grep -q . "$WORK/graph"
    check "quant: $family: its router does not" sh -c "! grep -E '(moe.gate|mlp.gate|gate.wg|router[a-z.]*)\"$' '$WORK/graph'"
    rm -r "$WORK/family"
done

# ... and without a telling name: a product that selects experts is a router by its use.
head -c 300000 $model/model.safetensors | tail -c 200000 > "$WORK/w.bin"
"$BUILD/tools/onnx_of_text" "$WORK/routed.onnx" << END
ir 10
opset 17
opset 1 com.microsoft
tensor R f32 [32,8] external location=w.bin offset=0
tensor A f32 [8,64,32] external location=w.bin offset=1024
tensor B f32 [8,32,64] external location=w.bin offset=66560
input x f32 [4,32]
node MatMul x R -> chosen
node MoE x chosen A _ B -> y : k=2 activation_type='relu' @domain=com.microsoft
output y f32 [4,32]
END
for rule in "" ,R=q8_0; do
    "$BURIN" inspect "$WORK/routed.onnx" --quant q4_0$rule --stop-after=layout > "$WORK/graph" 2>&1
    check "quant: q4_0$rule: experts become blocks" grep -q 'pack(%A.*format="q4_0"' "$WORK/graph"
    [ "$rule" = ,R=q8_0 ] && format=q8_0 || format=f32
    check "quant: q4_0$rule: what chooses them is $format" grep -q "pack(%R).*format=\"$format\"" "$WORK/graph"
done
