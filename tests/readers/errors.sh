#!/bin/sh
# Every message of the readers of checkpoints and tokenizers: broken files made by tests/tools/broken.c, the exact text in
# errors/NAME.err, status 1. Then the messages in the sources that have no case. With `--accept` it writes the texts instead.
. tests/lib.sh
here=$PWD/tests/readers
broken=$(cd "$(dirname "$BUILD/tools/broken")" && pwd)/broken

run_case() {
    mkdir -p "$WORK/$1"
    (cd "$WORK/$1" && LIBRARY=$here/../../dsl "$broken" "$1") > "$WORK/out" 2> "$WORK/err"
    status=$?
}

for name in $("$broken" --list); do
    run_case "$name"
    if [ "${1:-}" = --accept ]; then cp "$WORK/err" "$here/errors/$name.err"; fi
    if [ $status != 1 ] || [ -s "$WORK/out" ]; then
        not_ok "readers: $name ends with status $status"
    else
        same "readers: $name" "$here/errors/$name.err" "$WORK/err"
    fi
done

for file in "$here"/errors/*.err; do
    "$broken" --list | grep -qx "$(basename "$file" .err)" || not_ok "readers: $file belongs to no case"
done

# What cannot be made here: memory that runs out, a tokenizer of 4 GB.
cat > "$WORK/excused" << 'END'
out of memory (a JSON value)
the tokenizer takes more than 4 GB
cannot map 
END
cat "$here"/errors/*.err tests/errors/*.err > "$WORK/all"
awk -f "$here/messages.awk" compiler/frontend/json.c compiler/frontend/checkpoint/*.c compiler/frontend/tokenizer/*.c > "$WORK/messages"
grep -vxFf "$WORK/excused" "$WORK/messages" | while IFS= read -r piece; do
    grep -qF -- "$piece" "$WORK/all" || echo "# no case prints: $piece"
done > "$WORK/uncovered"
[ "$(wc -l < "$WORK/messages")" -gt 100 ] || echo "# too few messages found in the sources" >> "$WORK/uncovered"
cat "$WORK/uncovered"
[ -s "$WORK/uncovered" ] && not_ok "readers: every message has a case" || ok "readers: every message has a case"
