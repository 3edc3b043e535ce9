#!/bin/sh
# `make format` would change nothing.
case ${BUILD:-build} in */san) echo "ok - format # SKIP the files are the same with sanitizers" && exit 0 ;; esac
. tests/lib.sh
command -v clang-format-19 > /dev/null || { skip "format" "clang-format-19 is missing" && exit 0; }
git ls-files '*.c' '*.h' '*.js' ':!tests/golden' > "$WORK/files"
check "format: git lists the files" [ "$(wc -l < "$WORK/files")" -gt 200 ]
xargs clang-format-19 --dry-run -Werror < "$WORK/files" 2>&1 | sed -n 's/: error: .*//p' > "$WORK/changes"
check "format: make format changes nothing: $(tr '\n' ' ' < "$WORK/changes")" [ ! -s "$WORK/changes" ]
git ls-files '*.c' '*.h' '*.js' '*.css' '*.html' '*.zsh' ':!tests/golden' | xargs awk 'length($0) > 132 { print FILENAME ":" FNR }' > "$WORK/long"
check "format: lines of 132 columns at most: $(tr '\n' ' ' < "$WORK/long")" [ ! -s "$WORK/long" ]
