#!/bin/sh
# Every message of the command line and the checkpoints has a case in tests/errors, or a unit test that quotes it: those without are
# listed. None may be missing for the command line, but for what needs a broken machine.
. tests/lib.sh
broken_machine='cannot read|cannot wait|cannot run|cannot load|out of memory|not enough memory|was stopped by signal|failed with status|left no room|there is no C library|--mcpu: at most|neither tokens|the input %%|leave out --target'

# file, tab, each literal part of the first line of each message
find compiler/driver compiler/frontend -name '*.c' | sort | while read -r file; do
    tr '\n' ' ' < "$file" | sed 's/" *"//g' |
        grep -oE '(diag_error|diag_fatal|diag_warning|usage_error|file_fatal)\([^;"]*"([^"\\]|\\.)*"' |
        sed -E 's/^[^"]*"//; s/"$//; s/\\n.*//; s/\\"/"/g; s/%[-+ #0-9.*]*(l|ll|z|j)?[a-zA-Z]/\n/g' |
        awk -v file="$file" 'length($0) >= 12 { print file "\t" $0 }'
done | sort -u > "$WORK/messages"
cat tests/errors/*.err tests/unit/*.c > "$WORK/cases"
while IFS="$(printf '\t')" read -r file text; do
    grep -qF -e "$text" "$WORK/cases" || echo "$file: $text"
done < "$WORK/messages" > "$WORK/without"
for part in driver frontend; do
    grep "^compiler/$part/" "$WORK/without" | grep -vE "$broken_machine" > "$WORK/$part"
    echo "# $part: $(grep -c "^compiler/$part/" "$WORK/messages") messages, $(wc -l < "$WORK/$part") without a case"
    sed 's/^/#   /' "$WORK/$part"
done
check "messages: the command line's all have a case" [ ! -s "$WORK/driver" ]
check "messages: there are enough of them" [ "$(ls tests/errors/*.err | wc -l)" -ge 60 ]
