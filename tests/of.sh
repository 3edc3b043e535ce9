#!/bin/sh
# Runs the tests of one file: those of its longest prefix in of.txt. usage: tests/of.sh FILE; --list FILE only prints them
set -u
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
list=
[ "${1-}" != --list ] || { list=y && shift; }
[ $# = 1 ] && [ -e "$1" ] || { echo "tests/of.sh: no such file: ${1-}" >&2 && exit 2; }
case $1 in
    tests/*.sh) tests=$1 ;;
    tests/unit/*.c) tests=$(basename "$1" .c) ;;
    *) tests=$(awk -v file="$1" '!/^#/ && index(file, $1) == 1 && length($1) > length(best) { best = $1; $1 = ""; tests = $0 } END { print tests }' tests/of.txt) ;;
esac
[ -n "$tests" ] || { echo "tests/of.sh: of.txt has no line for $1" >&2 && exit 1; }
[ -z "$list" ] || { echo $tests && exit 0; }
log=$(mktemp "${TMPDIR:-/tmp}/burin-of.XXXXXX") failed=0
trap 'rm -f "$log"' EXIT
for test in $tests; do
    echo "== $test"
    case $test in *.sh) sh "$test" ;; *) "$BUILD/unit" "$test" ;; esac > "$log" 2>&1 || failed=1
    ! grep -q '^not ok' "$log" || failed=1
    grep -v '^ok - ' "$log"
    echo "$(grep -c '^ok - ' "$log") passed"
done
exit $failed
