# Tools of the tables of speed: for scripts that have read tests/lib.sh, with PYTHON. Lines of kind,
# model, format, threads, value.
out=$BUILD/bench
bench=$SHARED/bench
mkdir -p "$out"

python_has() { "$PYTHON" -c "import $1" 2> /dev/null; }
build_program() { $BURIN build ${LEVEL:+"--mcpu=$LEVEL"} "$@"; } # LEVEL: for this level alone, not the best that this CPU has
say() { [ ! -t 2 ] || printf '\r\033[K%s' "$*" >&2; }
seconds() { date +%s.%N; }

fresh() { [ "$1" -nt "$BURIN" ]; } # a program of this burin

# ---- subjects of measurement: tools, models, programs ----

tool() { [ -x "$out/$1" ] || clang-19 -O3 -march=native $2 -w -pthread "$bench/$1.c" -o "$out/$1" -lm; }
# ../shared/bench measures limits with AVX-512; what other CPUs, or LEVEL=x86-64-v3, allow, limits.c does.
has_avx512() { [ "${LEVEL:-}" != x86-64-v3 ] && grep -qw avx512bw /proc/cpuinfo; }
prepare_limits() {
    if has_avx512; then
        tool gemv ""
        tool flops "-mamx-tile -mamx-int8 -mamx-bf16"
    else
        [ "$out/limits" -nt tests/bench/limits.c ] ||
            clang-19 -std=gnu17 -O3 -march=native -ffp-contract=off -Iruntime -pthread tests/bench/limits.c -o "$out/limits" -lm
    fi
}

need_python() {
    python_has "$1" || {
        echo "bench: $2 are missing, and $PYTHON has no $1 to make them: make bench PYTHON=... (with numpy, gguf, onnx)" >&2
        exit 1
    }
}

prepare_model() {
    [ -e "$out/$1-f32.gguf" ] || { need_python gguf "models" && say "making $1" && "$PYTHON" "$bench/gen_gguf.py" "$out" "$1"; }
    for f in $FORMATS; do
        say "building $1 in $f"
        _start=$(seconds)
        XDG_CACHE_HOME=$WORK/cache-$1-$f build_program "$out/$1-f32.gguf" --quant "$f" --ctx 512 --chunk 128 -o "$out/$1-$f" > /dev/null
        echo "build $1 $f - $(echo "$_start $(seconds)" | awk '{ print $2 - $1 }')" >> "$out/rounds"
    done
}

# Long contexts: one model whose cache has the format that its step reads most of.
LONG="smol q8_0"
prepare_long() {
    # shellcheck disable=SC2086 # model and format
    set -- $LONG
    fresh "$out/$1-$2-long" && return
    say "building $1 for long contexts"
    [ -e "$out/$1-f32.gguf" ] || { need_python gguf "models" && "$PYTHON" "$bench/gen_gguf.py" "$out" "$1"; }
    build_program "$out/$1-f32.gguf" --quant "$2" --kv q8_0 --ctx 8192 --chunk 128 -o "$out/$1-$2-long" > /dev/null
}

prepare_nets() {
    for net in $NETS; do
        [ -e "$out/$net.onnx" ] && continue
        need_python onnx "ONNX models" && say "making ONNX models" && "$PYTHON" "$bench/gen_onnx.py" "$out" > /dev/null
        rm -f "$out/gpt2_fwd.onnx"
    done
    for net in $NETS; do
        fresh "$out/$net" && continue
        say "building $net.onnx"
        build_program "$out/$net.onnx" -o "$out/$net" > "$out/said" 2>&1 || { rm -f "$out/$net" && cat "$out/said" >&2; }
    done
}

# ---- measurements: lines of kind, model, format, threads, value ----

# The tool measures more than is needed here: it ends when its pipe is closed. Programs multiply
# int8 by AMX if this CPU has it, unless LEVEL names another level.
has_amx() { [ -z "${LEVEL:-}" ] && grep -qw amx_int8 /proc/cpuinfo; }
measure_peak() {
    if ! has_avx512; then
        "$out/limits" peak
        return
    fi
    "$out/flops" 2> /dev/null | awk -v amx="$(has_amx && echo yes)" '
        NF < 6 { next }
        { kind = /FP32 FMA/ ? "f32" : /VNNI/ ? "int8" : /AMX int8/ ? "amx" : ""; t = $(NF - 4); v = $(NF - 2) }
        kind == "amx" && !amx { kind = "" }
        kind && v > peak[kind " " t] { peak[kind " " t] = v }
        /maddubs/ && !amx { exit }
        END { for (at in peak) print "peak", "-", at, peak[at] }'
}
measure_stream() {
    if ! has_avx512; then
        "$out/limits" stream "$1"
        return
    fi
    "$out/gemv" "$1" file | awk '$2 != "fmt" { f = $2 == "q8" ? "q8_0" : $2 == "q4" ? "q4_0" : $2; print "stream", $1, f, $3, $5; print "megabytes", $1, f, $3, $7 }'
}
measure_program() {
    "$out/$1-$2" --bench --positions 0,128 -t "$3" | awk -v m="$1" -v f="$2" -v t="$3" '
        /^prefill/ { print "prefill", m, f, t, $5 }
        /^decode at 0 / { print "decode", m, f, t, $4; print "rate", m, f, t, 1000 * $6 } # MB of weights a second
        /^decode at 128 / { print "decode128", m, f, t, $4 }'
}
# llama.cpp quantizes to recipes: the one whose matrices are mostly of that format.
peer_format() { case $1 in q4_k) echo q4_k_m ;; *) echo "$1" ;; esac }
measure_llama() {
    quantize=
    [ "$2" = f32 ] || quantize="--quantize $(peer_format "$2")"
    # shellcheck disable=SC2086 # option and value
    "$PYTHON" "$bench/peer_llama.py" "$out/$1-f32.gguf" --threads "$3" --runs 2 --decode 32 $quantize 2> /dev/null |
        awk -v m="$1" -v f="$2" -v t="$3" '
        { for (i = 1; i <= NF; i++) { if ($i == "prefill") print "peer_prefill", m, f, t, $(i + 2)
                                      if ($i == "decode") print "peer_decode", m, f, t, $(i + 2) } }'
}
measure_long() {
    "$out/$1-$2-long" --bench --prefill 2048 --positions 0,2048,8000 -t "$3" | awk -v m="$1" -v f="$2" -v t="$3" '
        /^prefill/ { print "long_prefill", m, f, t, $5 }
        /^decode at / { print "long" $3, m, f, t, $4 }'
}
measure_llama_long() {
    for _at in 2048 8000; do
        "$PYTHON" "$bench/peer_llama.py" "$out/$1-f32.gguf" --threads "$3" --runs 1 --depth "$((_at - 64))" --prefill 64 --decode 32 --quantize "$2" \
            2> /dev/null | awk -v m="$1" -v f="$2" -v t="$3" -v at="$_at" '{ for (i = 1; i <= NF; i++) if ($i == "decode") print "peer_long" at, m, f, t, $(i + 2) }'
    done
    "$PYTHON" "$bench/peer_llama.py" "$out/$1-f32.gguf" --threads "$3" --runs 1 --prefill 2048 --decode 1 --quantize "$2" 2> /dev/null |
        awk -v m="$1" -v f="$2" -v t="$3" '{ for (i = 1; i <= NF; i++) if ($i == "prefill") print "peer_long_prefill", m, f, t, $(i + 2) }'
}
# From the start of the process to its end after one token, and the same without the token.
measure_start() {
    for _i in 1 2 3 4 5; do
        _before=$(seconds)
        "$out/$1-$2" --version > /dev/null
        _between=$(seconds)
        "$out/$1-$2" --tokens 1 -n 1 --temp 0 > /dev/null
        echo "$_before $_between $(seconds)" | awk -v m="$1" -v f="$2" '{ print "start", m, f, "-", 1000 * ($3 - $2); print "nothing", m, f, "-", 1000 * ($2 - $1) }'
    done
}
# A network that takes longer than this is left out.
measure_net() { timeout 90 "$out/$1" --random --bench -t "$2" | awk -v m="$1" -v t="$2" '/^one run/ { print "net", m, "f32", t, $3 }'; }
measure_ort() {
    "$PYTHON" "$bench/peer_ort.py" "$out/$1.onnx" --threads "$2" --runs 9 | awk -v m="$1" -v t="$2" '
        { for (i = 1; i <= NF; i++) if ($i == "ms" && $(i + 1) > 0 && $(i + 2) > 0) print "ort", m, "f32", t, $(i + 2) }'
}
