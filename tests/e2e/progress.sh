#!/bin/sh
# A build that takes longer than a second has a bar on a terminal. (In pipes there is none: other scripts compare all that builds say.)
. tests/lib.sh
XDG_CACHE_HOME=$WORK/cache  # nothing is compiled yet
export XDG_CACHE_HOME
printf '%s\n' 'expect [#' 'expect %' > "$WORK/script"
"$BUILD/tools/terminal" "$WORK/script" $BURIN build examples/digits/digits.onnx -o "$WORK/digits" --mcpu=x86-64-v3 > "$WORK/said" 2>&1
check "progress: status $?" [ -x "$WORK/digits" ]
check "progress: a bar" grep -q 'compiling.* \[##*\.*\]  *[0-9]* %' "$WORK/said"
check "progress: the last line is whole" grep -q 'a program for x86-64-v3' "$WORK/said"
