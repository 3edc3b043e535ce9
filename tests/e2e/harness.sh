#!/bin/sh
# tests/run: its counts, and its failure when a script fails, a slow one or one that dies silently.
. tests/lib.sh
mkdir "$WORK/a"
echo 'echo ok - one; echo "ok - two # SKIP it is missing"' > "$WORK/a/good.sh"
echo 'echo ok - three' > "$WORK/a/slow-good.sh"
echo 'echo ok - four; echo not ok - five; exit 1' > "$WORK/a/slow-bad.sh"
echo 'echo ok - six; exit 3' > "$WORK/a/dies.sh"
echo 'true' > "$WORK/a/silent.sh"
echo 'sleep 60' > "$WORK/a/endless.sh"

# run NAME STATUS SUM SCRIPT...
run() {
    _name=$1 _status=$2 _sum=$3
    shift 3
    : > "$WORK/said"
    (cd "$WORK/a" && BUILD=build TEST_TIMEOUT=5 "$OLDPWD/tests/run" "$@") >> "$WORK/said" 2>&1 # two scripts write at a time
    _got=$?
    check "harness: $_name: $(tail -n 1 "$WORK/said"), status $_got" [ "$_got $(tail -n 1 "$WORK/said")" = "$_status $_sum" ]
}
run "all pass" 0 "2 passed, 0 failed, 1 skipped" good.sh slow-good.sh
check "harness: a skip is said with its reason" grep -q 'ok - two # SKIP it is missing' "$WORK/said"
run "a slow script fails" 1 "3 passed, 1 failed, 1 skipped" good.sh slow-good.sh slow-bad.sh
check "harness: what failed is shown" grep -q '^not ok - five' "$WORK/said"
run "a script dies" 1 "2 passed, 1 failed, 1 skipped" good.sh dies.sh
run "a script says nothing" 1 "0 passed, 1 failed, 0 skipped" silent.sh
run "a script does not end" 1 "1 passed, 1 failed, 1 skipped" good.sh endless.sh
run "a script is not there" 1 "1 passed, 1 failed, 1 skipped" good.sh nowhere.sh

# make test-all is one command: every slow script there is, and all that make test runs.
make -n run-tests EXTRA='$(SLOW)' BUILD="$BUILD" 2> /dev/null | grep 'tests/run' | tr ' ' '\n' | grep '\.sh$' | sort > "$WORK/run"
ls tests/*/*.sh | grep -vE '^tests/(bench|errors)/' > "$WORK/there"
echo tests/errors/run.sh | sort -m - "$WORK/there" > "$WORK/expected"
same "harness: make test-all runs every script" "$WORK/expected" "$WORK/run"

# of.txt has a line for every source file, and names only tests that exist.
find compiler runtime dsl -name '*.[chly]' -o -name '*.burin' -o -name '*.def' > "$WORK/sources"
awk 'NR == FNR { if (!/^#/) { prefix[$1] } next }
    { known = 0; for (p in prefix) { if (index($0, p) == 1) { known = 1 } } if (!known) { print $0 ": no line in of.txt" } }' \
    tests/of.txt "$WORK/sources" > "$WORK/stale"
for test in $(sed '/^#/d; s/^[^ ]*//' tests/of.txt); do
    case $test in *.sh) [ -e "$test" ] ;; *) [ -e "tests/unit/$test.c" ] ;; esac || echo "$test"
done >> "$WORK/stale"
same "harness: tests/of.txt knows every source file, and its tests exist" /dev/null "$WORK/stale"

# Models of tests/families: blanks at the end of a line, and a last line without a newline.
mkdir "$WORK/tiny" "$WORK/blanks"
printf 'a 0.5 0 2 3\nb 1 0 4\n' > "$WORK/tiny/tensors"
printf 'a 0.5 0 2 3 \nb 1 0 4 \t' > "$WORK/blanks/tensors"
check "harness: tensors of a tiny model" timeout 10 "$BUILD/tools/family_weights" "$WORK/tiny" "$WORK/tiny.out"
check "harness: tensors with blanks at the ends of lines" timeout 10 "$BUILD/tools/family_weights" "$WORK/blanks" "$WORK/blanks.out"
same "harness: are the same" "$WORK/tiny.out/model.safetensors" "$WORK/blanks.out/model.safetensors"
