#!/bin/sh
# Every kind of view at every operand of every kernel family (tools/view_cases.c), compiled: the interpreter's bits.
. tests/lib.sh
. tests/lib_conformance.sh
need "views" "$BUILD/tools/view_cases"
unsanitized "views"
emit_and_compile "$WORK/views" "$BUILD/tools/view_cases" "$WORK/views"
sed 's/^/# /' "$WORK/views/refused"
compiled_results "$WORK/views" > "$WORK/results"
while IFS='	' read -r name _ result; do
    if [ "$result" = pass ]; then ok "views: $name"; else not_ok "views: $name: $result"; fi
done < "$WORK/results"
check "views: each kind has a result" test "$(wc -l < "$WORK/results")" -eq 12
