#!/bin/sh
# Exports by several exporters as programs of tensors: folders of shared/data/onnx/exports give their recorded outputs; and the
# interpreter's bits, whatever the number of threads. slow-exports_tensors.sh takes all of them, and on every CPU (BITS).
. tests/lib.sh
cases=$SHARED/data/onnx/exports
. tests/bits.sh
chunks=all
need "exports: programs of tensors" "$cases" "$BUILD/tools/case_tensor" "$BUILD/tools/npy_near"

# names KIND PROGRAM: of its inputs or outputs, in order
names() { "$2" --info | sed -n "s/^$1 *\([^:]*\): .*/\1/p"; }

export_of() {
    name=$1 folder=$cases/$1 data=$cases/$1/test_data_set_0
    if ! "$BURIN" build "$folder/model.onnx" --as=net --mcpu=native -o "$WORK/$name" > "$WORK/build" 2>&1; then
        not_ok "exports: $name builds"
        sed 's/^/# /' "$WORK/build"
        return
    fi
    i=0
    set --
    for input in $(names input "$WORK/$name"); do
        "$BUILD/tools/case_tensor" "$data/input_$i.pb" "$WORK/$name.$i.npy"
        set -- "$@" --input "$input=$WORK/$name.$i.npy"
        i=$((i + 1))
    done
    check "exports: $name runs" "$WORK/$name" "$@" --output "$WORK/$name.out"
    i=0
    for output in $(names output "$WORK/$name"); do
        "$BUILD/tools/case_tensor" "$data/output_$i.pb" "$WORK/expected.npy"
        check "exports: $name, $output" "$BUILD/tools/npy_near" "$WORK/$name.out/$output.npy" "$WORK/expected.npy" 1e-4
        i=$((i + 1))
    done
    hash=$("$BURIN" run "$folder/model.onnx" --as=net --interpret "$@" --hash)
    for threads in 1 2 3; do "$WORK/$name" "$@" --hash -t $threads; done | sort -u > "$WORK/hashes"
    check "exports: $name, the interpreter's bits" test "$hash" = "$(cat "$WORK/hashes")"
    [ -z "${BITS-}" ] || every_cpu "$@"
}

every_cpu() {
    asked="$* --hash"
    matrix "$name" "$folder/model.onnx" --as=net
    check "exports: $name, the same bits on every CPU" test "$hash" = "$(cut -d ' ' -f 1 "$WORK/cells" | sort -u)"
}
for name in ${EXPORTS:-bert-optimum-enc vit-optimum-enc t5-optimum-s2s-decoder-with-past gpt2-torch-dynamo}; do export_of "$name"; done
