#!/bin/sh
# Every message in the sources has a case that quotes it, in tests/errors, a unit test or the scripts below, or a reason
# why none can. Those without either fail, and so does a reason that is needed no more.
. tests/lib.sh

# part of the message, tab, why there is no case
cat > "$WORK/reasons" << 'END'
cannot map 	mmap fails
cannot read	a file that open(2) gives and read(2) refuses
cannot run	fork fails
cannot wait for	waitpid fails
cannot make the folder 	a disk that fills meanwhile
cannot load the compiled model	dlopen of what was just written fails
 was stopped by signal 	a killed compiler
no room is left in	a disk that is full, of which nothing is said
 failed with status 	a compiler that fails without a word
memory cannot be measured	the program that measures fails
not enough memory	memory that runs out
out of memory	memory that runs out
the linker left no room	another linker than lld
there is no C library for	a machine without the cross libraries
: gcc's library for	a machine without the cross libraries
is neither in it nor on this machine	a machine without the cross libraries
--mcpu: at most	more CPUs than there are names
 elements, the program recorded	a program that disagrees with its own IR
more than 4 GB	a tokenizer of 4 GB
more than 1 GB of structure	a model of 1 GB
neither tokens, slots	an input of a decoder that no frontend makes
the formula 	a formula of our own that is wrong
 does not parse at 	a formula of our own that is wrong
the encoder leaves no	an encoder that no frontend makes
the description of eyes has	a description of our own that is wrong
the text model has no	the same: its text model has no such layer or rotary embedding
no token for the rows of a	a folder with the tokenizer of another model
the decoder uses its tokens	a text model of a family whose eyes are not described
the input %%	an input that no frontend makes
burin check runs what it compiles	needs a CPU that is not this one
burin report --run runs what it	needs a CPU that is not this one
cannot open /dev/null	a machine without it
--text has 	its number stands first: tests/e2e/report.sh has the rest of it
the program did not run, so there	a program that fails on tokens or values of its own kind
, which is there: 	a file that may not be read: root reads all
its fields do not unpack	a second check, behind the walk over the file
tokens, more than a program can keep	needs a model with a context of 20,000 tokens
back: it has no weights	a program that is changed while burin writes it
an operand has too few or too many dimensions	a second check, behind the table of ranks
END

# file, tab, each literal part of the first line of each message. An escaped quote is ^A, an escaped backslash ^B on the way.
words='diag_error|diag_fatal|diag_warning|usage_error|file_fatal|tokenizer_fatal|report|refuse|dsl_syntax_error|ERROR|onnx_fatal'
words="$words|damaged|onnx_need_elements|template_fatal"
find compiler/cli compiler/toolchain compiler/build compiler/output compiler/debug compiler/commands compiler/report compiler/frontend dsl -name '*.[cly]' | sort | while read -r file; do
    tr '\n' ' ' < "$file" | sed -E 's/\\\\/\x02/g; s/\\"/\x01/g; s/" *(PRI[a-z0-9]+|JSON_INTEGER_FORMAT)/llu"/g; s/" *"//g' |
        grep -oE "\\b($words)\\([^;\"]*\"[^\"]*\"" |
        sed -E 's/^[^"]*"//; s/"$//; s/\\n.*//; s/\x01/"/g; s/\x02/\\/g; s/%[-+ #0-9.*]*(l|ll|z|j)?[a-zA-Z]/\n/g' |
        awk -v file="$file" 'length($0) >= 8 { print file "\t" $0 }'
done | sort -u > "$WORK/messages"
cat $FIXTURES/errors/*.err $FIXTURES/errors/*/*.err tests/unit/*.c tests/e2e/bisect.sh tests/e2e/commands.sh tests/e2e/draft.sh tests/e2e/explain.sh tests/e2e/eyes.sh tests/e2e/line_editor.sh tests/e2e/lora.sh tests/e2e/mmproj.sh tests/e2e/pictures.sh tests/e2e/prompt_cache.sh tests/e2e/python.sh tests/e2e/report.sh tests/e2e/tokenize.sh tests/e2e/voice.sh tests/mpi/failures.sh tests/mpi/plan.sh \
    tests/templates/*.sh tests/tokenizers/sentencepiece.sh tests/tokenizers/slow_classes.sh tests/tokenizers/piece_ids.sh tests/arm/boards.sh tests/e2e/slow-wheel.sh tests/windows/slow-large.sh > "$WORK/cases"
cat tests/e2e/whisper.sh tests/e2e/listen.sh >> "$WORK/cases"
while IFS="$(printf '\t')" read -r file text; do
    grep -qF -e "$text" "$WORK/cases" || echo "$file: $text"
done < "$WORK/messages" > "$WORK/uncovered"
cut -f1 "$WORK/reasons" > "$WORK/excused"
grep -vFf "$WORK/excused" "$WORK/uncovered" > "$WORK/without"

# part NAME PATTERN: the messages of matching files, and those without a case
part() {
    grep -E "$2" "$WORK/without" > "$WORK/part"
    echo "# $1: $(grep -cE "$2" "$WORK/messages") messages, $(wc -l < "$WORK/part") without a case"
    sed 's/^/#   /' "$WORK/part"
    check "messages: those of $1 have a case each" [ ! -s "$WORK/part" ]
}
part "command line" '^compiler/(cli|toolchain|build|output|debug|commands|report)/'
part descriptions '^(dsl|compiler/frontend/dsl)/'
part checkpoints '^compiler/frontend/(checkpoint|template|tokenizer|[a-z_]*\.)'
part ONNX '^compiler/frontend/onnx/'
check "messages: there are enough of them" [ "$(wc -l < "$WORK/messages")" -ge 600 ]
while IFS= read -r text; do
    grep -qF -e "$text" "$WORK/uncovered" || not_ok "messages: \"$text\" needs no reason"
done < "$WORK/excused"
