#!/bin/sh
# Formats of weights and caches, encoders, networks and experts over 1 to 4 ranks: one hash each, that of the program without MPI.
. tests/lib.sh
. tests/lib_mpi.sh
need_mpi "programs over several ranks, every format"
cells="1:2 2:1 2:2 3:1 4:2"
share= # how small the products may be that ranks share

# over NAME MODEL OPTION... -- ARGUMENT...
over() {
    name=$1 model=$2 options=
    shift 2
    while [ "$1" != -- ]; do options="$options $1" && shift; done
    shift
    # shellcheck disable=SC2086 # words
    check "$name builds" "$BURIN" build "$model" --mcpu=native --with=mpi $share $options -o "$WORK/one"
    # shellcheck disable=SC2086
    "$BURIN" build "$model" --mcpu=native $options -o "$WORK/alone" > "$WORK/log" 2>&1
    check "$name: the hash of the program without MPI" \
        test "$("$WORK/one" "$@" -t 1 | tail -n 1)" = "$("$WORK/alone" "$@" -t 1 | tail -n 1)"
    same_over_ranks "$name" "$cells" "$WORK/one" "$@"
}

for format in f32 bf16 q8_0 q4_0; do
    for kv in f32 f16 q8_0; do
        over "austen, $format, $kv" examples/austen --quant $format --kv $kv -- "It was a truth" -n 8 --temp 0 --logits-hash
    done
done
share="--gather-above 1"
for format in f32 q8_0; do
    for kv in f32 f16 q8_0; do
        over "numbers, $format, $kv" examples/numbers --quant $format --kv $kv -- einhundertacht --logits-hash
        [ -d "$SHARED/data/stories260k" ] && over "stories260K, $format, $kv" "$SHARED/data/stories260k" --quant $format --kv $kv -- \
            "Once upon a time" -n 40 --temp 0 --logits-hash
        past=$SHARED/data/onnx/tiny-gpt2-past/past.onnx
        [ -e "$past" ] && over "an ONNX decoder, $format, $kv" "$past" --quant $format --kv $kv -- --tokens 1,2,3 -n 9 --temp 0 --logits-hash
    done
done
over digits examples/digits/digits.onnx -- --random --hash
minilm=${BURIN_MODELS:-$HOME/.cache/burin-models}/minilm
for format in f32 bf16 q8_0 q4_0; do
    [ -d "$minilm" ] && over "MiniLM, $format" "$minilm" --quant $format -- --random --hash
done
. tests/lib_families.sh
for family in mixtral deepseek_v2 gpt_oss qwen3-window gemma3_text shared-falcon granitemoehybrid shared-bert; do
    [ -e "$models/$family" ] || continue
    case $family in shared-bert) over $family "$models/$family" -- --random --hash ;;
    *) over $family "$models/$family" -- --tokens 1,2,3,4,5,6,7,8,9 -n 5 --temp 0 --logits-hash ;;
    esac
done

# a folder of C, by the mpicc that is here
check "a folder of C: written" "$BURIN" build examples/numbers --mcpu=generic --with=mpi -o "$WORK/folder.c"
check "a folder of C: mpicc builds it" make -s -j2 -C "$WORK/folder.c" CFLAGS=-O1 folder
check "a folder of C: over 3 ranks" test "$(ranks 3 "$WORK/folder.c/folder" einhundertacht -t 1 | tr -d '\r')" = "one hundred and eight"
