#!/bin/sh
# ONNX networks whose batch is a symbol: every attention is fused, and a row of a batch has the bits of the same row alone, whatever
# pads it, on every CPU here, with any number of threads, and in the interpreter. slow-batches.sh takes decoders with a past too.
. tests/lib.sh
cases=$SHARED/data/onnx/exports
need "batches" "$cases"
unsanitized "batches"

# A row is 13 tokens: all of them, 9 followed by padding, 9 after padding, and that with other ids
# in the padding.
integers() { for _value; do printf "\\$(printf %03o "$_value")\000\000\000\000\000\000\000"; done; }
full='5 9 17 200 31 6 77 8 150 64 3 12 91' text='44 7 99 23 180 2 10 65 13'
ones='1 1 1 1 1 1 1 1 1' none='0 0 0 0'
# shellcheck disable=SC2086 # words
{
    integers $full $text $none $none $text 9 8 7 6 $text | npy '<i8' 4,13 > "$WORK/ids.npy"
    integers 1 1 1 1 $ones $ones $none $none $ones $none $ones | npy '<i8' 4,13 > "$WORK/mask.npy"
    integers $full | npy '<i8' 1,13 > "$WORK/full.npy"
    integers $text | npy '<i8' 1,9 > "$WORK/text.npy"
    integers $none $text | npy '<i8' 1,13 > "$WORK/left.npy"
    integers $none $ones | npy '<i8' 1,13 > "$WORK/left_mask.npy"
}

# network NAME FUSIONS OPTIONS...: builds it; FUSIONS, counted by hand in the architecture, are "pattern matched missed ..."
network() {
    name=$1 fusions=$2
    shift 2
    emulated "$BURIN" build "$cases/$name/model.onnx" -v --as=net "$@" -o "$WORK/$name" > "$WORK/build" 2>&1 || not_ok "batches: $name builds"
    got=$(awk '$3 ~ /^[0-9]+$/ && NF == 3 { print }' "$WORK/build" | sort | xargs)
    echo "$got" > "$WORK/got" && echo "$fusions" > "$WORK/fusions"
    same "batches: fusions of $name" "$WORK/fusions" "$WORK/got"
}

# run NAME OUTPUT-FOLDER INPUT=FILE...
run() {
    _program=$WORK/$1 _folder=$WORK/$2
    shift 2
    for _input; do
        set -- "$@" --input "${_input%%=*}=$WORK/${_input#*=}"
        shift
    done
    "$_program" "$@" --output "$_folder" || not_ok "batches: $_program runs"
}

# part NAME FOLDER ROW FIRST COUNT: rows of one sequence, of $bytes each
part() { values "$WORK/$2/$output.npy" | tail -c +$((($3 * 13 + $4) * bytes + 1)) | head -c $(($5 * bytes)) > "$WORK/$1"; }

# rows NAME OUTPUT BYTES: of the output, bytes a row
rows() {
    name=$1 output=$2 bytes=$3
    run "$name" batch input_ids=ids.npy attention_mask=mask.npy
    run "$name" full input_ids=full.npy
    run "$name" text input_ids=text.npy
    run "$name" left input_ids=left.npy attention_mask=left_mask.npy
    part alone full 0 0 13 && part got batch 0 0 13
    same "batches: $name, a whole row" "$WORK/alone" "$WORK/got"
    part alone text 0 0 9 && part got batch 1 0 9
    same "batches: $name, padding behind" "$WORK/alone" "$WORK/got"
    part alone left 0 0 13 && part got batch 2 0 13
    same "batches: $name, padding before" "$WORK/alone" "$WORK/got"
    part alone batch 2 4 9 && part got batch 3 4 9
    same "batches: $name, padding is not read" "$WORK/alone" "$WORK/got"
}

# hash_of NAME: the interpreter's, and the program's in every cell
hash_of() {
    set -- "$1" --input "input_ids=$WORK/ids.npy" --input "attention_mask=$WORK/mask.npy" --hash
    name=$1 && shift
    expected=$("$BURIN" run "$cases/$name/model.onnx" --as=net --interpret "$@")
    one_hash "batches: $name, the interpreter's bits" "$expected" "1 2 5" "$WORK/$name" "$@"
}

levels=--mcpu=native
[ "$(uname -m)" != x86_64 ] || levels=--mcpu=x86-64,x86-64-v3,x86-64-v4
network bert-optimum-enc "attention 2 0 gelu 2 0 padding 2 0" "$levels"
rows bert-optimum-enc last_hidden_state 256
hash_of bert-optimum-enc
network bert-optimum-enc "attention 2 0 gelu 2 0 padding 2 0" --mcpu=native --dim batch_size=4
part alone batch 0 0 52
run bert-optimum-enc fixed input_ids=ids.npy attention_mask=mask.npy && part got fixed 0 0 52
same "batches: bert-optimum-enc, a batch of 4 when it is built" "$WORK/alone" "$WORK/got"
network t5-optimum-s2s-encoder "attention 2 0 padding 2 0 rms_normalization 5 0" --mcpu=native
rows t5-optimum-s2s-encoder last_hidden_state 256
part alone text 0 0 9 && part got batch 2 4 9
same "batches: t5-optimum-s2s-encoder, whose positions are distances: padding before is padding behind" "$WORK/alone" "$WORK/got"
network llama-optimum-nocache "attention 2 0 rms_normalization 5 0 rotary_embedding 4 0 silu 2 0" --mcpu=native
rows llama-optimum-nocache logits 1280
hash_of llama-optimum-nocache

# Cross attention: a decoder over the encoder's result for each row.
run t5-optimum-s2s-encoder hidden input_ids=ids.npy attention_mask=mask.npy
output=last_hidden_state bytes=256
part states hidden 1 0 9 && npy '<f4' 1,9,64 < "$WORK/states" > "$WORK/states.npy"
network t5-optimum-s2s-decoder "attention 4 0 padding 2 0 rms_normalization 7 0" --mcpu=native --max=encoder_sequence_length=64
run t5-optimum-s2s-decoder batch input_ids=ids.npy encoder_attention_mask=mask.npy encoder_hidden_states=hidden/last_hidden_state.npy
run t5-optimum-s2s-decoder one input_ids=text.npy encoder_hidden_states=states.npy
output=logits bytes=1280
part alone one 0 0 9 && part got batch 1 0 9
same "batches: t5-optimum-s2s-decoder, what is padded in the encoder" "$WORK/alone" "$WORK/got"

# Pictures have no mask.
network vit-optimum-enc "attention 2 0 gelu 2 0" --mcpu=native --dim num_channels=3,height=32,width=32
head -c 24576 "$BURIN" | tr '\000-\377' '\000-\077' | npy '<f4' 2,3,32,32 > "$WORK/pictures.npy"
values "$WORK/pictures.npy" | tail -c 12288 | npy '<f4' 1,3,32,32 > "$WORK/picture.npy"
run vit-optimum-enc batch pixel_values=pictures.npy
run vit-optimum-enc one pixel_values=picture.npy
values "$WORK/one/last_hidden_state.npy" > "$WORK/alone" && tail -c 4352 "$WORK/batch/last_hidden_state.npy" > "$WORK/got"
same "batches: vit-optimum-enc, the second picture" "$WORK/alone" "$WORK/got"

# The first tokens of all sequences are rows as far apart as the sequences are long, which only the run knows.
cat > "$WORK/first.ir" << 'END'
// {"module":"first","description":"","context":0,"bos":-1,"eos":[]}
graph main(%x: f32[B, S, 4]) -> (%y) where B <= 8, S <= 16 {
  %w = constant {value=[1.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]} : f32[4, 4]
  %first = slice(%x) {axis=1, extent=1, start=0} : f32[B, 1, 4]
  %rows = reshape(%first) {shape=[B, 4]} : f32[B, 4]
  %y = matmul(%rows, %w) : f32[B, 4]
}
END
check "batches: first tokens, built" "$BURIN" build "$WORK/first.ir" --start-from=infer --mcpu=native -o "$WORK/first"
for length in 1 3; do
    "$WORK/first" --random --dim "B=2,S=$length" --hash > "$WORK/got"
    "$BURIN" run "$WORK/first.ir" --start-from=infer --interpret -- --random --dim "B=2,S=$length" --hash > "$WORK/alone"
    same "batches: first tokens of sequences of $length" "$WORK/alone" "$WORK/got"
done
