#!/bin/sh
# ONNX files on which something went wrong once, as programs of tensors: the recorded outputs, and
# the interpreter's bits, whatever the number of threads. Small ones are in tests/e2e/onnx_found,
# larger ones in shared/data/onnx/found; slow-onnx_found.sh (ALL) takes those too. A line of the
# table: name, tolerance as a share of the largest magnitude, options.
#
# In f16 a sum is rounded by 2^-11 of itself, and two right programs round at other places: 8 such
# roundings, 4e-3, are allowed. (The same graphs in f32 tell: ONNX Runtime is off by up to 1.2e-3
# there, burin by 1.0e-3.)
. tests/lib.sh
. tests/lib_onnx.sh
need "found" "$BUILD/tools/case_tensor" "$BUILD/tools/npy_near"

table='
epi-M1                                 1e-5
epi-M5-dynamic                         1e-5
epi-M6                                 1e-5
lstm-layers-dyn                        1e-5
sizes-in-a-branch                      1e-5
gru-state-of-one                       1e-5
lstm-two-batches                       1e-5
const-Z1                               1e-5
const-Z4                               1e-5
int4-qdq                               1e-2
pool-P1-scr                            1e-5
mra-scr                                1e-5
sew-scr                                1e-5
lm-rwkv-parallel-dyn                   1e-5
fp16-llama-dyn                         4e-3
fp16conv-gpt_neox-optimum-nocache-io32 4e-3
fp16conv-llama-optimum-nocache-io32    4e-3
lm-einsumT-dyn                         1e-5
lm-gqa-repeat-dyn                      1e-5
lm-manualsoftmax-dyn                   1e-5
lm-moe-dense-dyn                       1e-5
lm-moe-gather-dyn                      1e-5
lm-nnencoder-pre-scr                   1e-5
lm-tril-batch-dyn                      1e-5
mamba-scr                              1e-5
mha-pad-dyn                            1e-5
mpt-optimum-past                       1e-5
nbits-qdq-bert-optimum-enc             1e-2
nndecoder-dyn                          1e-5
opt-optimum-past                       1e-5
ortsess-basic-llama-optimum-past       1e-5
sew-dyn                                1e-5
norms-f64                              1e-7
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

# A folder, or nothing where there is none.
folder_of() {
    for f in "tests/e2e/onnx_found/$1" ${ALL:+"$SHARED/data/onnx/found/$1"}; do
        [ -e "$f/model.onnx" ] && echo "$f" && return
    done
}

echo "$table" > "$WORK/table"
while read -r name tolerance options; do
    folder=$(folder_of "${name:-nothing}")
    [ -n "$folder" ] || continue
    # shellcheck disable=SC2086 # words
    runs_right $options
    rm -rf "$WORK/$name" "$WORK/out"
done < "$WORK/table"
[ -z "${ALL-}" ] || for folder in "$SHARED"/data/onnx/found/*/; do
    check "found: $(basename "$folder") is in the table" grep -q "^$(basename "$folder") " "$WORK/table"
done
