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

# in_time NAME: the file is compiled in 10 seconds of a CPU, below 250 MB
model() { "$BUILD/tools/onnx_of_text" "$WORK/$1.onnx"; }
in_time() { check "onnx: $1" "$BUILD/tools/peak" 250 sh -c "ulimit -t 10; $BURIN build '$WORK/$1.onnx' --emit=c"; }
{
    printf 'ir 10\nopset 20\ninput x f32 [3000,4]\n'
    seq 0 2999 | awk '{ print "tensor b" $1 " i64 [1] raw " $1 "\ntensor e" $1 " i64 [1] raw " $1 + 1 "\nnode Slice x b" $1 " e" $1 " -> s" $1 }'
    echo "node Concat $(seq -f 's%.0f' 0 2999 | tr '\n' ' ') -> y : axis=0" && echo 'output y f32 [3000,4]'
} | model 3000_slices
in_time 3000_slices
{
    printf 'ir 10\nopset 20\ntensor w f32 [4,4] raw 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\ninput v0 f32 [2,4]\n'
    seq 1 2500 | awk '{ print "node MatMul v" $1 - 1 " w -> v" $1 }'
    echo 'output v2500 f32 [2,4]'
} | model 2500_products
in_time 2500_products
{
    printf 'ir 10\nopset 20\ntensor t f32 [4] raw 1 2 3 4\ninput v0 f32 [2,4]\n'
    seq 1 40000 | awk '{ print "node Add t v" $1 - 1 " -> v" $1 }'
    echo 'output v40000 f32 [2,4]'
} | model 40000_sums
in_time 40000_sums

# A product of sums of sizes has as many terms as the product of their numbers of terms.
{
    printf 'ir 10\nopset 20\n'
    seq 1 64 | awk '{ print "input x" $1 " f32 [D" $1 "]\nnode Shape x" $1 " -> s" $1 }'
    seq 0 7 | awk '{ for (i = 2; i <= 8; i++) print "node Add " (i == 2 ? "s" 8 * $1 + 1 : "a" $1 "_" i - 1) " s" 8 * $1 + i " -> a" $1 "_" i }'
    seq 1 7 | awk '{ print "node Mul " ($1 == 1 ? "a0_8" : "m" $1 - 1) " a" $1 "_8 -> m" $1 }'
    printf 'node ConstantOfShape m7 -> y\noutput y\n'
} | model product_of_sums
says "onnx: a product of sums of sizes is refused" 1 "a size is a sum of more than 512 products of other sizes" timeout 20 "$BURIN" inspect "$WORK/product_of_sums.onnx"

# Scales and regions whose positions are no integers of 64 bits.
resized() { printf 'ir 10\nopset 19\ninput a f32 [1,1,4,4]\ntensor b f32 [4] raw 0.4 0.6 %s 0.8\n%s\noutput x\n' "$1" "$2" | model resized; }
for region in 1e30 -1e30 nan inf; do
    resized "$region" "tensor c i64 [2] raw 3 3
node Resize a b _ c -> x : axes=[2,3] coordinate_transformation_mode='tf_crop_and_resize' mode='linear'"
    says "onnx: a region that ends at $region is refused" 1 "of the input, expected numbers up to 1e+06" "$BURIN" inspect "$WORK/resized.onnx"
done
for scale in 1e30 inf nan -1; do
    resized 0 "tensor c f32 [2] raw 1 $scale
node Resize a _ c -> x : axes=[2,3] mode='nearest'"
    says "onnx: a scale of $scale is refused" 1 "scale " "$BURIN" inspect "$WORK/resized.onnx"
done
