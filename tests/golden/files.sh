#!/bin/sh
# No golden file is deleted unnoticed: those that FILES lists are here. `sh tests/golden/files.sh --accept` lists what is here now.
. tests/lib.sh
(cd tests/golden && find . -type f ! -name FILES ! -name '*.sh' | sed 's,^\./,,' | LC_ALL=C sort) > "$WORK/files"
[ "${1-}" != --accept ] || cp "$WORK/files" tests/golden/FILES
LC_ALL=C comm -23 tests/golden/FILES "$WORK/files" > "$WORK/gone"
same "golden: the files of tests/golden/FILES are here" /dev/null "$WORK/gone"
echo "# not listed: $(LC_ALL=C comm -13 tests/golden/FILES "$WORK/files" | tr '\n' ' ')"
