#!/bin/sh
# Texts a second of a sentence encoder: its program, reading lines, beside transformers on PyTorch with the same threads, as
# sentence-transformers does it (32 texts at a time, sorted by length, padded to the longest). Measure on a machine that does nothing else.
#
#   PYTHON=venv/bin/python tests/bench/sentences.sh [MODEL] [OPTION...]     (default: MiniLM as fetched; PYTHON has torch, transformers)
#   ROUNDS=5 TEXTS=1000 WORDS="4 16 64" THREADS="1 2" tests/bench/sentences.sh
set -eu
. tests/lib.sh
PYTHON=${PYTHON:-python3} ROUNDS=${ROUNDS:-3} TEXTS=${TEXTS:-1000} WORDS=${WORDS:-4 16 64} THREADS=${THREADS:-1 2}
model=${1:-${BURIN_MODELS:-$HOME/.cache/burin-models}/minilm}
[ $# -gt 0 ] && shift
"$BURIN" build "$model" "$@" --mcpu=native -o "$WORK/encoder" > "$WORK/log"
torch=
if "$PYTHON" -c 'import torch, transformers' 2> /dev/null; then torch=yes; fi

# texts of this many words, one after the other in the held-out text of austen, which begins anew at
# its end
texts_of() {
    tr -s '[:space:]' '\n' < examples/austen/held_out.txt |
        awk -v words="$1" -v texts="$TEXTS" '
            { word[n++] = $0 }
            END { for (i = 0; i < texts * words; i++) printf "%s%s", word[i % n], (i + 1) % words ? " " : "\n" }' > "$WORK/$1.txt"
}
for w in $WORDS; do texts_of "$w"; done

measure() {
    _start=$(date +%s.%N)
    "$WORK/encoder" -f "$WORK/$1.txt" -t "$2" --format npy > "$WORK/out"
    echo "$_start $(date +%s.%N)" | awk -v w="$1" -v t="$2" -v n="$(wc -l < "$WORK/$1.txt")" '{ print "burin", w, t, n / ($2 - $1) }'
    [ -z "$torch" ] || "$PYTHON" tests/bench/sentences.py "$model" "$WORK/$1.txt" "$2" | awk -v w="$1" -v t="$2" '{ print "torch", w, t, $1 }'
}
for _ in $(seq "$ROUNDS"); do for w in $WORDS; do for t in $THREADS; do measure "$w" "$t"; done; done; done > "$WORK/rounds"

median() {
    awk -v k="$1" -v w="$2" -v t="$3" '$1 == k && $2 == w && $3 == t { print $4 }' "$WORK/rounds" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
echo "$(basename "$model"), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(date -u +%F), medians of $ROUNDS rounds, texts a second"
echo "| words | threads | burin | torch | ratio |"
echo "|---|---|---|---|---|"
for w in $WORDS; do
    for t in $THREADS; do
        echo "$(median burin "$w" "$t") $(median torch "$w" "$t")" |
            awk -v w="$w" -v t="$t" '{ printf "| %s | %s | %.0f | %s | %s |\n", w, t, $1, $2 ? int($2 + 0.5) : "", $2 ? sprintf("%.2f", $1 / $2) : "" }'
    done
done
