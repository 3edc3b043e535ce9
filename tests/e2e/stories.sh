#!/bin/sh
# A trained LLaMA in three containers writes exactly the text that it is known to write.
. tests/lib.sh
data=$SHARED/data/stories260k
need "stories: greedy text" $data/stories260K.bin

tells() {
    name=$1
    shift
    "$@" > "$WORK/text" 2> "$WORK/said" || sed 's/^/# /' "$WORK/said"
    same "$name" $data/expected_greedy_256.txt "$WORK/text"
}

for model in stories260K.bin stories260K.ak42_v1.bin stories260K.gguf; do
    case $model in *.gguf) tokenizer= ;; *) tokenizer="--tokenizer $data/tok512.bin" ;; esac
    # shellcheck disable=SC2086 # option and value
    check "stories: $model builds" $BURIN build $data/$model $tokenizer -o "$WORK/story"
    for threads in 1 2; do tells "stories: $model, $threads threads" "$WORK/story" -n 256 --temp 0 -t $threads; done
done
run="$BURIN run $data/stories260K.bin --tokenizer $data/tok512.bin -n 256 --temp 0"
tells "stories: burin run" $run
tells "stories: burin run, from the cache" $run
