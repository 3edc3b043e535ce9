#!/bin/sh
# Folders as transformers 5 and sentence-transformers 6 write them, from ../shared: fields, names of tensors, what a GGUF leaves
# out, shards without an index, what is beside a model.
. tests/lib.sh
found=$SHARED/data/found2
[ -d "$found" ] || { skip "newest folders" "$found is missing" && exit 0; }
found=$(cd "$found" && pwd)

# take NAME FILE...: a folder with these files of a case, its arrays by the names that tools/family.c looks for
take() {
    mkdir "$WORK/$1"
    for _file in "$found/$1"/*; do
        _name=$(basename "$_file")
        case $_name in
            ids.npy) _name=input_ids.npy ;;
            want.npy | lc.npy) _name=logits.npy ;;
        esac
        [ -e "$WORK/$1/$_name" ] || cp -R "$_file" "$WORK/$1/$_name"
    done
}
for name in v5_mamba2 v5_qwen3moe v5b_nomic v5c_gptoss_sw v5c_granitehybrid v5n_mixtral esm_v5_noinv deepseek_v2_yarn_mscale \
    exaone4_gguf_no_window tf5_exaone_moe_bias_name tf5_nemotron_h_no_num_hidden_layers tf5_recurrent_gemma_head_dim; do
    take $name
    [ $name != exaone4_gguf_no_window ] || cp "$found/$name/lc.npy" "$WORK/$name/logits.npy"
    check "newest folders: $name" "$BUILD/tools/family" "$WORK/$name"
done

# The GGUF beside a folder has the same numbers.
mkdir "$WORK/gguf"
cp "$found/deepseek_v2_yarn_mscale/m.gguf" "$WORK/gguf"
cp "$found/deepseek_v2_yarn_mscale/ids.npy" "$WORK/gguf/input_ids.npy"
cp "$found/deepseek_v2_yarn_mscale/want.npy" "$WORK/gguf/logits.npy"
check "newest folders: the GGUF of DeepSeek-V2" "$BUILD/tools/family" "$WORK/gguf"

for name in st_mean/m tf5_umt5_scale_decoder_outputs gguf_deepseek2_dense_youtu/m.gguf; do
    check "newest folders: $name is read" "$BURIN" inspect "$found/$name" --stop-after=infer
done
"$BURIN" inspect "$found/tf5_vl_tie_word_embeddings" --stop-after=infer > "$WORK/graph" 2> /dev/null
check "newest folders: the outer tie_word_embeddings counts" grep -q embed_tokens "$WORK/graph"
says "newest folders: an adapter beside a model" 0 "holds an adapter (LoRA) beside the model" "$BURIN" inspect "$found/lora_beside_model"
