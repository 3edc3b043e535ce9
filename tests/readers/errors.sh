#!/bin/sh
# Every message of the readers of checkpoints, tokenizers and ONNX: broken files made by tests/tools/broken.c and broken_onnx.c, the
# exact text in errors/NAME.err and onnx/NAME.err, status 1, nothing on stdout. With `--accept` it writes the texts instead.
# (e2e/messages.sh lists the messages without a case.)
. tests/lib.sh
here=$PWD/tests/readers tools=$(cd "$BUILD/tools" && pwd)

# broken_files TOOL FOLDER: each of the tool's cases in a folder of its own, and no text without a case
broken_files() {
    _tool=$tools/$1 _folder=$here/$2
    for _case in $("$_tool" --list); do
        mkdir -p "$WORK/$2/$_case"
        (cd "$WORK/$2/$_case" && LIBRARY=$here/../../dsl "$_tool" "$_case") > "$WORK/out" 2> "$WORK/err"
        _status=$?
        [ "$accept" != --accept ] || cp "$WORK/err" "$_folder/$_case.err"
        if [ $_status != 1 ] || [ -s "$WORK/out" ]; then
            not_ok "readers: $2 $_case ends with status $_status"
        else
            same "readers: $2 $_case" "$_folder/$_case.err" "$WORK/err"
        fi
    done
    for _file in "$_folder"/*.err; do
        "$_tool" --list | grep -qx "$(basename "$_file" .err)" || not_ok "readers: $_file belongs to no case"
    done
}
accept=${1:-}
broken_files broken errors
check "readers: the model that is damaged below is valid" sh -c "cd '$WORK' && '$tools/broken_onnx' --valid"
broken_files broken_onnx onnx
