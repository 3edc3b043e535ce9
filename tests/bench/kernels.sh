#!/bin/sh
# The kernel templates as shares of this machine's limits. usage: tests/bench/kernels.sh [decode | cached | prefill | attention | convolutions [FORMAT [THREADS]]]
set -eu
BUILD=${BUILD:-build} CLANG=${CLANG:-clang-19}
mkdir -p "$BUILD/bench"
grep -m 1 'model name' /proc/cpuinfo || true
levels="x86-64-v3"
grep -qw avx512bw /proc/cpuinfo && levels="$levels x86-64-v4"
grep -qw avx512_vnni /proc/cpuinfo && levels="$levels x86-64-v4+vnni"
[ "$(uname -m)" = aarch64 ] && levels=native
for level in $levels; do
    # shellcheck disable=SC2046 # flags are words
    "$CLANG" -std=gnu17 -O3 -Wall -Wextra -Werror -ffp-contract=off -fno-math-errno -Iruntime -pthread $(echo "-march=$level" | sed 's/+vnni/ -mavx512vnni/') \
        tests/bench/kernels.c -o "$BUILD/bench/kernels-$level" -lm
    "$BUILD/bench/kernels-$level" "$@"
done
