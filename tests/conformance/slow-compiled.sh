#!/bin/sh
# Every case as compiled C, many in one program. --update: writes the second part of EXPECTED.md anew.
. tests/lib.sh
. tests/lib_conformance.sh
unpack_cases "conformance, compiled"
folder=$BUILD/conformance/compiled
# shellcheck disable=SC2046 # folders without spaces
check "conformance: all cases compile into one program" compile_cases "$folder" $(all_cases)
compiled_results "$folder" > "$WORK/compiled"
if [ "${1-}" = --update ]; then
    # shellcheck disable=SC2046
    "$BUILD"/tools/conformance $(all_cases) > "$WORK/interpreted"
    { table "$WORK/interpreted" && echo && table_compiled "$WORK/interpreted" "$WORK/compiled"; } > $EXPECTED
    grep ' pass$' $EXPECTED
    exit 0
fi
awk -F '\t' '$3 != "pass" { print $1 "\t" $3 }' "$WORK/compiled" > "$WORK/failed"
failing_as_expected "$WORK/failed"
passed=$(grep -c '	pass$' "$WORK/compiled")
check "conformance: $passed cases pass as compiled C, $(committed Compiled) at least" test "$passed" -ge "$(committed Compiled)"
check "conformance: the compiled program holds no interpreter" no_interpreter "$folder"
