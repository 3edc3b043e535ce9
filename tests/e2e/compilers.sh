#!/bin/sh
# Every C file compiles without a warning with gcc and with clang.
. tests/lib.sh
case ${BUILD:-build} in */san) echo "ok - compilers # SKIP warnings are the same with sanitizers" && exit 0 ;; esac
if make --no-print-directory -j2 check-compilers 2>&1; then
    echo "ok - compilers: no warnings"
else
    echo "not ok - compilers: no warnings"
fi

# The files of a runtime unit change with their number: any of them may share one. (mpi/ and editor/
# have flags of their own.)
for file in runtime/*/*.c; do
    case $file in runtime/library/* | runtime/mpi/* | runtime/editor/* | runtime/server/* | runtime/api/* | runtime/windows/* | runtime/glibc/*) ;; *) echo "#include \"$file\"" ;; esac
done > "$WORK/whole.c"
check "compilers: the runtime in one unit" clang-19 -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -I. -Iruntime "$WORK/whole.c"
