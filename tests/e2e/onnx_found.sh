#!/bin/sh
# ONNX files on which something went wrong once, as programs of tensors: the recorded outputs, and the interpreter's bits, whatever
# the number of threads. The small ones are in tests/e2e/onnx_found, the others in shared/data/onnx/found; slow-onnx_found.sh
# (ALL) takes those too. A line of the table: name, what is expected, tolerance as a share of the largest magnitude, options.
#
#   right     builds and runs as it is, or with the options
#   refused   an error with a hint; the options make it run, if there are any
#   open      neither yet: a line that is right all the same fails
. tests/lib.sh
. tests/lib_onnx.sh
need "found" "$BUILD/tools/case_tensor" "$BUILD/tools/npy_near"

table='
epi-M1                                right    1e-5
epi-M5-dynamic                        right    1e-5
epi-M6                                right    1e-5
lstm-layers-dyn                       right    1e-5
const-Z1                              right    1e-5
const-Z4                              right    1e-5
int4-qdq                              right    1e-2
pool-P1-scr                           right    1e-5
mra-scr                               right    1e-5
sew-scr                               right    1e-5
lm-rwkv-parallel-dyn                  right    1e-5
fp16-llama-dyn                        open     1e-2
fp16conv-gpt_neox-optimum-nocache-io32 open    1e-2
fp16conv-llama-optimum-nocache-io32   open     1e-2
lm-einsumT-dyn                        right    1e-5
lm-gqa-repeat-dyn                     right    1e-5
lm-manualsoftmax-dyn                  right    1e-5
lm-moe-dense-dyn                      right    1e-5
lm-moe-gather-dyn                     right    1e-5
lm-nnencoder-pre-scr                  right    1e-5
lm-tril-batch-dyn                     right    1e-5
mamba-scr                             right    1e-5
mha-pad-dyn                           right    1e-5
mpt-optimum-past                      right    1e-5
nbits-qdq-bert-optimum-enc            right    1e-2
nndecoder-dyn                         right    1e-5
opt-optimum-past                      right    1e-5
ortsess-basic-llama-optimum-past      right    1e-5
sew-dyn                               right    1e-5
'

builds() { "$BURIN" build "$folder/model.onnx" --as=net --mcpu=native "$@" -o "$WORK/$name" > "$WORK/build" 2>&1; }

# runs_right OPTIONS...: builds, runs, compares
runs_right() {
    if ! builds "$@"; then
        not_ok "found: $name builds"
        sed 's/^/# /' "$WORK/build"
        return
    fi
    read_inputs "$folder" "$WORK/$name"
    # shellcheck disable=SC2086 # words
    check "found: $name runs" "$WORK/$name" $inputs --output "$WORK/out"
    compare_outputs "found: $name" "$folder" "$WORK/$name" "$tolerance" largest
    same_as_interpreter "found: $name" "$folder/model.onnx" "$WORK/$name" "$@"
}

is_refused() {
    builds
    check "found: $name is refused with a hint" test $? = 1 -a -n "$(grep 'hint: ' "$WORK/build")"
}

# A folder, or nothing where there is none.
folder_of() {
    for f in "tests/e2e/onnx_found/$1" ${ALL:+"$SHARED/data/onnx/found/$1"}; do
        [ -e "$f/model.onnx" ] && echo "$f" && return
    done
}

echo "$table" > "$WORK/table"
while read -r name expected tolerance options; do
    folder=$(folder_of "${name:-nothing}")
    [ -n "$folder" ] || continue
    case $expected in
        right) runs_right $options ;;
        refused)
            is_refused
            [ -z "$options" ] || runs_right $options
            ;;
        open)
            # shellcheck disable=SC2086
            (runs_right $options) > "$WORK/open"
            check "found: $name is still open" grep -q '^not ok' "$WORK/open"
            ;;
    esac
    rm -rf "$WORK/$name" "$WORK/out"
done < "$WORK/table"
[ -z "${ALL-}" ] || for folder in "$SHARED"/data/onnx/found/*/; do
    check "found: $(basename "$folder") is in the table" grep -q "^$(basename "$folder") " "$WORK/table"
done
