#!/bin/sh
# GGUF models with the encoder of pictures in a file of its own (mmproj): transformers' logits and greedy texts (mmproj.py); which
# file is taken, and what is refused.
. tests/lib.sh
. tests/lib_eyes.sh
room=mmproj
unsanitized "mmproj: programs"
need_images "mmproj: programs"
tar xJf tests/e2e/mmproj.tar.xz -C "$WORK"

for family in $(cd "$WORK" && ls -d */ | tr -d /); do
    check "mmproj: $family: a program" "$BURIN" build "$WORK/$family/model.gguf" --mcpu=native -o "$WORK/$family.p"
    case_of "$family" 2 "the same?" wide.png small.png
done

# ---- which file ----
model=$WORK/gemma3/model.gguf
mmproj=$WORK/gemma3/mmproj-model.gguf
mkdir "$WORK/alone" "$WORK/two"
cp "$model" "$WORK/alone"
cp "$model" "$mmproj" "$WORK/two"
cp "$mmproj" "$WORK/two/gemma3-mmproj-f16.gguf"
# ir NAME PICTURES ARGUMENTS...: the graph of a picture is there, or not
ir() {
    _name=$1 _count=$2
    shift 2
    "$BURIN" build "$@" --emit=ir > "$WORK/ir" 2>&1
    check "mmproj: $_name" [ "$(grep -c "^graph picture" "$WORK/ir")" = "$_count" ]
}
ir "a folder" 1 "$WORK/gemma3"
ir "--mmproj" 1 "$WORK/alone/model.gguf" --mmproj "$mmproj"
ir "of two in a folder the one of --mmproj" 1 "$WORK/two/model.gguf" --mmproj "$WORK/two/mmproj-model.gguf"
ir "without it a program of texts" 0 "$WORK/alone/model.gguf"
says "mmproj: two in a folder" 0 "2 encoders of pictures (mmproj) are in its folder: the program takes no pictures" "$BURIN" build "$WORK/two/model.gguf" --emit=ir
says "mmproj: that of another model" 1 "--mmproj: the program takes no pictures" "$BURIN" build "$WORK/alone/model.gguf" --mmproj "$WORK/qwen3-vl/mmproj-model.gguf" --emit=ir
says "mmproj: the model in place of the encoder" 1 "it has no encoder of pictures (clip.projector_type)" "$BURIN" build "$model" --mmproj "$model" --emit=ir
says "mmproj: a picture in place of the encoder" 1 "the file is no GGUF" "$BURIN" build "$model" --mmproj "$WORK/wide.png" --emit=ir
says "mmproj: no file" 1 "none.gguf" "$BURIN" build "$model" --mmproj "$WORK/none.gguf" --emit=ir
says "mmproj: the encoder in place of the model" 1 "read where it is in the same folder, or as --mmproj" "$BURIN" build "$mmproj" --emit=ir
says "mmproj: of a folder of safetensors" 1 "--mmproj: the encoder of pictures of a GGUF model, and MODEL is none" "$BURIN" build examples/austen --mmproj "$mmproj" --emit=ir

says "mmproj: a library" 1 "programs without --draft and --with=mpi do, libraries do not" "$BURIN" build "$model" --mmproj "$mmproj" -o "$WORK/lib.a"

# ---- what the file sets ----
# changed NAME SED STATUS TEXT: the encoder with other metadata of the same length
changed() {
    LC_ALL=C sed "$2" "$mmproj" > "$WORK/alone/changed.gguf"
    says "mmproj: $1" "$3" "$4" "$BURIN" build "$WORK/alone/model.gguf" --mmproj "$WORK/alone/changed.gguf" --emit=ir
}
changed "another projector" 's/gemma3/gemmaX/' 1 'clip.projector_type "gemmaX" is not read, only: gemma3, gemma4v, idefics3, internvl, '
changed "unknown metadata" 's/clip.use_gelu/clip.use_gelX/' 1 'metadata "clip.use_gelX" of the encoder of pictures is not supported'
changed "no mean" 's/clip.vision.image_mean/clip.visiom.image_mean/' 1 'metadata "clip.visiom.image_mean"'
changed "an unknown tensor" 's/mm.soft_emb_norm/mm.soft_emb_nose/' 1 'mm_soft_emb_norm'
cp "$mmproj" "$WORK/alone/mmproj-x.gguf" && LC_ALL=C sed 's/gemma3/gemmaX/' "$mmproj" > "$WORK/alone/mmproj-x.gguf"
says "mmproj: another projector in the folder" 0 "is not read, only: gemma3, gemma4v, idefics3" "$BURIN" build "$WORK/alone/model.gguf" --emit=ir
