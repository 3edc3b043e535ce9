#!/bin/sh
# Decoders quantized dynamically by ONNX Runtime's tools (int8.py) are text programs: what ONNX Runtime gives for one token after the
# other, and the same bits for any chunk, CPU and number of threads, although the file takes one range of all tokens that it is given.
. tests/lib.sh
tar xJf tests/e2e/int8.tar.xz -C "$WORK"
tokens=305,19,8,103,245,71,229,4,77
for name in llama gpt2; do
    model=$WORK/$name/model.onnx program=$WORK/$name.out
    says "int8: $name builds, all of it fused, and says whose range it takes" 0 "each token by its own range" \
        emulated "$BURIN" build "$model" --as=text --require-fusion -o "$program"
    "$program" --tokens $tokens -n 0 --logits "$WORK/got.npy" > "$WORK/log" 2>&1
    check "int8: $name, logits of single steps" "$BUILD/tools/npy_near" "$WORK/got.npy" "$WORK/$name/logits.npy" 2e-6 largest
    hash=$("$BURIN" run "$model" --interpret --tokens $tokens -n 0 --logits-hash)
    one_hash "int8: $name" "$hash" "1 2 3:1 1:5" "$program" --tokens $tokens -n 0 --logits-hash
done

# Static QDQ around every product, attention's two as well: a text nearer to ONNX Runtime's than that is to the model before it was
# quantized (0.066 of the largest logit); as a program of tensors, every step of the file.
model=$WORK/qdq/model.onnx tokens=202,92,274,99,120,82,123,231,260,105,261
says "int8: qdq builds, all of it fused, and says that attention is in f32" 0 "bytes inside, in f32            2        0" \
    emulated "$BURIN" build "$model" --as=text --require-fusion --report -o "$WORK/qdq.out"
"$WORK/qdq.out" --tokens $tokens -n 0 --logits "$WORK/got.npy" > "$WORK/log" 2>&1
check "int8: qdq, logits" "$BUILD/tools/npy_near" "$WORK/got.npy" "$WORK/qdq/logits.npy" 0.06 largest units
hash=$("$BURIN" run "$model" --interpret --tokens $tokens -n 0 --logits-hash)
one_hash "int8: qdq" "$hash" "1 2 3:1 1:5" "$WORK/qdq.out" --tokens $tokens -n 0 --logits-hash

# QLinear operators (int8_forms.py): a text as well, by the table of tokens where no output is called logits.
tar xJf tests/e2e/int8_forms.tar.xz -C "$WORK"
model=$WORK/qlinear/model.onnx tokens=20,9,27,46,12,41,3,33,26
"$BURIN" run "$model" --as=text --interpret --tokens $tokens -n 0 --logits "$WORK/got.npy" > "$WORK/log" 2>&1
check "int8: qlinear, logits" "$BUILD/tools/npy_near" "$WORK/got.npy" "$WORK/qlinear/scores.npy" 0.03 largest units
# Attention's products of bytes too, both operands computed, as the tools write it and as the optimizer does: these stay floats, and the
# logits are nearer to those of the model before it was quantized (0.011 of the largest) than ONNX Runtime's (0.017).
for name in dynamic optimized; do
    model=$WORK/$name/model.onnx
    says "int8: $name builds, all of it fused, and says what is in f32" 0 "products of two computed values, as in attention: in f32" \
        "$BURIN" build "$model" --as=text --require-fusion --report --mcpu=native -o "$WORK/$name.out"
    "$WORK/$name.out" --tokens $tokens -n 0 --logits "$WORK/got.npy" > "$WORK/log" 2>&1
    check "int8: $name, logits" "$BUILD/tools/npy_near" "$WORK/got.npy" "$WORK/plain/scores.npy" 0.014 largest units
    check "int8: ... and the file's" "$BUILD/tools/npy_near" "$WORK/got.npy" "$WORK/$name/scores.npy" 0.03 largest units
done
# Scores that were quantized with a mask of -3.4e38 are all one byte: a text would bring them back, the file's numbers are without them.
says "int8: scores calibrated with their mask are no attention, and it says why" 1 "pairs every row with every other row" "$BURIN" build "$WORK/masked/model.onnx" --as=text -o "$WORK/none"
{ npy '<i4' 9 < /dev/null && printf '\024\0\0\0\011\0\0\0\033\0\0\0\056\0\0\0\014\0\0\0\051\0\0\0\003\0\0\0\041\0\0\0\032\0\0\0'; } > "$WORK/ids.npy"
"$BURIN" run "$WORK/masked/model.onnx" --interpret --input input_ids="$WORK/ids.npy" --output "$WORK" > "$WORK/log" 2>&1
mv "$WORK/scores.npy" "$WORK/got.npy"
check "int8: nor does the program of tensors differ from the file" "$BUILD/tools/npy_near" "$WORK/got.npy" "$WORK/masked/scores.npy" 1e-5 largest

# Sums of bytes beyond what f32 holds exactly: 700 times 255 times 127, in the program and in the interpreter.
cat > "$WORK/sums.txt" << 'END'
ir 8
opset 17
input x u8 [2,700]
tensor W i8 [700,3] external location=w.bin offset=0 length=2100
tensor Z u8 [] raw 0
node MatMulInteger x W Z -> y
output y i32 [2,3]
END
head -c 2100 /dev/zero | tr '\0' '\177' > "$WORK/w.bin"
"$BUILD/tools/onnx_of_text" "$WORK/sums.onnx" < "$WORK/sums.txt"
head -c 1400 /dev/zero | tr '\0' '\377' | npy '|u1' 2,700 > "$WORK/x.npy"
says "int8: long sums of bytes are exact" 0 "22669500 22669500 22669500" "$BURIN" run "$WORK/sums.onnx" --mcpu=native --input x="$WORK/x.npy"
says "int8: ... in the interpreter" 0 "22669500 22669500 22669500" "$BURIN" run "$WORK/sums.onnx" --interpret --input x="$WORK/x.npy"
check "int8: they are packed products, in parts" test "$("$BURIN" inspect "$WORK/sums.onnx" --stop-after=integer_products 2> "$WORK/log" | grep -c 'matmul_packed(')" = 2

# Rows that are no whole blocks of int8: each has blocks of its own, and what lives beside them keeps its value.
cat > "$WORK/narrow.txt" << 'END'
ir 8
opset 17
input x f32 [10,4]
tensor W i8 [4,3] raw 1 -2 3 4 -5 6 7 8 -9 10 11 12
node DynamicQuantizeLinear x -> q s z
node MatMulInteger q W z -> sums
node Cast sums -> f : to=1
node Mul f s -> y
output y f32 [10,3]
END
"$BUILD/tools/onnx_of_text" "$WORK/narrow.onnx" < "$WORK/narrow.txt"
{ npy '<f4' 10,4 < /dev/null && for i in 1 2 3 4 5 6 7 8 9 10; do printf '\0\0\200\77\0\0\40\101\0\0\310\102\0\0\200\277'; done; } > "$WORK/x.npy"
"$BURIN" run "$WORK/narrow.onnx" --interpret --input x="$WORK/x.npy" --hash > "$WORK/interpreted"
"$BURIN" run "$WORK/narrow.onnx" --mcpu=native --input x="$WORK/x.npy" --hash > "$WORK/compiled"
same "int8: narrow rows, the interpreter's bits" "$WORK/interpreted" "$WORK/compiled"

# Weights of u8 less a zero point, which i8 does not hold, and a sum that f32 rounds: one product, rounded once.
cat > "$WORK/wide.txt" << 'END'
ir 8
opset 17
input x u8 [2,699]
input zero u8 [1]
tensor W u8 [699,3] external location=w.bin offset=0 length=2097
tensor Z u8 [] raw 03
node MatMulInteger x W zero Z -> sums
node Cast sums -> f : to=1
node Cast f -> y : to=7
output y i64 [2,3]
END
head -c 2100 /dev/zero | tr '\0' '\372' > "$WORK/w.bin"
"$BUILD/tools/onnx_of_text" "$WORK/wide.onnx" < "$WORK/wide.txt"
head -c 1398 /dev/zero | tr '\0' '\377' | npy '|u1' 2,699 > "$WORK/x.npy"
printf '\001' | npy '|u1' 1 > "$WORK/zero.npy"
for how in --mcpu=native --interpret; do
    says "int8: sums are rounded once, $how" 0 "43853864 43853864 43853864" "$BURIN" run "$WORK/wide.onnx" $how --input x="$WORK/x.npy" --input zero="$WORK/zero.npy"
done
check "int8: ... of one product" test "$("$BURIN" inspect "$WORK/wide.onnx" --stop-after=fuse 2> "$WORK/log" | grep -c 'format="i9_32"')" = 1
