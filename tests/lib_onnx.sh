# Recorded cases of ONNX files as programs of tensors: `. tests/lib_onnx.sh` after lib.sh. A case is a folder: model.onnx, and
# test_data_set_0 in the layout of ONNX's backend tests.

# names KIND PROGRAM: of its inputs or outputs, in order
names() { "$2" --info | sed -n "s/^$1 *\([^:]*\): .*/\1/p"; }

# read_inputs FOLDER PROGRAM: $inputs are the recorded ones as arguments
read_inputs() {
    _i=0 inputs=
    for _input in $(names input "$2"); do
        "$BUILD/tools/case_tensor" "$1/test_data_set_0/input_$_i.pb" "$WORK/in.$_i.npy"
        inputs="$inputs --input $_input=$WORK/in.$_i.npy" _i=$((_i + 1))
    done
}

# compare_outputs TEXT FOLDER PROGRAM TOLERANCE...: the outputs in $WORK/out against the recorded
# ones
compare_outputs() {
    _text=$1 _data=$2/test_data_set_0 _program=$3 _i=0
    shift 3
    for _output in $(names output "$_program"); do
        "$BUILD/tools/case_tensor" "$_data/output_$_i.pb" "$WORK/expected.npy"
        check "$_text, $_output" "$BUILD/tools/npy_near" "$WORK/out/$_output.npy" "$WORK/expected.npy" "$@"
        _i=$((_i + 1))
    done
}

# same_as_interpreter TEXT MODEL PROGRAM OPTIONS...: its bits, whatever the number of threads; $hash is the interpreter's
same_as_interpreter() {
    _text=$1 _model=$2 _program=$3
    shift 3
    # shellcheck disable=SC2086 # words
    hash=$("$BURIN" run "$_model" --as=net "$@" --interpret $inputs --hash)
    # shellcheck disable=SC2086
    for _threads in 1 2 3; do "$_program" $inputs --hash -t $_threads; done | sort -u > "$WORK/hashes"
    check "$_text, the interpreter's bits" test "$hash" = "$(cat "$WORK/hashes")"
}
