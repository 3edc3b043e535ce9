# Small encoders and decoders as exports write them, for messages about several files.

# model FILE LINE...: of onnx_text.h, with a table E
model() {
    _file=$1
    shift
    printf '%s\n' 'ir 10' "opset ${opset:-20}" 'tensor E f32 [3,4] raw 1 2 3 4 5 6 7 8 9 10 11 12' "$@" | "$TOOLS/onnx_of_text" "$_file"
}

encoder() {
    model e.onnx 'input input_ids i64 [1,S]' 'output last_hidden_state f32 [1,S,4]' 'node Gather E input_ids -> last_hidden_state'
}

# decoder FILE IDS SCORES LINE...: scores of tokens that it looks up by IDS; the lines are its inputs and what makes IDS of them
decoder() {
    _model=$1 _ids=$2 _scores=$3
    shift 3
    model "$_model" "$@" 'input encoder_hidden_states f32 [1,S,4]' "output $_scores f32 [1,T,4]" "node Gather E $_ids -> e" \
        'node ReduceMean encoder_hidden_states -> m : keepdims=0' "node Add e m -> $_scores"
}

# build FILE...: what burin says of them
build() {
    $BURIN build "$@" -o net
    _status=$?
    rm -f "$@"
    exit $_status
}
