#!/bin/sh
# Exports of decoders by several exporters, with and without a cache, as text programs: the recorded logits, the same bits one row at
# a time, the recorded greedy text.
. tests/lib.sh
CASES=$SHARED/data/onnx/exports
need "exports: text programs" "$CASES" "$BUILD/tools/case_tensor"

# numbers FILE KEY: the list under "KEY" of a case.json, with commas
numbers() { tr -d ' \n' < "$1" | sed "s/.*\"$2\":\[\([0-9,]*\)\].*/\1/"; }

# tokens of test data: input_ids is the first input of every case
decoder() {
    name=$1
    folder=$CASES/$name
    [ -e "$folder/model.onnx" ] || { skip "exports: $name" "not here"; return; }
    if ! "$BURIN" build "$folder/model.onnx" --mcpu=native -o "$WORK/$name" > "$WORK/build" 2>&1; then
        not_ok "exports: $name builds"
        sed 's/^/# /' "$WORK/build"
        return
    fi
    data=$folder/test_data_set_0
    tokens=$("$BUILD/tools/case_tensor" "$data/input_0.pb")
    "$WORK/$name" --tokens "$tokens" -n 0 --logits "$WORK/all.npy" > /dev/null 2>&1
    "$WORK/$name" --tokens "$tokens" -n 0 --chunk 1 --logits "$WORK/one.npy" > /dev/null 2>&1
    same "exports: $name, rows one by one" "$WORK/all.npy" "$WORK/one.npy"
    case $name in
        *-past) ;; # its test data have a past
        *) recorded ;;
    esac
    prompt=$(numbers "$folder/case.json" prompt)
    "$WORK/$name" --tokens "$prompt" -n 40 --temp 0 2> /dev/null | tr -c '0-9\n' ',' | tr '\n' ',' | tr -s ',' |
        sed 's/,$//;s/^,//' > "$WORK/text"
    if [ "$(cat "$WORK/text")" = "$prompt,$(numbers "$folder/case.json" next)" ] ||
        [ "$(cat "$WORK/text")" = "$(numbers "$folder/case.json" next)" ]; then
        ok "exports: $name, greedy"
    else
        not_ok "exports: $name, greedy"
        sed 's/^/# /' "$WORK/text"
    fi
}

# The logits are [1, rows, vocabulary] in the case and [rows, vocabulary] from the program.
recorded() {
    "$BUILD/tools/case_tensor" "$data/output_0.pb" "$WORK/want.npy"
    tail -c +129 "$WORK/want.npy" > "$WORK/want.raw"
    head -c 128 "$WORK/all.npy" | cat - "$WORK/want.raw" > "$WORK/want2.npy"
    check "exports: $name, recorded logits" "$BUILD/tools/npy_near" "$WORK/all.npy" "$WORK/want2.npy" 1e-4
}

for c in gpt2-optimum-nocache gpt2-torch-dynamo gpt2-optimum-past llama-optimum-nocache llama-torch-dynamo llama-optimum-past \
    bloom-optimum-nocache bloom-torch-dynamo; do
    decoder $c
done
