#!/bin/sh
# Every C file compiles without a warning with gcc and with clang.
case ${BUILD:-build} in */san) echo "ok - compilers # SKIP warnings are the same with sanitizers" && exit 0 ;; esac
if make --no-print-directory -j2 check-compilers 2>&1; then
    echo "ok - compilers: no warnings"
else
    echo "not ok - compilers: no warnings"
fi
