#!/bin/sh
# Masks of grammars and JSON schemas over a vocabulary. usage: tests/bench/masks.sh TOKENIZER [NAME]     (a case of masks.json)
set -eu
BUILD=${BUILD:-build} tokenizer=$1
shift
make -s "$BUILD/burin"
mkdir -p "$BUILD/bench"
cc -std=gnu17 -O2 -Wall -Wextra -I. -Icompiler -Iruntime tests/bench/masks.c "$BUILD/libburin.a" -ljansson -lz -lm -lprotobuf-c -lpthread -o "$BUILD/bench/masks"
"$BUILD/bench/masks" "$tokenizer" tests/bench/masks.json "$@"
