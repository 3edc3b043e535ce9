#!/bin/sh
# Files made to crash or hang the readers of text: each ends with one message or an answer, within
# 10 seconds (2 on an idle machine) and 1 GB. The data are shared; without them only other scripts'
# cases of these kinds run.
. tests/lib.sh
hostile=$SHARED/data/found2/hostile
need "hostile: files" "$hostile/m.json"
[ -f "$hostile/m.json" ] || exit 0

# within NAME STATUS TEXT COMMAND...: the text is in the command's output
within() {
    _name=$1 _status=$2 _text=$3
    shift 3
    says "hostile: $_name" "$_status" "$_text" timeout 10 sh -c "[ '${BUILD##*/}' = san ] || ulimit -v 1000000; exec \"\$@\"" sh "$@"
}
for case in "isalpha_loop:1:isalpha_loop.jinja: this takes more than" "ljust_empty:1:what fills a width is one character" \
    "strip:1:strip.jinja: this takes more than" "int_base1:0:5"; do
    rest=${case#*:}
    within "${case%%:*}" "${rest%%:*}" "${rest#*:}" "$BURIN" template "$hostile/${case%%:*}.jinja" --messages "$hostile/m.json"
done
within "a decoder that grows" 1 "decoder makes more than 1 MB of one token" "$BURIN" tokenize "$hostile/decoder_grow.json" "a b c"
within "a shape that doubles" 1 "ConstantOfShape: the shape is computed from values that are only known at run time" "$BURIN" inspect "$hostile/shapedouble40.onnx"
echo '{"accepted": ["a"]}' > "$WORK/a.json"
check "hostile: nothing, doubled" timeout 10 "$BUILD/tools/grammar" gbnf "$hostile/empty2.gbnf" "$WORK/a.json"
printf '{"schema": %s, "valid": ["\\"\\""]}' "$(cat "$hostile/pattern_empty_nested.json")" > "$WORK/pattern.json"
check "hostile: a pattern of nothing" timeout 10 "$BUILD/tools/grammar" schema "$WORK/pattern.json"
