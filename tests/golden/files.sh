#!/bin/sh
# No golden file is deleted unnoticed: those that FILES lists exist, and it lists all. `sh
# tests/golden/files.sh --accept` lists the existing ones.
. tests/lib.sh
(cd tests/golden && find . -type f ! -name FILES ! -name '*.sh' | sed 's,^\./,,' | LC_ALL=C sort) > "$WORK/files"
[ "${1-}" != --accept ] || cp "$WORK/files" tests/golden/FILES
same "golden: the files that are here are those of tests/golden/FILES (--accept)" tests/golden/FILES "$WORK/files"
