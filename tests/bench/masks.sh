#!/bin/sh
# Masks of a grammar over a vocabulary. usage: tests/bench/masks.sh TOKENIZER [GRAMMAR.gbnf]     (without a grammar: any JSON)
set -eu
BUILD=${BUILD:-build}
make -s "$BUILD/burin"
mkdir -p "$BUILD/bench"
cc -std=gnu17 -O2 -Wall -Wextra -I. -Icompiler -Iruntime tests/bench/masks.c "$BUILD/libburin.a" -ljansson -lz -lm -lprotobuf-c -lpthread -o "$BUILD/bench/masks"
"$BUILD/bench/masks" "$1" "${2:--}"
