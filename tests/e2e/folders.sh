#!/bin/sh
# Hugging Face folders as people store them: what surrounds the formulas.
. tests/lib.sh
unsanitized "folders"

# tokens FOLDER: its token ids with commas between
tokens() { od -An -v -w4 -j 128 -t d4 "$1/input_ids.npy" | xargs | tr ' ' ,; }

# logits NAME FOLDER: as a program, against logits.npy
logits() {
    check "folders: $1 builds" "$BURIN" build "$2" --mcpu=x86-64-v3 -o "$WORK/program"
    "$WORK/program" --tokens "$(tokens "$2")" -n 0 --logits "$WORK/logits.npy" 2> "$WORK/log"
    check "folders: $1" "$BUILD/tools/npy_near" "$WORK/logits.npy" "$2/logits.npy" 1e-5 largest
}

"$BUILD/tools/family_weights" $FIXTURES/families/llama-quick "$WORK/f64" F64
logits "weights in f64" "$WORK/f64"

"$BUILD/tools/family_weights" $FIXTURES/families/llama-quick "$WORK/whole"
sed -i 's/"num_hidden_layers": 2/"num_hidden_layers": 2.0/' "$WORK/whole/config.json"
check "folders: 2.0 where a whole number is expected" "$BUILD/tools/family" "$WORK/whole"

# A decoder with pooled states: by --pooling, or modules.json. The last row of hidden states is the
# last token's.
check "folders: pooling of a decoder's states" "$BURIN" build "$WORK/f64" --pooling=lasttoken --mcpu=x86-64-v3 -o "$WORK/pooled"
"$WORK/pooled" --input "input_ids=$FIXTURES/families/llama-quick/input_ids.npy" --output "$WORK/out" 2> "$WORK/log"
tail -c 256 "$WORK/out/last_hidden_state.npy" > "$WORK/last"
tail -c 256 "$WORK/out/sentence_embedding.npy" > "$WORK/embedding"
same "folders: the last token's state" "$WORK/last" "$WORK/embedding"
