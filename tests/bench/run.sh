#!/bin/sh
# Tables of speed as ratios within one run: burin, the limits of this machine's memory and
# arithmetic (../shared/bench), and peers.
#
#   make bench [PYTHON=venv/bin/python] [ONLY="decode prefill long onnx start"] [ROUNDS=3] [MODELS="s15 smol"] [FORMATS="f32 bf16 q8_0 q4_0 q4_k"]
#              [NETS="minilm bert gpt2_dec"] [THREADS="1 2"]
#
# The models have random weights and real shapes. Making them needs a Python with numpy, gguf and
# onnx; llama_cpp and onnxruntime there add the columns of the peers. Every figure is the median of
# ROUNDS rounds; a round measures everything once, in turn.
set -eu
. tests/lib.sh
PYTHON=${PYTHON:-python3} ONLY=${ONLY:-decode prefill long onnx start} ROUNDS=${ROUNDS:-3} THREADS=${THREADS:-1 2}
MODELS=${MODELS:-s15 smol} FORMATS=${FORMATS:-f32 bf16 q8_0 q4_0 q4_k} NETS=${NETS:-minilm bert gpt2_dec}
. tests/bench/lib_bench.sh
: > "$out/rounds"

wanted() { case " $ONLY " in *" $1 "*) true ;; *) false ;; esac }
about_models() { wanted decode || wanted prefill || wanted start; }

round_of_model() {
    ! wanted decode || measure_stream "$1"
    for f in $FORMATS; do
        for t in $THREADS; do
            say "round $i of $ROUNDS: $1 $f, $t threads"
            measure_program "$1" "$f" "$t"
            [ -z "$llama" ] || measure_llama "$1" "$f" "$t"
        done
    done
}
round_of_net() {
    for t in $THREADS; do
        say "round $i of $ROUNDS: $1, $t threads"
        measure_net "$1" "$t"
        [ -z "$ort" ] || measure_ort "$1" "$t"
    done
}

round_of_long() {
    # shellcheck disable=SC2086 # model and format
    set -- $LONG
    for t in $THREADS; do
        say "round $i of $ROUNDS: $1 $2, long contexts, $t threads"
        measure_long "$1" "$2" "$t"
        [ -z "$llama" ] || measure_llama_long "$1" "$2" "$t"
    done
}

round() {
    ! wanted prefill || measure_peak
    if wanted decode || wanted prefill; then for m in $MODELS; do round_of_model "$m"; done; fi
    if wanted long; then round_of_long; fi
    if wanted onnx; then for net in $NETS; do [ ! -x "$out/$net" ] || round_of_net "$net"; done; fi
    if wanted start; then for m in $MODELS; do for f in $FORMATS; do measure_start "$m" "$f"; done; done; fi
}

prepare_limits
if about_models; then for m in $MODELS; do prepare_model "$m"; done; fi
if wanted long; then prepare_long; fi
if wanted onnx; then prepare_nets; fi
llama='' ort=''
if python_has llama_cpp; then llama=yes; fi
if python_has onnxruntime; then ort=yes; fi

i=0
while [ $i -lt "$ROUNDS" ]; do
    i=$((i + 1))
    round >> "$out/rounds"
done
say ''
{
    echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(date -u +%F), medians of $ROUNDS rounds"
    awk -v models="$MODELS" -v formats="$FORMATS" -v long="$LONG" -v nets="$NETS" -v threads="$THREADS" -v only=" $ONLY " -f tests/bench/medians.awk -f tests/bench/tables.awk "$out/rounds"
} | tee "$out/tables.md"
