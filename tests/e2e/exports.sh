#!/bin/sh
# Exports of decoders by several exporters, with and without a cache, as text programs: the recorded logits, the same bits one row at
# a time, the recorded greedy text; an encoder and a decoder in one program. slow-exports.sh takes all of them.
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
    "$WORK/$name" --bench --positions 16,120 > "$WORK/bench" 2>&1
    check "exports: $name, time of matrix products at 16 and 120" \
        [ "$(grep -c '^decode at \(16\|120\) .*matmul  *[0-9.]* ms$' "$WORK/bench")" = 2 ]
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

# An encoder and a decoder in one program, against the two as programs of tensors, one after the other.
pair() {
    family=$1 source=$2 likeliest=$3
    encoder=$CASES/$family-optimum-s2s-encoder decoder=$CASES/$family-optimum-s2s-decoder
    bounds=batch_size=1
    [ -e "$encoder/model.onnx" ] || { skip "exports: $family in one program" "not here"; return; }
    "$BURIN" build "$encoder/model.onnx" --dim=$bounds --mcpu=native -o "$WORK/encoder" > "$WORK/build" 2>&1 &&
        "$BURIN" build "$decoder/model.onnx" --dim=$bounds --max=encoder_sequence_length=1500,decoder_sequence_length=64 --mcpu=native \
            -o "$WORK/decoder" >> "$WORK/build" 2>&1 &&
        "$BURIN" build "$decoder/model.onnx" "$encoder/model.onnx" "$decoder-with-past/model.onnx" --mcpu=native \
            --max=encoder_sequence_length=64,decoder_sequence_length=64 -o "$WORK/both" >> "$WORK/build" 2>&1 || {
        not_ok "exports: $family in one program"
        sed 's/^/# /' "$WORK/build"
        return
    }
    "$BUILD/tools/case_tensor" "$encoder/test_data_set_0/input_0.pb" "$WORK/source.npy"
    if [ "$source" = tokens ]; then
        "$BUILD/tools/case_tensor" "$encoder/test_data_set_0/input_1.pb" "$WORK/mask.npy"
        set -- --input input_ids="$WORK/source.npy" --input attention_mask="$WORK/mask.npy"
        mask="--input encoder_attention_mask=$WORK/mask.npy"
        ids=$decoder/test_data_set_0/input_1.pb
    else
        set -- --input input_features="$WORK/source.npy"
        mask=
        ids=$decoder/test_data_set_0/input_0.pb
    fi
    "$WORK/encoder" "$@" --output "$WORK/hidden" > /dev/null 2>&1
    "$BUILD/tools/case_tensor" "$ids" "$WORK/ids.npy"
    # shellcheck disable=SC2086
    "$WORK/decoder" --input input_ids="$WORK/ids.npy" $mask --input encoder_hidden_states="$WORK/hidden/last_hidden_state.npy" \
        --output "$WORK/apart" > /dev/null 2>&1
    if [ "$source" = tokens ]; then
        set -- --tokens "$("$BUILD/tools/case_tensor" "$encoder/test_data_set_0/input_0.pb")"
    else
        "$BUILD/tools/case_tensor" "$encoder/test_data_set_0/input_0.pb" "$WORK/batch.npy"
        tail -c +129 "$WORK/batch.npy" > "$WORK/batch.raw"
        { head -c 10 "$WORK/batch.npy"; printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (80,3000,), }"; cat "$WORK/batch.raw"; } \
            > "$WORK/one.npy"
        set -- --input input_features="$WORK/one.npy"
    fi
    "$WORK/both" "$@" --decoder-tokens "$("$BUILD/tools/case_tensor" "$ids")" -n 0 --logits "$WORK/together.npy" > /dev/null 2>&1
    "$WORK/both" "$@" --decoder-tokens "$("$BUILD/tools/case_tensor" "$ids")" -n 0 --chunk 1 --logits "$WORK/each.npy" > /dev/null 2>&1
    same "exports: $family, rows one by one" "$WORK/together.npy" "$WORK/each.npy"
    tail -c 14080 "$WORK/apart/logits.npy" > "$WORK/apart.raw"
    head -c 128 "$WORK/together.npy" | cat - "$WORK/apart.raw" > "$WORK/apart.npy"
    check "exports: $family in one program" "$BUILD/tools/npy_near" "$WORK/together.npy" "$WORK/apart.npy" 1e-4
    "$WORK/both" "$@" --decoder-tokens 0 -n 20 --temp 0 > "$WORK/greedy" 2> "$WORK/out"
    yes "$likeliest" | head -n 20 | paste -sd , > "$WORK/want" # of ONNX Runtime's logits over the two files
    same "exports: $family in one program, greedy" "$WORK/want" "$WORK/greedy"
    says "exports: $family, no decoder but that with a past" 1 "are in the decoder without a past" \
        "$BURIN" build "$encoder/model.onnx" "$decoder-with-past/model.onnx" -o "$WORK/none"
}

for c in ${DECODERS:-gpt2-optimum-nocache llama-optimum-past}; do decoder "$c"; done
for c in ${PAIRS:-t5}; do
    case $c in
        whisper) pair whisper features 150 ;;
        *) pair "$c" tokens 0 ;;
    esac
done
