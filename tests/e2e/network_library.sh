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

check "the folder builds" make -s -C "$WORK/vit.c"
head -n 1 "$WORK/expected" > "$WORK/first"
"$WORK/vit.c/vit" --input "$pixels" --hash > "$WORK/got"
same "the interpreter's bits from the folder" "$WORK/first" "$WORK/got"
