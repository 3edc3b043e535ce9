#!/bin/sh
# Each model of tests/families and ../shared/data/families as llama.cpp's own converter makes a GGUF
# of it, against transformers' numbers of the folder. Skipped where LLAMA_CPP names no sources of
# llama.cpp, or PYTHON (python3) has no torch and transformers.
#
# A file has fewer settings than config.json; llama.cpp computes the same defaults: no activations
# but one (bert-relu, *-gelu, gpt_neox-*, llama-quick, -relu2, -tied), no windows (dots1, mistral*,
# *-window, smollm3-layers), no heads (bert-*, llama-model), one epsilon for all norms, no clipped
# values (olmoe), scale of scores (gemma2) or rotary embedding of Bamba, residuals of norms
# (bloom-post).
. tests/lib.sh
python=${PYTHON:-python3}
[ -d "${LLAMA_CPP:-}/conversion" ] || { skip "converted GGUF files" "LLAMA_CPP names no sources of llama.cpp" && exit 0; }
"$python" -c 'import torch, transformers, gguf' 2> /dev/null || { skip "converted GGUF files" "$python has no torch, transformers, gguf" && exit 0; }
. tests/lib_families.sh
less=" bamba bert-masked bert-relu bert-sequence bloom-post camembert deepseek_v3-yarn distilbert-masked dots1 falcon_mamba gemma-gelu
 gemma2-scaled glm gpt_bigcode-heads gpt_neox-odd gpt_neox-serial granitemoehybrid-mamba jamba llama-longrope llama-model llama-quick
 llama-relu2 llama-tied llama4 llama4-layers mamba mamba2 mamba2-group mistral-dim modernbert nemotron nemotron-scaled olmoe phi
 qwen2-window qwen3-window roberta-padding shared-gemma shared-gemma2 shared-mistral smollm3-layers starcoder2-window t5-gelu "
"$python" tests/families/convert_gguf.py "$WORK/converted" "$models"/* > "$WORK/not" 2> "$WORK/said"
n=0
for file in "$WORK"/converted/*/model.gguf; do
    folder=${file%/model.gguf} name=$(basename "${file%/model.gguf}")
    case "$less" in *[" 
"]"$name"[" 
"]*) continue ;; esac
    cp "$models/$name"/*.npy "$folder"
    "$BUILD/tools/family" "$folder" | sed "s/ family / converted gguf /"
    n=$((n + 1))
done
check "converted gguf: $n models, at least 60" test $n -ge 60
