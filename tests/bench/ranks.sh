#!/bin/sh
# Ranks on this machine: tokens a second of decoding, beside what `burin plan --network=local` predicts from one rank, and beside
# threads of one process. Ranks of one machine share its memory and its CPUs, so this shows what gathers cost, not what more machines
# give. Measure on a machine that does nothing else.
#
#   tests/bench/ranks.sh [MODEL] [OPTION...]     (default: SmolLM2 if it is there, else examples/austen)
#   ROUNDS=9 RANKS="1 2 4" tests/bench/ranks.sh
set -eu
. tests/lib.sh
. tests/lib_mpi.sh
smol=${BURIN_MODELS:-$HOME/.cache/burin-models}/smollm2
[ -d "$smol" ] || smol=examples/austen
model=${1:-$smol} ROUNDS=${ROUNDS:-5} RANKS=${RANKS:-1 2 4}
[ $# -gt 0 ] && shift
"$BURIN" build "$model" "$@" --mcpu=native --with=mpi -o "$WORK/ranks" > "$WORK/log"
"$BURIN" build "$model" "$@" --mcpu=native -o "$WORK/threads" > "$WORK/log"

# tokens/s at position 16
decode() { "$@" --bench --positions 16 --prefill 16 2> "$WORK/err" | tr -d '\r' | awk '/^decode at/ { print $4 }'; }
for _ in $(seq "$ROUNDS"); do
    for n in $RANKS; do echo "ranks $n $(decode ranks "$n" "$WORK/ranks" -t 1)" >> "$WORK/rounds"; done
    for t in $RANKS; do echo "threads $t $(decode "$WORK/threads" -t "$t")" >> "$WORK/rounds"; done
done
# median KIND N FIELD
median() {
    awk -v k="$1" -v n="$2" -v f="$3" '$1 == k && $2 == n { print $f }' "$WORK/rounds" | sort -n |
        awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
# the rate of memory that one rank shows
predict() { "$BURIN" plan "$model" "$@" --ranks="$(echo "$RANKS" | tr ' ' ,)" --network=local; }
first=${RANKS%% *}
rate=$(predict "$@" --read=1000000000 | awk -v n="$first" -v r="$(median ranks "$first" 3)" '$1 == n && NR > 2 { printf "%.0f", 1e9 * r / $2 }')
predict "$@" --read="$rate" > "$WORK/plan"
echo "$model $*: decoding, medians of $ROUNDS rounds on $(nproc) CPUs; $first rank reads $((rate / 1000000)) MB/s"
echo "| ranks or threads | ranks, tokens/s | predicted | of it | threads, tokens/s | ranks over threads |"
echo "|---|---|---|---|---|---|"
for n in $RANKS; do
    awk -v n="$n" -v r="$(median ranks "$n" 3)" -v t="$(median threads "$n" 3)" '$1 == n && NR > 2 {
        printf "| %d | %.1f | %.1f | %.2f | %.1f | %.2f |\n", n, r, $2, r / $2, t, r / t }' "$WORK/plan"
done
