#!/bin/sh
# The C interface of networks: an archive, an object, a shared library and a folder of C give the program's bits; two in one host; padding changes no bit.
. tests/lib.sh
families=$SHARED/data/families
need "libraries of networks" "$families/bert" "$families/vit"
pixels=$families/vit/pixel_values.npy ids=$families/bert/input_ids.npy
mcpu=--mcpu=x86-64-v3
[ "$(uname -m)" = x86_64 ] || mcpu=

# shellcheck disable=SC2086 # an option or none
for family in vit bert; do
    for suffix in a o so; do
        check "$family.$suffix builds" "$BURIN" build "$families/$family" $mcpu -o "$WORK/$family.$suffix"
    done
done
# shellcheck disable=SC2086
check "vit.c builds" "$BURIN" build "$families/vit" $mcpu -o "$WORK/vit.c"
"$BURIN" run "$families/vit" --interpret --input "$pixels" --hash > "$WORK/expected"
"$BURIN" run "$families/bert" --interpret --input "$ids" --hash >> "$WORK/expected"

for suffix in a o so; do
    check "a host links two .$suffix" gcc -std=gnu11 -Wall -Wextra -Werror -I. -I"$WORK" tests/e2e/network_host.c \
        "$WORK/vit.$suffix" "$WORK/bert.$suffix" -lm -lpthread -o "$WORK/host"
    LD_LIBRARY_PATH=$WORK "$WORK/host" "$pixels" "$ids" > "$WORK/got" 2>&1
    same "the interpreter's bits through a .$suffix" "$WORK/expected" "$WORK/got"
done
nm -D --defined-only "$WORK/vit.so" | awk '{print $3}' | grep -v '^vit_' > "$WORK/foreign"
check "exports nothing but the network's own names" test ! -s "$WORK/foreign"

# shellcheck disable=SC2046 # names of objects
check "the folder's runtime builds, unoptimized" make -s -C "$WORK/vit.c" CFLAGS=-O0 $(cd "$WORK/vit.c" && ls runtime/*/*.c | sed 's/c$/o/')
check "the folder builds" make -s -C "$WORK/vit.c"
head -n 1 "$WORK/expected" > "$WORK/first"
"$WORK/vit.c/vit" --input "$pixels" --hash > "$WORK/got"
same "the interpreter's bits from the folder" "$WORK/first" "$WORK/got"

# The default batch has one element: in the state, and in the header's example.
check "a network with an open batch builds" "$BURIN" build examples/digits/digits.onnx -o "$WORK/digits.a"
check "the header shows the model's own tensors" grep -qF '//     const void *inputs[] = {image};' "$WORK/digits.h"
check "and their sizes" grep -qF '//     int64_t dims[] = {1, 1, 8, 8};' "$WORK/digits.h"
cat > "$WORK/batch.c" << 'EOF'
#include <stdlib.h>
#include "digits.h"
int main(void) {
    static float image[5 * 64], logits[50];
    const int64_t one[] = {1, 1, 8, 8}, five[] = {5, 1, 8, 8};
    digits_options usual = {.threads = 1}, of_one = {.threads = 1, .dims = one}, of_five = {.threads = 1, .dims = five};
    digits_state state;
    size_t bytes = digits_state_bytes(&usual);
    if (bytes != digits_state_bytes(&of_one) || digits_state_bytes(NULL) < bytes || digits_state_bytes(&of_five) <= bytes) return 1;
    if (digits_init(&state, &usual, aligned_alloc(64, (bytes + 63) / 64 * 64), bytes)) return 2;
    if (digits_run(&state, (const void *[]){image}, one, (void *[]){logits})) return 3;
    return digits_run(&state, (const void *[]){image}, five, (void *[]){logits}) == digits_BAD_SHAPE ? 0 : 4;
}
EOF
check "a host of it builds" gcc -Wall -Wextra -Werror -I"$WORK" "$WORK/batch.c" "$WORK/digits.a" -lm -lpthread -o "$WORK/batch"
check "its usual state is that of one" "$WORK/batch"
