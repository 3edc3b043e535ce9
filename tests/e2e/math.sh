#!/bin/sh
# --math=fast: prompts read by products of bf16, on CPUs that have them. The program lists the lost
# guarantees, and keeps all others: short steps, other CPUs and the number of threads change no bit.
# Missing x86 CPUs are emulated.
. tests/lib.sh
unsanitized "math"
model=examples/austen fast="x86-64-v4+bf16 x86-64-v4+amx-bf16" tokens=$(seq -s , 1000 1031)
grep -qw avx2 /proc/cpuinfo || { skip "math" "this CPU has no AVX2" && exit 0; }

$BURIN build $model --mcpu=x86-64-v3 -o "$WORK/exact" > "$WORK/said" 2>&1 || cat "$WORK/said"
check "math: nothing is said of an exact program" sh -c "! grep -q '^numbers' '$WORK/said' && ! '$WORK/exact' --info | grep -q '^numbers'"
emulated $BURIN build $model --math=fast --mcpu="x86-64-v3,$(echo "$fast" | tr ' ' ,)" -o "$WORK/fast" > "$WORK/said" 2>&1 || cat "$WORK/said"
promise="--math=fast: products of more than 12 rows by weights of bf16 round their rows to bf16 on x86-64-v4+bf16 and x86-64-v4+amx-bf16: other bits there"
check "math: the build says what is given up" grep -qxF "numbers $promise" "$WORK/said"
check "math: and so does the program" sh -c "'$WORK/fast' --info | grep -qxF 'numbers   $promise'"

# hash PROGRAM OPTIONS...: of the logits of all tokens
hash() {
    _program=$1
    shift
    "$WORK/$_program" --tokens "$tokens" -n 0 --logits-hash "$@" 2>&1
}
# ends FILE: floats of an .npy file
ends() { tail -c +129 "$1" | od -An -v -tf4 -w4; }

exact=$(hash exact -t 1)
hash exact --logits "$WORK/exact.npy" > /dev/null
ends "$WORK/exact.npy" > "$WORK/exact.floats"
check "math: another CPU has the exact bits" [ "$(hash fast --cpu x86-64-v3)" = "$exact" ]
for cpu in $fast; do
    bits=$(hash fast --cpu "$cpu" -t 1)
    check "math: $cpu has bits of its own" [ ${#bits} = 16 -a "$bits" != "$exact" ]
    for threads in 2 3; do check "math: $cpu: the same with $threads threads" [ "$(hash fast --cpu "$cpu" -t $threads)" = "$bits" ]; done
    check "math: $cpu: steps of 12 rows are exact" [ "$(hash fast --cpu "$cpu" --chunk 12)" = "$exact" ]
    check "math: $cpu: steps of 13 rows are not" [ "$(hash fast --cpu "$cpu" --chunk 13)" != "$exact" ]
    hash fast --cpu "$cpu" --logits "$WORK/fast.npy" > /dev/null
    ends "$WORK/fast.npy" | paste "$WORK/exact.floats" - |
        awk '{ d = $1 - $2; off += d * d; size += $1 * $1 } END { printf "%.2f", 100 * sqrt(off / size); exit !(NR == 32 * 2048 && off < size * 1e-4) }' > "$WORK/off"
    check "math: $cpu: logits are $(cat "$WORK/off") % away (rms)" [ $? = 0 -a "$(awk '{ print ($1 > 0 && $1 < 1) }' "$WORK/off")" = 1 ]
done

check "math: burin check" $BURIN check $model --math=fast
$BURIN build $model --math=fast --target=x86_64-linux-gnu -o "$WORK/austen.c" > "$WORK/said" 2>&1 || cat "$WORK/said"
check "math: a library's header says it" grep -qF -e "$promise" "$WORK/austen.c/austen.h"
check "math: the CPUs of such a program" grep -qF "for x86-64-v3 x86-64-v4 $fast" "$WORK/said"
for options in "--quant=q8_0 --target=x86_64-linux-gnu" "--target=aarch64-linux-gnu"; do
    # shellcheck disable=SC2086 # words
    $BURIN build $model --math=fast $options -o "$WORK/none.c" > "$WORK/said" 2>&1
    check "math: nothing changes with ${options%% *}" grep -qx "numbers exact: --math=fast changes nothing in this program" "$WORK/said"
done
