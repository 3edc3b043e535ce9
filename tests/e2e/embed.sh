#!/bin/sh
# examples/embed: the library of a real model, two texts in one batch and each alone; what its objects need and export.
. tests/lib.sh
need "examples/embed" examples/austen/model.safetensors
build() { "$BURIN" build examples/austen -o "$WORK/$1"; }
check "builds an archive" build austen.a
[ -f "$WORK/austen.a" ] || exit 1

check "a host links it" ${CC:-gcc} -O1 -Wall -Wextra -Werror -I"$WORK" examples/embed/embed.c "$WORK/austen.a" -lm -lpthread -o "$WORK/embed"
"$WORK/embed" > "$WORK/out"
check "batch and alone: the same bits" grep -q "in one batch and each alone: the same bits" "$WORK/out"
check "the text is austen's" grep -q "^It was: not to be supposed that it was not so" "$WORK/out"

nm -u "$WORK/austen.a" | awk '{print $2}' | grep -E '^(malloc|calloc|realloc|free|aligned_alloc|posix_memalign|memalign)$' > "$WORK/heap"
check "its code never asks for heap" test ! -s "$WORK/heap"
nm --defined-only -g "$WORK/austen.a" | awk 'NF == 3 {print $3}' | grep -v '^austen_' > "$WORK/foreign"
check "defines nothing but the model's own names" test ! -s "$WORK/foreign"
