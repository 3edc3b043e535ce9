#!/bin/sh
# The goals of speed as one table, two threads: each row as a share of what this machine's memory or arithmetic allow, and as a
# multiple of its peer, all in one run; the table goes between the markers of RESULTS.md for the level of this CPU (`burin targets`;
# it is the one that programs choose here), the plots to position-LEVEL.svg and size-LEVEL.svg.
#
#   make bench-goals [PYTHON=venv/bin/python] [QUICK=1] [ROUNDS=3] [RESULTS=file] [LEVEL=x86-64-v3]
#
# QUICK: one round, without the model of 1.2 billion weights. LEVEL: of programs, in place of the best one that this CPU has.
# Without llama_cpp or onnxruntime their columns stay empty.
set -eu
. tests/lib.sh
PYTHON=${PYTHON:-python3} QUICK=${QUICK:-} RESULTS=${RESULTS:-tests/bench/RESULTS.md} PLOTS=${PLOTS:-tests/bench}
ROUNDS=${ROUNDS:-$([ -n "$QUICK" ] && echo 1 || echo 3)} NETS="minilm bert bert_int8" FORMATS=''
. tests/bench/lib_bench.sh
rounds=$out/goals
: > "$rounds"
threads=2
large=l1b
[ -z "$QUICK" ] || large=

# of_model MODEL FORMATS...: programs, those that are older than burin
of_model() {
    _model=$1 FORMATS=
    shift
    for _format; do fresh "$out/$_model-$_format" || FORMATS="$FORMATS $_format"; done
    prepare_model "$_model"
}
prepare() {
    prepare_limits
    of_model s15 f32 q4_0
    of_model smol f32 q8_0 q4_0 q4_k
    [ -z "$large" ] || of_model l1b q4_0 q4_k
    prepare_long
    prepare_nets
    [ ! -e "$out/bert.onnx" ] || fresh "$out/bert_q8_0" || build_program "$out/bert.onnx" --quant q8_0 -o "$out/bert_q8_0" > /dev/null
    [ -e "$out/experts.gguf" ] || { need_python gguf "models" && say "making experts" && "$PYTHON" tests/bench/experts.py "$out/experts.gguf"; }
    say "building experts"
    fresh "$out/experts-q4_0" || build_program "$out/experts.gguf" --ctx 1024 --chunk 128 -o "$out/experts-q4_0" > /dev/null
}

measure_both() {
    say "round $i of $ROUNDS: $1 $2"
    measure_program "$1" "$2" $threads
    [ -z "$llama" ] || measure_llama "$1" "$2" $threads
}
measure_experts() {
    say "round $i of $ROUNDS: experts"
    "$out/experts-q4_0" --bench --prefill 512 --positions 0 -t $threads | awk -v t=$threads '
        /^prefill/ { print "prefill experts q4_0", t, $5 }
        /^decode at 0 / { print "decode experts q4_0", t, $4 }'
    [ -z "$llama" ] || "$PYTHON" "$bench/peer_llama.py" "$out/experts.gguf" --threads $threads --runs 1 --prefill 512 --decode 32 2> /dev/null |
        awk -v t=$threads '{ for (i = 1; i <= NF; i++) if ($i == "prefill" || $i == "decode") print "peer_" $i, "experts q4_0", t, $(i + 2) }'
}
round() {
    measure_peak
    for m in s15 smol $large; do
        say "round $i of $ROUNDS: memory for $m"
        measure_stream "$m"
    done
    for m in s15 smol; do measure_both $m f32; done
    for m in s15 smol $large; do measure_both $m q4_0; done
    for m in smol $large; do measure_both $m q4_k; done
    measure_both smol q8_0
    measure_long smol q8_0 $threads
    [ -z "$llama" ] || measure_llama_long smol q8_0 $threads
    measure_experts
    for net in $NETS bert_q8_0; do
        say "round $i of $ROUNDS: $net"
        [ ! -x "$out/$net" ] || measure_net $net $threads
        [ -z "$ort" ] || [ ! -e "$out/$net.onnx" ] || measure_ort $net $threads
    done
}

# between FILE TABLE: the table between this level's markers in the file, which gets them at its end when it has none
between() {
    [ -e "$1" ] || : > "$1"
    _mark="<!-- goals of $level: tests/bench/goals.sh -->"
    grep -qxF "$_mark" "$1" || printf '\n%s\n<!-- end of goals -->\n' "$_mark" >> "$1"
    awk -v table="$2" -v mark="$_mark" '/^<!-- end of goals/ { inside = 0 } !inside { print }
        $0 == mark { inside = 1; while ((getline line < table) > 0) print line }' "$1" > "$out/results.md"
    cp "$out/results.md" "$1"
}

llama='' ort=''
if python_has llama_cpp; then llama=yes; fi
if python_has onnxruntime; then ort=yes; fi
prepare
level=$("$out/smol-q8_0" --info 2> /dev/null | sed -n 's/^cpus .*; here: \([^,]*\),.*/\1/p')
i=0
while [ $i -lt "$ROUNDS" ]; do
    i=$((i + 1))
    round >> "$rounds"
done
say ''
{
    echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $level, $(date -u +%F), $threads threads, medians of $ROUNDS rounds."
    awk -f tests/bench/medians.awk -f tests/bench/goals.awk "$rounds"
} | tee "$out/goals.md"
between "$RESULTS" "$out/goals.md"
for plot in position size; do
    awk -v what=$plot -f tests/bench/medians.awk -f tests/bench/plot.awk "$rounds" > "$PLOTS/$plot-$(echo "$level" | tr + -).svg"
done
