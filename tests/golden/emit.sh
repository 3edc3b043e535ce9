#!/bin/sh
# The code generator: tests/golden/emit/NAME.ir becomes NAME.c and NAME_plan.h, byte for byte, where these are there. After a
# change that is meant: UPDATE=1 tests/golden/emit.sh, then read the difference like code.
. tests/lib.sh
for ir in tests/golden/emit/*.ir; do
    name=$(basename "$ir" .ir)
    case $name in ranks*) export OVER_RANKS=1 ;; *) unset OVER_RANKS ;; esac
    check "emit: $name" "$BUILD/tools/emit_ir" "$ir" "$WORK" "$name"
    for text in "$name.c" "${name}_plan.h"; do
        [ -n "${UPDATE-}" ] && [ -e "tests/golden/emit/$text" ] && cp "$WORK/$text" "tests/golden/emit/$text"
        [ -e "tests/golden/emit/$text" ] && same "emit: $text" "tests/golden/emit/$text" "$WORK/$text"
    done
    cp "$WORK/$name.c" "$WORK/first.c"
    "$BUILD/tools/emit_ir" "$ir" "$WORK" "$name" > /dev/null
    same "emit: $name twice" "$WORK/first.c" "$WORK/$name.c"
    awk 'length > 120 { print FILENAME ": " $0 }' "$WORK/$name.c" "$WORK/${name}_plan.h" "$WORK/${name}_model.c" > "$WORK/long"
    same "emit: $name: lines of at most 120 columns" /dev/null "$WORK/long"
    grep -nE '< 1; |\(ptrdiff_t\)0|\(void\)| \+ 0[,);]|\(0 \+ ' "$WORK/$name.c" | grep -v '    (void)symbols;$' > "$WORK/idle"
    same "emit: $name: no loop to 1, no product with 0, no sum with 0, nothing read for a warning's sake" /dev/null "$WORK/idle"
    check "emit: $name: no warning" clang-19 -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -Iruntime -I"$WORK" -DBURIN_CPU=x86_64 \
        -fsyntax-only "$WORK/$name.c"
done
make -sn format | tr ' ' '\n' > "$WORK/formatted"
check "emit: make format leaves these texts as they are" sh -c '[ "$(grep -c "\.c$" "$1")" -gt 100 ] && ! grep -q tests/golden "$1"' - "$WORK/formatted"
