#!/bin/sh
# Small files that other projects test with (shared/data/onnx): they build, run, and give the interpreter's bits.
. tests/lib.sh
cases=$SHARED/data/onnx
need "small exports" "$cases/vespa" "$cases/tiny-gpt2-past"

# net_of FILE OPTION...: as a program of tensors
net_of() {
    file=$1 name=$(basename "$1" .onnx)
    shift
    check "$name builds" "$BURIN" build "$file" --mcpu=native "$@" -o "$WORK/$name"
    "$WORK/$name" --random --hash > "$WORK/program"
    check "$name runs" grep -qxE '[0-9a-f]{16}' "$WORK/program"
    "$BURIN" run "$file" "$@" --interpret --random --hash > "$WORK/interpreter"
    check "$name gives the interpreter's bits" cmp "$WORK/program" "$WORK/interpreter"
}
net_of "$cases/vespa/dummy_transformer.onnx"
net_of "$cases/vespa/dummy_transformer_without_type_ids.onnx"
net_of "$cases/vespa/random_encoder.onnx"
net_of "$cases/vespa/random_decoder.onnx" --dim batch=1 # its shapes fit for one sequence only

check "past builds" "$BURIN" build "$cases/tiny-gpt2-past/past.onnx" --mcpu=native -o "$WORK/past"
"$WORK/past" --tokens 1,2,3 -n 5 --temp 0 > "$WORK/written"
check "past writes five tokens" grep -qxE '([0-9]+,){4}[0-9]+' "$WORK/written"
