#!/bin/sh
# Foreign text in every field of every format, in names of files and folders: none of it is C, a
# line of a Makefile, a command for a terminal, or a path. usage: hostile.sh [all]: every text of
# the models, not a few.
. tests/lib.sh
unsanitized hostile
home=$PWD
MARK='@BURIN@'
# One ends lines and commands terminals; one, without control characters, ends comments, strings and folders, and continues lines.
texts() { printf '%s\n' '\n'$MARK';\n#error '$MARK'\n\033[2J\033]0;'$MARK'\007$(touch '$MARK')\015'$MARK '"; '$MARK' */ ../'$MARK'/%%s%%n$(touch '$MARK')`touch '$MARK'` \'; }
mkdir "$WORK/cwd"

# Outside of comments and strings, and in the texts that are not C.
is_code() {
    for file in "$1"/*.[ch]; do
        grep -q "$MARK" "$file" && gcc -fpreprocessed -dD -E -P "$file" 2> /dev/null | sed 's/"\([^"\\]\|\\.\)*"//g' | grep -q "$MARK" && echo "$file"
    done
    grep -l "$MARK" "$1/Makefile" "$1"/*.S "$1/MANIFEST"
}
compiles() {
    gcc -std=gnu17 -fsyntax-only -DBURIN_CPU=x86_64_v3 -I"$1" -I"$1/runtime" "$1"/out.c "$1"/out_model.c "$1"/out_api.c
}
is_harmless() {
    ! tr -d '\n\t' < "$1" | LC_ALL=C grep -q '[[:cntrl:]]' && ! grep -q "^ *$MARK" "$1"
}

# built NAME COMMAND...: builds a folder of C and looks for the mark; adds to the numbers of builds and refusals
builds=0 refusals=0
built() {
    name=$1
    shift
    rm -rf "$WORK/out.c"
    (cd "$WORK/cwd" && timeout 60 "$home/$BURIN" "$@" --mcpu=x86-64-v3 -o "$WORK/out.c") > "$WORK/said" 2>&1
    status=$?
    is_harmless "$WORK/said" || { not_ok "$name: what is printed" && cat -v "$WORK/said" | head -5 | sed 's/^/# /'; }
    [ $status -le 1 ] || not_ok "$name: status $status"
    if [ $status = 0 ]; then
        builds=$((builds + 1))
        found=$(is_code "$WORK/out.c")
        [ -z "$found" ] || not_ok "$name: $MARK is code in $found"
        compiles "$WORK/out.c" > "$WORK/said" 2>&1 || { not_ok "$name: the C does not compile" && head -5 "$WORK/said" | sed 's/^/# /'; }
    else
        refusals=$((refusals + 1))
    fi
    [ -z "$(ls -A "$WORK/cwd")" ] || { not_ok "$name: files appear: $(ls "$WORK/cwd")" && rm -rf "$WORK/cwd"/*; }
}
closes() {
    check "hostile: $1: $builds builds, $refusals refusals" [ "$builds" -ge "$2" -a $((builds + refusals)) -ge 6 ]
    builds=0 refusals=0
}
# words FILE: its texts, without those that name operators and types
words() { "$BUILD/tools/hostile" --list "$1" | sort -u | awk 'length($0) > 1' | if [ "$all" ]; then cat; else awk "NR % ${2:-1} == 0"; fi; }
all=${1-}

# ONNX: names of values, nodes, dimensions, metadata.
cat > "$WORK/small.txt" << 'END2'
ir 10
opset 20
input tokens_in f32 [batch_size,4]
tensor table f32 [4] raw 1 2 3 4
node Add tokens_in table -> sum_of_both
node Relu sum_of_both -> positive
output positive f32 [batch_size,4]
END2
"$BUILD/tools/onnx_of_text" "$WORK/small.onnx" < "$WORK/small.txt"
for model in "$WORK/small.onnx" examples/digits/digits.onnx; do
    words "$model" $([ "$model" = "$WORK/small.onnx" ] || echo 30) | while read -r word; do echo "$word"; done > "$WORK/words"
    while read -r word; do
        texts > "$WORK/texts"
        while read -r text; do
            "$BUILD/tools/hostile" "$model" "$WORK/x.onnx" "$word" "$text" && built "hostile: $word of $(basename "$model")" build "$WORK/x.onnx"
        done < "$WORK/texts"
    done < "$WORK/words"
done
closes ONNX 6

# A dump: its head, scopes, names of constants; files in locations.
$BURIN build examples/austen --mcpu=x86-64-v3 --dump-ir="$WORK/dump" --stop-after=layout > "$WORK/said" 2>&1
dump=$(ls "$WORK"/dump/*-layout.ir)
words "$dump" 90 > "$WORK/words"
printf '%s\n' llama self_attn austen layers >> "$WORK/words"
while read -r word; do
    texts > "$WORK/texts"
    while read -r text; do
        "$BUILD/tools/hostile" "$dump" "$WORK/dump/x.ir" "$word" "$text" &&
            built "hostile: $word of a dump" build "$WORK/dump/x.ir" --start-from=layout
    done < "$WORK/texts"
done < "$WORK/words"
sed 's|@llama.burin:|@"a\\x0a'$MARK';\\x5c":|' "$dump" > "$WORK/dump/x.ir"
built "hostile: files of locations" build "$WORK/dump/x.ir" --start-from=layout
closes "a dump" 4

# A folder as downloaded: X-MOD's languages are part of names, everything else is for messages.
"$BUILD/tools/family_weights" $FIXTURES/families/xmod "$WORK/xmod"
mkdir "$WORK/folder"
words "$WORK/xmod/config.json" 12 > "$WORK/words"
echo de_DE >> "$WORK/words"
while read -r word; do
    texts > "$WORK/texts"
    while read -r text; do
        for file in config.json model.safetensors; do "$BUILD/tools/hostile" "$WORK/xmod/$file" "$WORK/folder/$file" "$word" "$text"; done
        built "hostile: $word of a folder" build "$WORK/folder"
    done < "$WORK/texts"
done < "$WORK/words"
closes "a folder" 1

# Names of files and folders, and texts of a description.
texts | while read -r text; do printf "$(echo "$text" | tr / _)" && printf '\001'; done | tr '\n\001' '\001\n' > "$WORK/names"
while IFS= read -r line; do
    name=$(printf '%s' "$line" | tr '\001' '\n')
    cp -R "$WORK/xmod" "$WORK/$name" && built "hostile: the name of a folder" build "$WORK/$name"
    cp dsl/models/llama.burin "$WORK/$name.burin" && built "hostile: the name of a description" build "$WORK/$name.burin" --weights examples/austen
    cp "$WORK/small.onnx" "$WORK/$name.onnx" && built "hostile: the name of an ONNX file" build "$WORK/$name.onnx"
    built "hostile: the name of what is missing" build "$WORK/$name.none.gguf"
    built "hostile: an option" build "$WORK/small.onnx" --dim "$name=3"
done < "$WORK/names"
closes names 2

# GGUF and tokenizers: names and metadata.
for model in "$SHARED"/data/gguf/v2_q4_0/model.gguf examples/austen/tokenizer.json; do
    [ -e "$model" ] || { skip "hostile: $model" "the shared data is missing"; continue; }
    words "$model" 400 | head -n 12 > "$WORK/words"
    printf '%s\n' llama tokenizer >> "$WORK/words"
    while read -r word; do
        "$BUILD/tools/hostile" "$model" "$WORK/x.${model##*.}" "$word" "\\033[2J\\n$MARK;" || continue
        case $model in
            *.gguf) built "hostile: $word of a GGUF" build "$WORK/x.gguf" ;;
            *) built "hostile: $word of a tokenizer" build examples/austen --tokenizer "$WORK/x.json" ;;
        esac
    done < "$WORK/words"
done
closes "GGUF and tokenizers" 0

# Labels of a GGUF and the prompt of its pairs are in the program, which prints the labels.
tar xJf tests/e2e/gguf_texts.tar.xz -C "$WORK" qwen3-reranker.gguf
for word in yes "Judge whether" classifier; do
    texts > "$WORK/texts"
    while read -r text; do
        "$BUILD/tools/hostile" "$WORK/qwen3-reranker.gguf" "$WORK/x.gguf" "$word" "$text" && built "hostile: $word of a GGUF's labels" build "$WORK/x.gguf"
    done < "$WORK/texts"
done
closes "a GGUF's labels" 6
"$BUILD/tools/hostile" "$WORK/qwen3-reranker.gguf" "$WORK/x.gguf" yes "$(texts | head -n 1)"
check "hostile: a program of labels" $BURIN build "$WORK/x.gguf" --mcpu=x86-64-v3 -o "$WORK/labels"
for options in "only a" "--format json a" --info --help; do
    (cd "$WORK/cwd" && "$WORK/labels" --top-k 2 $options) > "$WORK/said" 2>&1
    check "hostile: a program of labels prints: ${options% *}" is_harmless "$WORK/said"
done
check "hostile: labels make no files" [ -z "$(ls -A "$WORK/cwd")" ]

# A chat template: its text goes into the program, its errors to a terminal.
cp -R examples/austen "$WORK/talks"
for text in "{{ messages }}\\n#error $MARK\\n*/ \\\"; $MARK" "{{ $MARK( }} \\u001b[2J\\n$MARK" "{% $MARK \\u001b]0;x\\u0007 %}"; do
    printf '{"chat_template": "%s"}' "$text" > "$WORK/talks/tokenizer_config.json"
    built "hostile: a chat template" build "$WORK/talks"
    built "hostile: a chat template, other arguments" build "$WORK/talks" --chunk 8
done
closes "chat templates" 2

# A program: its output, and the paths of its output files.
rm -rf "$WORK/x.onnx"
"$BUILD/tools/hostile" "$WORK/small.onnx" "$WORK/y.onnx" positive "../../$MARK\"; \`touch $MARK\` %s%n" &&
    "$BUILD/tools/hostile" "$WORK/y.onnx" "$WORK/x.onnx" batch_size "b\" ../$MARK"
check "hostile: a program" $BURIN build "$WORK/x.onnx" --mcpu=x86-64-v3 -o "$WORK/program"
for options in --info --random "--random --output $WORK/cwd/outputs" "--input b\n$MARK=x.npy" "--$MARK"; do
    "$WORK/program" $(printf %b "$options") > "$WORK/said" 2>&1
    check "hostile: what a program prints: ${options%% *}" is_harmless "$WORK/said"
done
"$WORK/program" --info > "$WORK/said"
check "hostile: --info has its lines" grep -q '^weights  ' "$WORK/said"
check "hostile: outputs stay in their folder" [ "$(ls "$WORK/cwd")$(ls -A "$WORK/cwd/outputs" | wc -l)" = outputs1 ]
