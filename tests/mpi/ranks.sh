#!/bin/sh
# Programs of --with=mpi: the logits of several ranks are bit for bit those of one process built without it.
. tests/lib.sh
. tests/lib_mpi.sh
need_mpi "programs over several ranks"
for cc in gcc clang-19; do
    for file in runtime/mpi/*.c; do
        check "$file: no warnings of $cc" env OMPI_CC=$cc MPICH_CC=$cc mpicc -std=gnu17 -D_GNU_SOURCE -DBURIN_MPI=1 -O1 -Wall -Wextra \
            -Werror -Iruntime -c "$file" -o "$WORK/object"
    done
done
texts="It was a truth universally acknowledged"

check "austen builds" mpi_program austen examples/austen
austen=$program
"$BURIN" build examples/austen --mcpu=native -o "$WORK/austen-alone" > "$WORK/log" 2>&1
alone=$("$WORK/austen-alone" "$texts" -n 12 --temp 0 --logits-hash | tail -n 1)
check "austen: one process has the bits of the program without MPI" \
    test "$("$austen" "$texts" -n 12 --temp 0 --logits-hash | tail -n 1)" = "$alone"
same_over_ranks "austen" "1:2 2:1 3:2 4:1" "$austen" "$texts" -n 12 --temp 0 --logits-hash
same_over_ranks "austen, by messages" "2:2 3:1" "$austen" "$texts" -n 12 --temp 0 --logits-hash --rank-messages
for shares in 3,1 0,1,5; do
    n=$(echo $shares | tr , '\n' | wc -l)
    got=$(ranks "$n" "$austen" "$texts" -n 12 --temp 0 --logits-hash -t 1 --shares $shares | tail -n 1 | tr -d '\r')
    check "austen, --shares $shares: the same bits" test "$got" = "$alone"
done

# --numa: on a machine of two memories, which only $WORK/nodes has, and on this one
cpus=$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)
mkdir -p "$WORK/nodes/node0" "$WORK/nodes/node1" "$WORK/nodes/node2" "$WORK/nowhere/node0" "$WORK/nowhere/node1"
echo "${cpus%%[-,]*}" > "$WORK/nodes/node0/cpulist"
echo > "$WORK/nodes/node1/cpulist"
echo "${cpus##*[-,]}" > "$WORK/nodes/node2/cpulist"
for n in 0 1; do echo "$((1000 + n))" > "$WORK/nowhere/node$n/cpulist"; done
numa() { ranks 2 "$austen" "$texts" -n 12 --temp 0 --logits-hash --numa "$@" 2>&1 | tr -d '\r' > "$WORK/numa"; }
BURIN_NODES=$WORK/nodes numa -v
check "--numa: rank 0 beside the first memory" grep -q "rank 0 .* runs beside memory 0, on CPUs ${cpus%%[-,]*}$" "$WORK/numa"
check "--numa: rank 1 beside the other one with CPUs" grep -q "rank 1 .* runs beside memory 2, on CPUs ${cpus##*[-,]}$" "$WORK/numa"
check "--numa: the same bits" grep -qx "$alone" "$WORK/numa"
BURIN_NODES=$WORK/nowhere numa -t 1
check "--numa: CPUs that a rank may not use" grep -q "rank 1 .*cannot run on CPUs 1001: it runs where it is" "$WORK/numa"
check "--numa: it goes on" grep -qx "$alone" "$WORK/numa"
BURIN_NODES=$WORK numa -t 1
check "--numa: one memory" grep -q "numa has no effect: this machine has one memory" "$WORK/numa"
says "--numa: one rank" 0 "--numa has no effect: this run has one rank" "$austen" "It was" -n 1 --numa

check "numbers builds" mpi_program numbers examples/numbers
got=$(ranks 3 "$program" einhundertacht -t 1 | tr -d '\r')
check "an encoder and its decoder over 3 ranks" test "$got" = "one hundred and eight"
same_over_ranks "numbers" "2:2 4:1" "$program" einhundertacht --logits-hash

# format NAME MODEL CELLS OPTION... -- ARGUMENT...: other weights and caches (every pair of them: slow-ranks.sh)
format() {
    name=$1 model=$2 cells=$3 options=
    shift 3
    while [ "$1" != -- ]; do options="$options $1" && shift; done
    shift
    [ -e "$model" ] || { skip "$name over ranks" "no $model" && return; }
    # shellcheck disable=SC2086 # words
    check "$name builds" "$BURIN" build "$model" --mcpu=native --with=mpi $options -o "$WORK/program"
    same_over_ranks "$name$options" "$cells" "$WORK/program" "$@"
}
format austen examples/austen "2:2 3:1 4:1" --quant q8_0 --kv q8_0 -- "$texts" -n 12 --temp 0 --logits-hash
format stories260K "$SHARED/data/stories260k" "2:1 3:2 4:1" --quant q4_0 --kv f16 --gather-above 1 -- "Once upon a time" -n 12 --temp 0 \
    --logits-hash
format MiniLM "${BURIN_MODELS:-$HOME/.cache/burin-models}/minilm" "2:1 3:1" --quant q8_0 -- --random --hash
format "an ONNX decoder" "$SHARED/data/onnx/tiny-gpt2-past/past.onnx" "2:2 3:1" --kv q8_0 --gather-above 1 -- --tokens 1,2,3 -n 5 --temp 0 \
    --logits-hash

# a rank maps its share of the weights: zeros, larger than the start-up check allows
wide=$WORK/wide
mkdir "$wide"
cp examples/austen/tokenizer*.json "$wide"
sed 's/"hidden_size": 192/"hidden_size": 512/; s/"intermediate_size": 512/"intermediate_size": 2048/; s/"head_dim": 32/"head_dim": 64/
    s/"num_attention_heads": 6/"num_attention_heads": 8/; s/"num_key_value_heads": 2/"num_key_value_heads": 4/
    s/"num_hidden_layers": 6/"num_hidden_layers": 4/' examples/austen/config.json > "$wide/config.json"
header=$(awk 'function tensor(name, rows, columns) {
        printf "%s\"%s\":{\"dtype\":\"BF16\",\"shape\":[%s],\"data_offsets\":[%d,%d]}", at ? "," : "{", name,
            columns ? rows "," columns : rows, at, at + 2 * rows * (columns ? columns : 1)
        at += 2 * rows * (columns ? columns : 1) }
    BEGIN { tensor("model.embed_tokens.weight", 2048, 512)
        for (i = 0; i < 4; i++) { layer = "model.layers." i "."
            tensor(layer "input_layernorm.weight", 512); tensor(layer "post_attention_layernorm.weight", 512)
            tensor(layer "self_attn.q_proj.weight", 512, 512); tensor(layer "self_attn.k_proj.weight", 256, 512)
            tensor(layer "self_attn.v_proj.weight", 256, 512); tensor(layer "self_attn.o_proj.weight", 512, 512)
            tensor(layer "mlp.gate_proj.weight", 2048, 512); tensor(layer "mlp.up_proj.weight", 2048, 512)
            tensor(layer "mlp.down_proj.weight", 512, 2048) }
        tensor("model.norm.weight", 512); printf("}\n%d\n", at) }')
text=$(echo "$header" | head -n 1)
{
    printf "\\$(printf %03o $((${#text} % 256)))\\$(printf %03o $((${#text} / 256)))\000\000\000\000\000\000%s" "$text"
    head -c "$(echo "$header" | tail -n 1)" /dev/zero
} > "$wide/model.safetensors"
check "a wide model builds" "$BURIN" build "$wide" --mcpu=native --with=mpi -o "$WORK/wide-program"
for shares in 1,1 3,1; do
    ranks 2 "$WORK/wide-program" "It was" -n 2 --temp 0 -t 1 -v --shares $shares 2>&1 | tr -d '\r' | grep "has mapped" | sort > "$WORK/pages"
    check "--shares $shares: each rank maps its share of the weights, and a tenth more at most" awk -v shares=$shares '
        { split(shares, part, ","); for (i = 1; i <= NF; i++) if ($i == "of") { mapped = $(i - 1); all = $(i + 1) }
          share = mapped / all - part[NR] / (part[1] + part[2]); if (share < -0.1 || share > 0.1) bad = 1; print }
        END { exit bad || NR != 2 || all < 30 }' "$WORK/pages"
done
