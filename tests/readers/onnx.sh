#!/bin/sh
# Damaged ONNX models made by tests/tools/broken_onnx.c: the exact message in onnx/NAME.err, status 1, nothing on stdout.
# With `--accept` it writes the texts instead.
. tests/lib.sh
here=$PWD/tests/readers/onnx
broken=$(cd "$(dirname "$BUILD/tools/broken_onnx")" && pwd)/broken_onnx

run_case() {
    mkdir -p "$WORK/$1"
    (cd "$WORK/$1" && "$broken" "$1") > "$WORK/out" 2> "$WORK/err"
    status=$?
}

check "readers: the model that is damaged below is valid" sh -c "cd '$WORK' && '$broken' --valid"
for name in $("$broken" --list); do
    run_case "$name"
    if [ "${1:-}" = --accept ]; then cp "$WORK/err" "$here/$name.err"; fi
    if [ $status != 1 ] || [ -s "$WORK/out" ]; then
        not_ok "readers: onnx $name ends with status $status"
    else
        same "readers: onnx $name" "$here/$name.err" "$WORK/err"
    fi
done
for file in "$here"/*.err; do
    "$broken" --list | grep -qx "$(basename "$file" .err)" || not_ok "readers: $file belongs to no case"
done
