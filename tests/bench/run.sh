#!/bin/sh
# Tables of speed as ratios within one run: burin, what this machine's memory and arithmetic allow (../shared/bench), llama.cpp.
#
#   make bench [PYTHON=venv/bin/python] [ROUNDS=5] [MODELS="s15 smol"] [FORMATS="f32 bf16 q8_0"]
#
# The models have random weights and real shapes; making them needs a Python with gguf and numpy, and the columns of llama.cpp one
# with llama_cpp as well. Every figure is the median of ROUNDS rounds; a round measures everything once, in turn.
set -eu
. tests/lib.sh
PYTHON=${PYTHON:-python3} ROUNDS=${ROUNDS:-5} MODELS=${MODELS:-s15 smol} FORMATS=${FORMATS:-f32 bf16 q8_0}
out=$BUILD/bench
bench=$SHARED/bench
mkdir -p "$out"

tool() { [ -x "$out/$1" ] || clang-19 -O3 -march=native $2 -w -pthread "$bench/$1.c" -o "$out/$1" -lm; }

prepare() {
    tool gemv ""
    tool flops "-mamx-tile -mamx-int8 -mamx-bf16"
    for m in $MODELS; do
        [ -e "$out/$m-f32.gguf" ] || "$PYTHON" "$bench/gen_gguf.py" "$out" "$m"
        for f in $FORMATS; do $BURIN build "$out/$m-f32.gguf" --quant $f --ctx 512 --chunk 128 -o "$out/$m-$f" > /dev/null; done
    done
    peer=
    "$PYTHON" -c 'import llama_cpp' 2> /dev/null && peer=yes
    return 0
}

# Lines of a round: kind model format threads value
measure_stream() {
    "$out/gemv" "$1" file | awk '$2 != "fmt" { f = $2 == "q8" ? "q8_0" : $2; print "stream", $1, f, $3, $5 }'
}
measure_burin() {
    "$out/$1-$2" --bench -t "$3" | awk -v m="$1" -v f="$2" -v t="$3" '
        /^prefill/ { print "prefill", m, f, t, $5 }
        /^decode at 0 / { print "decode", m, f, t, $4 }
        /^decode at 128 / { print "decode128", m, f, t, $4 }'
}
measure_peer() {
    quantize= name=$2
    [ "$2" = f32 ] || quantize="--quantize $2"
    # shellcheck disable=SC2086 # option and value
    "$PYTHON" "$bench/peer_llama.py" "$out/$1-f32.gguf" --threads "$3" --runs 3 $quantize 2> /dev/null | awk -v m="$1" -v f="$name" -v t="$3" '
        { for (i = 1; i <= NF; i++) { if ($i == "prefill") print "peer_prefill", m, f, t, $(i + 2)
                                      if ($i == "decode") print "peer_decode", m, f, t, $(i + 2) } }'
}
measure_peak() { "$out/flops" | awk '/AVX-512 FP32|AVX2 FP32/ { t = $(NF - 4); v = $(NF - 2); if (v > peak[t]) peak[t] = v } END { for (t in peak) print "peak", "-", "f32", t, peak[t] }'; }

round() {
    measure_peak
    for m in $MODELS; do
        measure_stream $m
        for f in $FORMATS; do
            for t in 1 2; do
                measure_burin $m $f $t
                [ -z "$peer" ] || measure_peer $m $f $t
            done
        done
    done
}

table() {
    awk -v models="$MODELS" -v formats="$FORMATS" -v peer="$peer" '
        function median(key, n, i, j, v, a) {
            n = count[key]
            for (i = 1; i <= n; i++) a[i] = value[key, i]
            for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j] < a[j - 1]; j--) { v = a[j]; a[j] = a[j - 1]; a[j - 1] = v }
            return n ? a[int((n + 1) / 2)] : 0
        }
        function ratio(a, b) { return b ? sprintf("%.2f", a / b) : "" }
        function number(v) { return v ? sprintf("%.0f", v) : "" }
        { key = $1 " " $2 " " $3 " " $4; value[key, ++count[key]] = $5 }
        END {
            mega["s15"] = 11.94; mega["smol"] = 212.34; mega["s110"] = 169.87; mega["l1b"] = 1946.16
            print "| model | format | threads | decode, tokens/s | of *stream* | of llama.cpp | prefill of 128 | of f32 FMA peak | of llama.cpp |"
            print "|---|---|---|---|---|---|---|---|---|"
            n = split(models, m, " "); k = split(formats, f, " ")
            for (i = 1; i <= n; i++) for (j = 1; j <= k; j++) for (t = 1; t <= 2; t++) {
                id = m[i] " " f[j] " " t
                d = median("decode " id); p = median("prefill " id)
                print "| " m[i] " | " f[j] " | " t " | " number(d) " | " ratio(d, median("stream " id)) " | " ratio(d, median("peer_decode " id)) \
                    " | " number(p) " | " ratio(p * mega[m[i]] / 1000, median("peak - f32 " t)) " | " ratio(p, median("peer_prefill " id)) " |"
            }
        }' "$out/rounds"
}

prepare
: > "$out/rounds"
i=0
while [ $i -lt "$ROUNDS" ]; do
    i=$((i + 1))
    [ -t 2 ] && printf '\rround %d of %d' $i "$ROUNDS" >&2
    round >> "$out/rounds"
done
[ -t 2 ] && printf '\r\033[K' >&2
echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(date -u +%F), medians of $ROUNDS rounds"
echo
table | tee "$out/table.md"
