#!/bin/sh
# Checks every message: its text, the exit status, and that no file is left over. The tables
# AREA.cases hold the cases as files (`tests/fixtures.sh` explains them); a new case may be loose
# files beside them. Each case runs in an empty folder:
#   NAME.sh       a script; $BURIN is the compiler, $TOOLS has tests/tools, $TOP the top folder, $SHARED the shared data,
#                 $FIXTURES unpacked fixtures
#   NAME.burin    a description, with the config.json NAME.json and the tensors NAME.tensors: tools/description.c
#   TOOL/NAME     a line in the tables of tools/broken.c or tools/broken_onnx.c, which make a damaged file and read it
#
# NAME.err is the output (with $TOP and $SHARED for these folders), a line `status N`, and a line
# for every file that a script left over. UPDATE=1 writes the tables anew, loose cases included:
# read the difference before you commit it. Arguments: only these names. (e2e/messages.sh lists the
# messages without a case.)
. tests/lib.sh
TOP=$PWD BURIN=$PWD/$BURIN TOOLS=$(cd "$BUILD/tools" && pwd) FIXTURES=$PWD/$FIXTURES only=$* got=$WORK/got
SHARED=$(cd "$SHARED" 2> /dev/null && pwd) || SHARED=/nonexistent
cases=$FIXTURES/errors
export TOP BURIN TOOLS SHARED FIXTURES LIBRARY="$TOP/dsl" TMPDIR="$WORK/tmp"
mkdir -p "$got/broken" "$got/broken_onnx" "$WORK/in" "$TMPDIR"

wanted() { case " ${only:-$1} " in *" $1 "*) ;; *) return 1 ;; esac; }

# run_script NAME
run_script() {
    (cd "$WORK/in" && sh "$cases/$1.sh") > "$got/$1.err" 2>&1 < /dev/null
    echo "status $?" >> "$got/$1.err"
    (cd "$WORK/in" && find . -mindepth 1 | sort | sed 's/^/left behind: /') >> "$got/$1.err"
    (cd "$TMPDIR" && find . -mindepth 1 | sort | sed 's/^/left in TMPDIR: /') >> "$got/$1.err"
    find "$WORK/in" "$TMPDIR" -mindepth 1 -delete
}

# run_tool TOOL FOLDER: all of its cases, a process and a folder each
run_tool() {
    mkdir "$WORK/$1"
    (cd "$WORK/$1" && "$TOOLS/$1" --each "$got/$2") > "$WORK/said" 2>&1
    check "errors: each case of tools/$1.c ends with a message and prints nothing" diff /dev/null "$WORK/said"
}

for file in "$cases"/*.sh; do
    name=$(basename "$file" .sh)
    wanted "$name" || continue
    if grep -q '\$SHARED' "$file" && [ ! -d "$SHARED" ]; then
        skip "errors: $name" "the shared data is missing"
        cp "$cases/$name.err" "$got"
    else
        run_script "$name"
    fi
done
run_tool description .
run_tool broken broken
run_tool broken_onnx broken_onnx
check "errors: the model that broken_onnx damages is valid" sh -c "cd '$WORK/in' && '$TOOLS/broken_onnx' --valid"

cd "$got" || exit 1
for file in $(find . -name '*.err' -printf '%P\n' | sort); do
    name=${file%.err}
    wanted "$name" || continue
    sed -i -e "s|$FIXTURES|\$FIXTURES|g" -e "s|$TOP|\$TOP|g" -e "s|$SHARED|\$SHARED|g" -e "s|$WORK|\$WORK|g" "$file"
    [ -z "${UPDATE:-}" ] || cp "$file" "$cases/$file"
    same "errors: $name" "$cases/$file" "$file"
done
[ -z "${UPDATE:-}" ] || sh "$TOP/tests/fixtures.sh" pack
[ -z "$only" ] || exit 0

# No case is lost: each text belongs to one, and their number does not fall.
cd "$cases" || exit 1
for file in *.err */*.err; do [ -e "$got/$file" ] || not_ok "errors: $file belongs to no case"; done
check "errors: there are 1040 cases at least" [ "$(find . -name '*.err' | wc -l)" -ge 1040 ]
