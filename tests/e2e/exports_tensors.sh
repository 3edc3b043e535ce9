#!/bin/sh
# Exports by several exporters as programs of tensors: folders of shared/data/onnx/exports give their recorded outputs; and the
# interpreter's bits, whatever the number of threads. slow-exports_tensors.sh takes all of them, and on every CPU (BITS).
. tests/lib.sh
cases=$SHARED/data/onnx/exports
. tests/lib_onnx.sh
. tests/bits.sh
chunks=all
need "exports: programs of tensors" "$cases" "$BUILD/tools/case_tensor" "$BUILD/tools/npy_near"

export_of() {
    name=$1 folder=$cases/$1
    if ! "$BURIN" build "$folder/model.onnx" --as=net --mcpu=native -o "$WORK/$name" > "$WORK/build" 2>&1; then
        not_ok "exports: $name builds"
        sed 's/^/# /' "$WORK/build"
        return
    fi
    read_inputs "$folder" "$WORK/$name"
    # shellcheck disable=SC2086 # words
    check "exports: $name runs" "$WORK/$name" $inputs --output "$WORK/out"
    compare_outputs "exports: $name" "$folder" "$WORK/$name" 1e-4
    same_as_interpreter "exports: $name" "$folder/model.onnx" "$WORK/$name"
    [ -z "${BITS-}" ] || every_cpu
}

every_cpu() {
    asked="$inputs --hash"
    matrix "$name" "$folder/model.onnx" --as=net
    check "exports: $name, the same bits on every CPU" test "$hash" = "$(cut -d ' ' -f 1 "$WORK/cells" | sort -u)"
}
for name in ${EXPORTS:-bert-optimum-enc vit-optimum-enc t5-optimum-s2s-decoder-with-past gpt2-torch-dynamo}; do export_of "$name"; done
