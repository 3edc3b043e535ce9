#!/bin/sh
# GGUF files of many architectures, written by the gguf package as llama.cpp's converters do, against transformers' numbers. Skipped
# where PYTHON (python3) has no gguf, safetensors and numpy.
. tests/lib.sh
python=${PYTHON:-python3}
"$python" -c 'import gguf, safetensors, numpy' 2> /dev/null || { skip "gguf" "$python has no gguf, safetensors, numpy" && exit 0; }
. tests/lib_families.sh
while read -r model architecture how; do
    [ -d "$models/$model" ] || continue
    mkdir -p "$WORK/$model"
    cp "$models/$model"/*.npy "$WORK/$model"
    check "gguf $model: written" "$python" tests/families/write_gguf.py "$models/$model" "$WORK/$model/model.gguf" "$architecture" $how
    "$BUILD/tools/family" "$WORK/$model" | sed "s/ family / gguf /"
done << 'END'
shared-llama llama
shared-qwen2 qwen2
shared-gemma gemma
shared-phi3 phi3
shared-gpt2 gpt2
shared-gpt_neox gptneox
shared-bloom bloom
shared-mpt mpt
shared-falcon falcon
falcon-new falcon
starcoder2 starcoder2
gpt_bigcode starcoder
olmo olmo
olmo2 olmo2
stablelm stablelm
granite granite
phi phi2
phi3-partial phi3
cohere command-r
cohere-norms command-r
cohere2 cohere2
nemotron nemotron
smollm3 smollm3
arcee arcee
ernie4_5 ernie4_5
seed_oss seed_oss
hunyuan_v1_dense hunyuan-dense
glm4 glm4
qwen3_moe qwen3moe
olmoe olmoe
qwen2_moe-all qwen2moe
mixtral llama
mixtral llama apart
glm4_moe glm4moe
dots1-full dots1
phimoe phimoe
hunyuan_v1_moe-even hunyuan-moe
deepseek_v2 deepseek2
deepseek_v3 deepseek2
deepseek_v3-stretch deepseek2
gpt_oss-whole gpt-oss
granitemoe granitemoe
granitemoeshared granitemoe
exaone4 exaone4
exaone4-layers exaone4
gemma3n gemma3n
olmo3 olmo2
shared-llama internlm2
shared-llama xverse
shared-llama exaone
shared-llama pangu-embedded
shared-linear llama
shared-yarn llama
shared-llama3 llama
llama-longrope llama
qwen2-yarn qwen2
phi3-longrope phi3
gemma2-scaled gemma2
gemma3-scaled gemma3
gemma3-embedding gemma-embedding
nomic_bert nomic-bert
lfm2 lfm2
llama4-even llama4
nomic_bert-experts nomic-bert-moe
shared-bert bert
ernie bert
apertus apertus
modernbert modern-bert
shared-t5 t5
t5-model t5
shared-flan t5
mt5 t5
umt5 t5
t5-encoder t5encoder
mamba mamba
falcon_mamba mamba
falcon_h1 falcon-h1
granitemoehybrid-mamba granitehybrid
granitemoehybrid granitehybrid
jamba jamba
mamba2-group mamba2
qwen3_next qwen3next
qwen3_next qwen3next apart
grovemoe grovemoe
END

# Those that llama.cpp computed
for recorded in tests/families/gguf_cases/*.npy; do
    case=$(basename "$recorded" .npy)
    mkdir "$WORK/$case"
    check "gguf $case: written" "$python" tests/families/gguf_cases.py "$WORK/$case" "$case"
    "$BUILD/tools/family" "$WORK/$case" | sed "s/ family / gguf /"
done

says "gguf deepseek32: no context beyond the tokens that indexers choose" 1 "described up to 16 positions" \
    "$BUILD/burin" build "$WORK/deepseek32/model.gguf" --ctx=17 -o "$WORK/program"

check "gguf glm4moe: builds with its head" "$BURIN" build "$WORK/glm4_moe/model.gguf" --draft=mtp -o "$WORK/both"
"$WORK/both" --tokens 5,9,12,5,9 -n 40 --ignore-eos --temp 0 --logits-hash --draft none > "$WORK/alone"
"$WORK/both" --tokens 5,9,12,5,9 -n 40 --ignore-eos --temp 0 --logits-hash > "$WORK/drafted"
same "gguf glm4moe: the same text with guesses of its head" "$WORK/alone" "$WORK/drafted"
