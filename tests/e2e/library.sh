#!/bin/sh
# The C interface around a fake model: two models in one host program, with gcc and clang, and their
# exported symbols.
. tests/lib.sh
flags="-std=gnu11 -O1 -g -ffp-contract=off -fvisibility=hidden -Wall -Wextra -Werror -Iruntime -Itests/e2e -I$WORK -pthread"
[ "${BUILD##*/}" = san ] && flags="$flags -fsanitize=address,undefined -fno-sanitize-recover=all"
for name in alpha beta; do
    "$BUILD/tools/library_text" $name "$WORK" || exit 1
    printf '#include "fake_model.h"\nconst burin_model %s_model = FAKE_MODEL;\n' $name > "$WORK/${name}_model.c"
done

# shellcheck disable=SC2086 # a list of flags
build() {
    $1 $flags tests/e2e/library_host.c "$WORK/alpha.c" "$WORK/alpha_model.c" "$WORK/beta.c" "$WORK/beta_model.c" -lm -o "$WORK/$1"
}
for compiler in gcc clang-19; do
    command -v $compiler > /dev/null || { skip "host by $compiler" "no $compiler"; continue; }
    check "builds two models and their host with $compiler" build $compiler
    "$WORK/$compiler"
done

# shellcheck disable=SC2086
check "builds a shared library" gcc $flags -fPIC -shared -Wl,--no-undefined "$WORK/alpha.c" "$WORK/alpha_model.c" -lm -o "$WORK/alpha.so"
case $flags in *sanitize*) exit ;; esac
nm -D --defined-only "$WORK/alpha.so" | awk '{print $3}' | grep -v '^alpha_' > "$WORK/foreign"
check "exports nothing but the model's own names" test ! -s "$WORK/foreign"
