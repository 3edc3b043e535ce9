#!/bin/sh
# Files that once failed, in ../shared/data/found (its SOURCE.txt has the reasons).
. tests/lib.sh
found=$SHARED/data/found
[ -d "$found" ] || { skip "found" "the shared data is missing" && exit 0; }

for folder in "$found"/quant/*; do
    name=${folder##*/}
    case $name in
        scale-tensor*) says "found: $name" 1 "the weights are quantized by" "$BURIN" inspect "$folder" ;;
        float-weights*) says "found: $name" 1 "no tensor of the model is" "$BURIN" inspect "$folder" ;;
        *) check "found: $name" "$BURIN" inspect "$folder" ;;
    esac
done
for folder in "$found"/real/*; do check "found: ${folder##*/}" "$BURIN" inspect "$folder"; done

# numbers NAME FOLDER FILE: with the arrays beside it, in a folder of its own
numbers() {
    mkdir "$WORK/$1"
    ln -s "$2"/*.npy "$WORK/$1"
    ln -s "$2/$3" "$WORK/$1"
    check "found: numbers of $1" "$BUILD/tools/family" "$WORK/$1"
}
top=$(cd "$found" && pwd)
numbers gguf-mpt "$top/gguf-mpt" m.gguf
numbers gguf-phi3-window0 "$top/gguf-phi3-window0" m.gguf
check "found: numbers of deberta_v2-no-relative" "$BUILD/tools/family" "$found/deberta_v2-no-relative"
check "found: gguf-bert.gguf" "$BURIN" inspect "$found/gguf-bert.gguf"
says "found: norms that no description uses" 1 "blk.0.attn_k_norm.weight" "$BURIN" inspect "$found/gguf-stablelm-qknorm/m.gguf"

for context in dynamic50:50 dynamic600c:600 phi3-16:16 phi3-600c:600; do
    folder=$found/rope/${context%:*} limit=${context#*:}
    says "found: the context of ${context%:*}" 0 "context  $limit positions" "$BURIN" inspect "$folder"
    case $context in
        dynamic*) says "found: no more for ${context%:*}" 1 "hint: --ctx=$limit" "$BURIN" inspect "$folder" --ctx=$((limit + 1)) ;;
        *) says "found: more for ${context%:*}" 0 "hint: --ctx=$limit for shorter" "$BURIN" inspect "$folder" --ctx=$((limit + 1)) ;;
    esac
done
