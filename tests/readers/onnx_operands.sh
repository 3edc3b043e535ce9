#!/bin/sh
# Every operator of the ONNX importer with each operand absent, empty, of another rank or type, and each attribute out of range: a
# result or one message.
. tests/lib.sh
"$BUILD/tools/onnx_sweep" tests/readers/onnx_calls.txt || not_ok "onnx operands"
sed -n 's/^\([A-Z_]*\)("\([A-Za-z0-9]*\)".*/\1 \2/p; s/^ROW_IN("[^"]*", "\([A-Za-z0-9]*\)".*/ROW \1/p' compiler/frontend/onnx/operators/operators.def |
    while read -r row name; do
        [ "$row" = MICROSOFT ] && domain=com.microsoft || domain=
        grep -q "^node $name .*$domain\$" tests/readers/onnx_calls.txt || echo "$row $name"
    done > "$WORK/without"
check "onnx operands: every operator has a call: $(xargs < "$WORK/without")" test ! -s "$WORK/without"

# Long graphs in the time of their length: a chain of 60,000 nodes. Shapes that double 40 times in bounded memory.
{
    printf 'ir 10\nopset 20\ninput v0 f32 [2,4]\n'
    seq 1 60000 | awk '{ print "node Relu v" $1 - 1 " -> v" $1 }'
    echo 'output v60000 f32 [2,4]'
} | "$BUILD/tools/onnx_of_text" "$WORK/chain.onnx"
(ulimit -t 10 && "$BURIN" build "$WORK/chain.onnx" --emit=c > "$WORK/chain.c") && ok "onnx: 60,000 nodes in ten seconds" ||
    not_ok "onnx: 60,000 nodes in ten seconds"
{
    printf 'ir 10\nopset 20\ntensor t0 i64 [1] raw 1\n'
    seq 1 40 | awk '{ print "node Concat t" $1 - 1 " t" $1 - 1 " -> t" $1 " : axis=0" }'
    printf 'node ConstantOfShape t40 -> z\noutput z\n'
} | "$BUILD/tools/onnx_of_text" "$WORK/doubles.onnx"
(ulimit -v 1000000 && ulimit -t 10 && "$BURIN" inspect "$WORK/doubles.onnx") > "$WORK/doubles.said" 2>&1
check "onnx: a shape that doubles 40 times is refused (status $?)" [ $? = 1 ]
check "onnx: a shape that doubles 40 times: one message" grep -q "error: ConstantOfShape: " "$WORK/doubles.said"
