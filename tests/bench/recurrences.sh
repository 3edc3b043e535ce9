#!/bin/sh
# Prompts and tokens of models with recurrences: tokens a second, and where thread 0 spends a prompt. usage:
# tests/bench/recurrences.sh [FOLDER...]       models; without any, Mamba and Mamba-2 of real widths, four layers, random weights
#   BEFORE=OTHER/burin    the same by another burin, in turn;  THREADS="1 2"  ROUNDS=5  PROMPT=512 tokens  COUNT=32 written
set -eu
. tests/lib.sh
optimized
out=$BUILD/bench/recurrences rounds=${ROUNDS:-5} count=${COUNT:-32}
mkdir -p "$out"
tokens=$(awk -v n="${PROMPT:-512}" 'BEGIN { srand(3); for (i = 0; i < n; i++) printf "%s%d", i ? "," : "", rand() * 4000 }')

# layers TEXT: of 4, for each * in the names
layers() { for i in 0 1 2 3; do echo "$1" | sed "s/\*/$i/"; done; }
mixer() { layers "backbone.layers.*.mixer.$*"; }

# The shapes of state-spaces/mamba-130m and mamba2-130m
make_mamba() {
    echo '{"model_type": "mamba", "architectures": ["MambaForCausalLM"], "vocab_size": 4096, "hidden_size": 768, "num_hidden_layers": 4}' > "$1/config.json"
    {
        echo 'backbone.embeddings.weight 0.02 0 4096 768' && echo 'backbone.norm_f.weight 0.1 1 768'
        layers 'backbone.layers.*.norm.weight 0.1 1 768'
        mixer 'A_log 0.5 1 1536 16' && mixer 'D 0.1 1 1536'
        mixer 'conv1d.weight 0.5 0 1536 1 4' && mixer 'conv1d.bias 0.1 0 1536'
        mixer 'dt_proj.weight 0.1 0 1536 48' && mixer 'dt_proj.bias 0.1 -4 1536'
        mixer 'in_proj.weight 0.04 0 3072 768' && mixer 'out_proj.weight 0.03 0 768 1536' && mixer 'x_proj.weight 0.03 0 80 1536'
    } > "$1/tensors"
}
make_mamba2() {
    echo '{"model_type": "mamba2", "architectures": ["Mamba2ForCausalLM"], "vocab_size": 4096, "hidden_size": 768, "num_hidden_layers": 4,
        "num_heads": 24, "head_dim": 64, "state_size": 128, "n_groups": 1, "tie_word_embeddings": true}' > "$1/config.json"
    {
        echo 'backbone.embeddings.weight 0.02 0 4096 768' && echo 'backbone.norm_f.weight 0.1 1 768'
        layers 'backbone.layers.*.norm.weight 0.1 1 768' && mixer 'norm.weight 0.1 1 1536'
        mixer 'A_log 0.5 1 24' && mixer 'D 0.1 1 24' && mixer 'dt_bias 0.1 -4 24'
        mixer 'conv1d.weight 0.5 0 1792 1 4' && mixer 'conv1d.bias 0.1 0 1792'
        mixer 'in_proj.weight 0.04 0 3352 768' && mixer 'out_proj.weight 0.03 0 768 1536'
    } > "$1/tensors"
}

if [ $# = 0 ]; then
    for name in mamba mamba2; do
        mkdir -p "$WORK/$name"
        "make_$name" "$WORK/$name"
        rm -rf "${out:?}/$name"
        "$BUILD/tools/family_weights" "$WORK/$name" "$out/$name"
        set -- "$@" "$out/$name"
    done
fi

# one PROGRAM THREADS: speeds of a run, and shares of the time of thread 0 in another one, which only reads
one() {
    "$1" --tokens "$tokens" -n "$count" --temp 0 -t "$2" -v 2>&1 > "$WORK/text" |
        sed -n 's/.*(\([0-9.]*\) tokens.s), wrote [0-9]* at \([0-9.]*\) .*/\1 \2/p' | tr '\n' ' '
    "$1" --tokens "$tokens" -n 1 --temp 0 -t "$2" --profile 2>&1 > "$WORK/text" | awk '/ %/ {
            kind = /matmul_/ ? "products" : /waiting/ ? "waiting" : / (scan_|reduce_sum)/ || $6 > 200 ? "scans" : "rest"
            ms[kind] += $4; all += $4 }
        END { printf "%.3f %.3f %.3f %.3f\n", ms["products"] / all, ms["scans"] / all, ms["waiting"] / all, ms["rest"] / all }'
}

median() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }

echo "| model | burin | threads | prompt, tokens/s | tokens/s | products | scans | waiting | rest |"
echo "|---|---|---|---|---|---|---|---|---|"
for model in "$@"; do
    name=$(basename "$model")
    "$BURIN" build "$model" --mcpu="${LEVEL:-native}" --ctx 1024 -o "$WORK/now" > "$WORK/said" 2>&1 || cat "$WORK/said"
    [ -z "${BEFORE-}" ] || "$BEFORE" build "$model" --mcpu="${LEVEL:-native}" --ctx 1024 -o "$WORK/before" > "$WORK/said" 2>&1
    for t in ${THREADS:-1 2}; do
        rm -f "$WORK"/*.rounds
        for _ in $(seq "$rounds"); do
            for which in ${BEFORE:+before} now; do one "$WORK/$which" "$t" >> "$WORK/$which.rounds"; done
        done
        for which in ${BEFORE:+before} now; do
            printf '| %s | %s | %s |' "$name" "$which" "$t"
            for column in 1 2 3 4 5 6; do printf ' %s |' "$(cut -d ' ' -f $column "$WORK/$which.rounds" | median)"; done
            echo
        done
    done
done
