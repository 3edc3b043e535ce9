#!/bin/sh
# Every message about the command line, descriptions, checkpoints and tokenizers has a case in tests/errors or tests/readers, or a
# unit test that quotes it: those without are listed, and fail, but for what needs a broken machine. Those of ONNX are listed.
. tests/lib.sh
broken_machine='cannot read|cannot wait|cannot run|cannot load|out of memory|not enough memory|was stopped by signal|failed with status|left no room|there is no C library|--mcpu: at most|neither tokens|the input %|the encoder leaves no|runs what it compiles|more than 4 GB| elements, the program recorded'

# file, tab, each literal part of the first line of each message. An escaped quote is ^A, an escaped backslash ^B on the way.
words='diag_error|diag_fatal|diag_warning|usage_error|file_fatal|tokenizer_fatal|report|refuse|dsl_syntax_error|ERROR'
find compiler/driver compiler/frontend dsl -name '*.[cly]' | sort | while read -r file; do
    tr '\n' ' ' < "$file" | sed -E 's/\\\\/\x02/g; s/\\"/\x01/g; s/" *(PRI[a-z0-9]+|JSON_INTEGER_FORMAT)/llu"/g; s/" *"//g' |
        grep -oE "\\b($words)\\([^;\"]*\"[^\"]*\"" |
        sed -E 's/^[^"]*"//; s/"$//; s/\\n.*//; s/\x01/"/g; s/\x02/\\/g; s/%[-+ #0-9.*]*(l|ll|z|j)?[a-zA-Z]/\n/g' |
        awk -v file="$file" 'length($0) >= 12 { print file "\t" $0 }'
done | sort -u > "$WORK/messages"
cat tests/errors/*.err tests/readers/errors/*.err tests/unit/*.c > "$WORK/cases"
while IFS="$(printf '\t')" read -r file text; do
    grep -qF -e "$text" "$WORK/cases" || echo "$file: $text"
done < "$WORK/messages" | grep -vE "$broken_machine" > "$WORK/without"

# part NAME PATTERN: the messages of files that match, and those of them without a case
part() {
    grep -E "$2" "$WORK/without" > "$WORK/$1"
    echo "# $1: $(grep -cE "$2" "$WORK/messages") messages, $(wc -l < "$WORK/$1") without a case"
    sed 's/^/#   /' "$WORK/$1"
}
part "command line" '^compiler/driver/([a-n]|o[a-mo-z]|[p-z])'
part descriptions '^(dsl|compiler/frontend/dsl)/'
part checkpoints '^compiler/frontend/(checkpoint|tokenizer|[a-z_]*\.)'
part ONNX '^compiler/(frontend/onnx/|driver/onnx)'
for name in "command line" descriptions checkpoints; do check "messages: those of $name have a case each" [ ! -s "$WORK/$name" ]; done
check "messages: there are enough of them" [ "$(ls tests/errors/*.err | wc -l)" -ge 60 ]
