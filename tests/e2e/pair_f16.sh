#!/bin/sh
# An encoder and its decoder in f16 (a T5 of optimum's, its floats made halves as ONNX Runtime's converter does) are one program: the
# logits of ONNX Runtime within what f16 explains (tests/e2e/onnx_found.sh), the same bits for any chunk and number of threads.
# The file is called as a variable of the emitted C is.
. tests/lib.sh
case=tests/e2e/onnx_pair_f16
check "f16 pair: builds" "$BURIN" build "$case/encoder.onnx" "$case/decoder.onnx" --mcpu=native --ctx 64 \
    --max=encoder_sequence_length=64,decoder_sequence_length=64 -o "$WORK/pair"
logits() {
    "$WORK/pair" --tokens 223,122,214,218,12,218,189,155,80 --decoder-tokens 0,5,9,3,7,11 -n 0 --logits "$1" -t "$2" --chunk "$3" \
        > "$WORK/log" 2>&1
}
check "f16 pair: reads" logits "$WORK/got.npy" 2 64
check "f16 pair: ONNX Runtime's logits" "$BUILD/tools/npy_near" "$WORK/got.npy" "$case/logits.npy" 4e-3 largest
check "f16 pair: reads row by row" logits "$WORK/one.npy" 1 1
same "f16 pair: rows one by one" "$WORK/got.npy" "$WORK/one.npy"

# A folder as optimum exports it, its files in onnx/ or not, is what its files are.
mkdir -p "$WORK/export/onnx"
ln -s "$PWD/$case/encoder.onnx" "$WORK/export/onnx/encoder_model.onnx"
ln -s "$PWD/$case/decoder.onnx" "$WORK/export/onnx/decoder_model.onnx"
says "f16 pair: a folder of both" 0 "graph decode" "$BURIN" inspect "$WORK/export" --stop-after=infer
says "f16 pair: a folder of encoder.onnx and decoder.onnx" 0 "graph decode" "$BURIN" inspect $case --stop-after=infer
here=$PWD
names_the_program() { (mkdir "$WORK/elsewhere" && cd "$WORK/elsewhere" && "$here/$BURIN" build ../export && test -x export) > "$WORK/log" 2>&1; }
check "f16 pair: ... names the program" names_the_program
mv "$WORK/export/onnx" "$WORK/flat"
says "f16 pair: ... without onnx/" 0 "graph encode" "$BURIN" inspect "$WORK/flat" --stop-after=infer
mv "$WORK/flat/encoder_model.onnx" "$WORK/flat/model.onnx" && rm "$WORK/flat/decoder_model.onnx"
says "f16 pair: a folder of one model" 0 "graph " "$BURIN" inspect "$WORK/flat" --stop-after=infer
