#!/bin/sh
# Milliseconds of a run of ONNX files (vision, sound), beside ONNX Runtime with the same threads. Measure on a machine that does
# nothing else. A file with open sizes: FILE.onnx:NAME=SIZE,NAME=SIZE
#
#   PYTHON=venv/bin/python tests/bench/networks.sh FILE.onnx...     (PYTHON has onnxruntime)
#   ROUNDS=5 THREADS="1 2" tests/bench/networks.sh FILE.onnx...
set -eu
. tests/lib.sh
PYTHON=${PYTHON:-python3} ROUNDS=${ROUNDS:-3} THREADS=${THREADS:-1 2}
[ $# -gt 0 ] || { echo "usage: tests/bench/networks.sh FILE.onnx[:NAME=SIZE,...]..." >&2; exit 2; }
peer=
if "$PYTHON" -c 'import onnxruntime' 2> /dev/null; then peer=yes; fi

sizes_of() { case $1 in *:*) echo "${1#*:}" | tr , ' ' ;; esac; }

# build N FILE[:SIZES]
build() {
    _file=${2%%:*} _options=
    for _size in $(sizes_of "$2"); do _options="$_options --dim $_size"; done
    # shellcheck disable=SC2086 # words
    "$BURIN" build "$_file" $_options --mcpu=native -o "$WORK/net$1" > "$WORK/log"
}
measure() {
    "$WORK/net$1" --bench -t "$3" | sed -n 's/^one run *\([0-9.]*\) ms.*/\1/p' | sed "s/^/burin $1 $3 /"
    # shellcheck disable=SC2046 # words
    [ -z "$peer" ] || "$PYTHON" tests/bench/networks.py "${2%%:*}" "$3" $(sizes_of "$2") | sed "s/^/peer $1 $3 /"
}
median() {
    awk -v k="$1" -v n="$2" -v t="$3" '$1 == k && $2 == n && $3 == t { print $4 }' "$WORK/rounds" | sort -n |
        awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

n=0
for f in "$@"; do n=$((n + 1)) && build "$n" "$f"; done
for _ in $(seq "$ROUNDS"); do
    n=0
    for f in "$@"; do
        n=$((n + 1))
        for t in $THREADS; do measure "$n" "$f" "$t"; done
    done
done > "$WORK/rounds"

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(date -u +%F), medians of $ROUNDS rounds, milliseconds"
echo "| file | threads | burin, ms | ONNX Runtime, ms | how many times as fast |"
echo "|---|---|---|---|---|"
n=0
for f in "$@"; do
    n=$((n + 1))
    for t in $THREADS; do
        echo "$(median burin "$n" "$t") $(median peer "$n" "$t")" |
            awk -v f="$(basename "${f%%:*}")" -v t="$t" '{ printf "| %s | %s | %.1f | %s | %s |\n", f, t, $1, $2 ? sprintf("%.1f", $2) : "", $2 ? sprintf("%.2f", $2 / $1) : "" }'
    done
done
