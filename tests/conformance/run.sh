#!/bin/sh
# Every case of the ONNX backend tests in the reference interpreter, against EXPECTED.md. --update: writes that table anew.
# A case passes unless EXPECTED.md names it; one that it names and that passes is a failure, too.
. tests/lib.sh
. tests/lib_conformance.sh
unpack_cases "conformance, interpreted"
# shellcheck disable=SC2046 # folders without spaces
"$BUILD"/tools/conformance $(all_cases) > "$WORK/interpreted"
if [ "${1-}" = --update ]; then
    { table "$WORK/interpreted" && echo && part 2; } > "$WORK/table"
    cp "$WORK/table" $EXPECTED
    grep ' pass$' $EXPECTED
    exit 0
fi
awk -F '\t' '$3 != "pass" { print $1 "\t" $3 }' "$WORK/interpreted" > "$WORK/failed"
failing_as_expected "$WORK/failed"
passed=$(grep -c '	pass$' "$WORK/interpreted")
awk -F '\t' '$3 == "pass" { print $1 }' "$WORK/interpreted" | while read -r name; do
    part 1 | grep -q "[ :]$name[ ;]" && not_ok "conformance: $name passes now: run.sh --update, and commit EXPECTED.md"
done
check "conformance: $passed of $(wc -l < "$WORK/interpreted") cases pass in the interpreter, as EXPECTED.md says" \
    test "$passed" -eq "$(committed Interpreted)"
