# The models of tests/families and, as shared-NAME, those of ../shared/data/families: folders in $models.
models=$WORK/models
mkdir "$models"
for _config in "$FIXTURES"/families/*/config.json; do
    _folder=${_config%/config.json}
    "$BUILD/tools/family_weights" "$_folder" "$models/${_folder##*/}" || not_ok "weights of $_folder"
done
[ -d "$SHARED/data/families" ] && for _config in "$SHARED"/data/families/*/config.json; do
    _folder=$(cd "${_config%/config.json}" && pwd)
    ln -s "$_folder" "$models/shared-${_folder##*/}"
done

# The integers of an .npy file with commas between.
integers() {
    if head -c 128 "$1" | grep -qa '<i8'; then set -- "$1" d8; else set -- "$1" d4; fi
    od -An -v -w8 -j 128 -t "$2" "$1" | xargs | tr ' ' ,
}

# kind_of FOLDER: a network gives tensors for tensors (an encoder of texts or images, or both with a decoder), a decoder and a
# pair, of encoder and decoder, logits for tokens
kind_of() {
    if [ -e "$1/decoder_input_ids.npy" ] && [ ! -e "$1/last_hidden_state.npy" ]; then echo pair; else
        $BURIN inspect "$1" 2> /dev/null | grep -q ' slot: ' && echo decoder || echo network
    fi
}

# results KIND FOLDER COMMAND...: the command's results for the folder's arrays, in $WORK/out
results() {
    _kind=$1 _folder=$2
    shift 2
    rm -rf "$WORK/out"
    [ $_kind = network ] || mkdir "$WORK/out"
    case $_kind in
        decoder) "$@" --tokens "$(integers "$_folder/input_ids.npy")" -n 0 --logits "$WORK/out/logits.npy" ;;
        pair)
            if [ -e "$_folder/pixel_values.npy" ]; then set -- "$@" --input "pixel_values=$_folder/pixel_values.npy"
            else set -- "$@" --tokens "$(integers "$_folder/input_ids.npy")"; fi
            "$@" --decoder-tokens "$(integers "$_folder/decoder_input_ids.npy")" -n 0 --logits "$WORK/out/logits.npy"
            ;;
        network)
            for _input in input_ids decoder_input_ids pixel_values input_values input_features; do
                [ ! -f "$_folder/$_input.npy" ] || set -- "$@" --input "$_input=$_folder/$_input.npy"
            done
            "$@" --output "$WORK/out"
            ;;
    esac
}

# as_expected NAME KIND FOLDER: $WORK/out holds transformers' results
tolerance=1e-5 # tests/tools/family.c has the same
as_expected() {
    for _file in "$3"/*.npy; do
        _result=$(basename "$_file" .npy)
        case $_result in input_* | decoder_input_ids | pixel_values) continue ;; esac
        [ "$2" = network ] || [ "$_result" = logits ] || continue
        check "$1: $_result" "$BUILD/tools/npy_near" "$WORK/out/$_result.npy" "$_file" $tolerance largest
    done
}
