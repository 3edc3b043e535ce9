#!/bin/sh
# Files cut at every 5 % (STEP=1: at every 1 %): one message, status 1, no file left over.
# Checkpoints: unit/checkpoint.c.
. tests/lib.sh
step=${STEP:-5} folder=$WORK/in stories=$SHARED/data/stories260k exports=$SHARED/data/onnx/exports
mkdir "$folder" "$WORK/tmp"
export TMPDIR="$WORK/tmp"

# refused NAME PERCENT COMMAND...: one message, status 1, and the folder as it was
refused() {
    _what=$1 _percent=$2
    shift 2
    find "$folder" "$TMPDIR" | sort > "$WORK/before"
    timeout 20 "$@" > "$WORK/out" 2> "$WORK/err" < /dev/null
    _status=$?
    find "$folder" "$TMPDIR" | sort > "$WORK/after"
    [ $_status = 1 ] && [ "$(grep -c '^[^ ]' "$WORK/err")" = 1 ] && cmp -s "$WORK/before" "$WORK/after" && return
    echo "# $_what cut at $_percent %: status $_status, $(head -c 300 "$WORK/err")"
    _bad=$((_bad + 1))
}

# cut NAME LAST FILE COPY COMMAND...: FILE cut at 0 to LAST % as COPY, which the command reads
cut() {
    _name=$1 _last=$2 _file=$3 _copy=$4 _at=0 _tried=0 _bad=0
    shift 4
    _bytes=$(wc -c < "$_file")
    while [ $_at -le "$_last" ]; do
        head -c $((_bytes * _at / 100)) "$_file" > "$_copy"
        refused "$_name" $_at "$@"
        _at=$((_at + step)) _tried=$((_tried + 1))
    done
    rm "$_copy"
    [ $_bad = 0 ] && ok "truncated: $_name, $_tried cuts" || not_ok "truncated: $_name, $_bad of $_tried cuts"
}

ln -s "$PWD/examples/austen/model.safetensors" "$folder"
cp examples/austen/config.json "$WORK/config.json"
cut config.json 99 "$WORK/config.json" "$folder/config.json" "$BURIN" inspect "$folder"
cp examples/austen/config.json "$folder"
cut tokenizer.json 99 examples/austen/tokenizer.json "$folder/tokenizer.json" "$BURIN" build "$folder" -o "$folder/out"
cut digits.onnx 99 examples/digits/digits.onnx "$folder/x.onnx" "$BURIN" build "$folder/x.onnx" -o "$folder/out"

# Two graphs: a dump that ends between them names a graph that is not there.
"$BURIN" inspect examples/numbers --stop-after=fuse --dump-ir="$WORK/dump" > "$WORK/log"
cp "$WORK/dump/constants" "$folder"
cut "a dump" 99 "$WORK"/dump/*-fuse_elementwise.ir "$folder/x.ir" "$BURIN" inspect "$folder/x.ir" --start-from=incremental
cp "$WORK"/dump/*-fuse_elementwise.ir "$folder/x.ir"
cut "the constants of a dump" 99 "$WORK/dump/constants" "$folder/constants" "$BURIN" inspect "$folder/x.ir" \
    --start-from=incremental

check "truncated: a program of tensors" "$BURIN" build examples/digits/digits.onnx -o "$WORK/digits"
cut "an .npy input" 99 examples/digits/images.npy "$folder/x.npy" "$WORK/digits" --input "$folder/x.npy" --output "$folder/out"
cut "an .npy input, interpreted" 99 examples/digits/images.npy "$folder/x.npy" "$BURIN" run --interpret \
    examples/digits/digits.onnx --input "$folder/x.npy" --output "$folder/out"

need truncated "$stories/tok512.bin" "$exports/llama-optimum-nocache"
cut tokenizer.bin 99 "$stories/tok512.bin" "$folder/x.bin" "$BURIN" build "$stories/stories260K.bin" \
    --tokenizer="$folder/x.bin" -o "$folder/out"
# The vocabulary of a GGUF, up to where its last tensor begins: beyond, all that a tokenizer needs is there.
cut "a GGUF's vocabulary" 85 "$stories/stories260K.gguf" "$folder/x.gguf" "$BURIN" build "$stories/stories260K.bin" \
    --tokenizer="$folder/x.gguf" -o "$folder/out"
model=$(find "$exports/llama-optimum-nocache" -name '*.onnx' | head -n 1)
cut "an exported decoder" 99 "$model" "$folder/x.onnx" "$BURIN" build "$folder/x.onnx" -o "$folder/out"
