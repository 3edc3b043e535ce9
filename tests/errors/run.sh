#!/bin/sh
# Every message of the commands: its text, the exit status, and that nothing is left behind. NAME.sh + NAME.err: a script, run in
# an empty folder; $BURIN is the compiler, $TOOLS has tests/tools, $TOP the top folder, $SHARED the shared data. (NAME.burin: tests/unit/dsl.c.)
#
# NAME.err is what is printed (with $TOP and $SHARED for these folders), a line `status N`, and a line for every file left behind.
# UPDATE=1 writes the .err files anew: read the difference before you commit it. Further arguments: only these names.
. tests/lib.sh
TOP=$PWD BURIN=$PWD/$BURIN TOOLS=$PWD/$BUILD/tools cases=$PWD/tests/errors
SHARED=$(cd "$SHARED" 2> /dev/null && pwd) || SHARED=/nonexistent
export TOP BURIN TOOLS SHARED TMPDIR="$WORK/tmp"
mkdir "$WORK/tmp"

run_case() {
    mkdir "$WORK/in"
    (cd "$WORK/in" && sh "$1") > "$WORK/out" 2>&1 < /dev/null
    status=$?
    sed -e "s|$TOP|\$TOP|g" -e "s|$SHARED|\$SHARED|g" -e "s|$WORK|\$WORK|g" "$WORK/out"
    echo "status $status"
    (cd "$WORK/in" && find . -mindepth 1 | sort | sed 's/^/left behind: /')
    (cd "$WORK/tmp" && find . -mindepth 1 | sort | sed 's/^/left in TMPDIR: /')
    rm -rf "$WORK/in" "$WORK/tmp"
    mkdir "$WORK/tmp"
}

for file in "$cases"/*.sh; do
    name=$(basename "$file" .sh)
    [ "$name" = run ] && continue
    case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
    if grep -q '\$SHARED' "$file" && [ ! -d "$SHARED" ]; then
        skip "errors: $name" "the shared data is missing"
        continue
    fi
    run_case "$file" > "$WORK/got"
    [ -n "${UPDATE:-}" ] && cp "$WORK/got" "$cases/$name.err"
    same "errors: $name" "$cases/$name.err" "$WORK/got"
done
