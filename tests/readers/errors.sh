#!/bin/sh
# Every message of the readers of checkpoints, tokenizers and ONNX: broken files made by tests/tools/broken.c and broken_onnx.c, the
# exact text in errors/NAME.err and onnx/NAME.err, status 1, nothing on stdout. With `--accept` it writes the texts instead.
# (e2e/messages.sh lists the messages without a case.)
. tests/lib.sh
here=$PWD/tests/readers tools=$(cd "$BUILD/tools" && pwd)

# broken_files TOOL FOLDER: each of the tool's cases in a folder of its own, and no text without a case
broken_files() {
    _expected=$here/$2 _texts=$WORK/$2.texts
    mkdir "$WORK/$2" "$_texts"
    (cd "$WORK/$2" && LIBRARY=$here/../../dsl "$tools/$1" --each "$_texts") > "$WORK/said" 2>&1
    [ "$accept" != --accept ] || { rm -f "$_expected"/*.err && cp "$_texts"/*.err "$_expected"; }
    check "readers: $2: $("$tools/$1" --list | wc -l) cases end with status 1 and print nothing" diff /dev/null "$WORK/said"
    check "readers: $2: each with its text" diff -r "$_expected" "$_texts"
}
accept=${1:-}
broken_files broken errors
check "readers: the model that is damaged below is valid" sh -c "cd '$WORK' && '$tools/broken_onnx' --valid"
broken_files broken_onnx onnx
