#!/bin/sh
# `burin diff`: graphs by structure, weights by tensor, emitted C by function.
. tests/lib.sh
tar xJf tests/e2e/against.tar.xz -C "$WORK"
llama=$WORK/against/llama
cp -R "$llama" "$WORK/other" && chmod -R u+w "$WORK/other"
says "diff: a model and itself" 0 "weights: 34 are the same, 0 differ" $BURIN diff "$llama" "$WORK/other"
check "diff: graphs too" grep -q '^graph decode: [0-9]* nodes are the same, 0 differences' "$WORK/says"

planted() { $BUILD/tools/plant "$WORK/other/model.safetensors" "$@"; }
planted transpose model.layers.0.self_attn.o_proj.weight
planted swap model.layers.1.mlp.gate_proj.weight model.layers.1.mlp.up_proj.weight
sed -i 's/"rms_norm_eps": 1e-05/"rms_norm_eps": 1e-06/' "$WORK/other/config.json"
says "diff: a transposed matrix" 1 "o_proj.weight f32[16, 16]: 240 of 256 elements differ" $BURIN diff "$llama" "$WORK/other"
check "diff: says so" grep -q 'self_attn.o_proj.weight .*: it is transposed there$' "$WORK/says"
check "diff: a swapped one" grep -q 'mlp.gate_proj.weight .*: it is model.layers.1.mlp.up_proj.weight there$' "$WORK/says"
check "diff: an epsilon, with its place" grep -q '^constant.* (.*llama.burin:.*by 9e-06 at most' "$WORK/says"
check "diff: and nothing else" grep -q '^weights: 26 are the same, 8 differ' "$WORK/says"

# Dumps: a pass changes its own part.
$BURIN build "$llama" --dump-ir="$WORK/dumps" --stop-after=pack > "$WORK/last.ir"
says "diff: before and after norms" 1 "5 differences" $BURIN diff "$WORK"/dumps/*-score_order.ir "$WORK"/dumps/*-norms.ir
check "diff: what became what" grep -q '^+ %y = rms_normalization(' "$WORK/says"
check "diff: five norms" grep -q 'rms_normalization  *0  *5$' "$WORK/says"
says "diff: -v shows all" 1 "15 differences" $BURIN diff -v "$WORK"/dumps/*-integer_products.ir "$WORK"/dumps/*-pack.ir
check "diff: fifteen products" [ "$(grep -c '^+ .*matmul_packed' "$WORK/says")" = 15 ]
says "diff: another family" 1 "weights: 0 are the same" $BURIN diff "$llama" "$WORK/against/albert"
says "diff: other formats, other numbers" 1 "model.norm.weight: bf16[192], and f32[16]" $BURIN diff examples/austen "$llama"

# Folders of C.
mkdir "$WORK/a" "$WORK/b"
$BURIN build "$llama" -o "$WORK/a/m.c" --mcpu=generic > "$WORK/said" && $BURIN build "$WORK/other" -o "$WORK/b/m.c" --mcpu=generic > "$WORK/said"
says "diff: C and itself" 0 " are the same, 0 differ" $BURIN diff "$WORK/a/m.c" "$WORK/a/m.c"
says "diff: C of another epsilon" 1 "~ rms_normalization_16, " $BURIN diff "$WORK/a/m.c" "$WORK/b/m.c"
check "diff: three functions" grep -q ', 3 differ$' "$WORK/says"
