#!/bin/sh
# The cases in minimum.tar.xz, three of every operator, which a clone has without the suite: each passes in the interpreter. With
# `--update` it takes the smallest that pass of the whole suite.
. tests/lib.sh
if [ "${1-}" = --update ]; then
    . tests/lib_conformance.sh
    unpack_cases "conformance, minimum"
    # shellcheck disable=SC2046 # folders without spaces
    "$BUILD"/tools/conformance $(all_cases) > "$WORK/results"
    cd "$SUITE" || exit 1
    awk -F '\t' '$3 == "pass" { print $1 "\t" $2 }' "$WORK/results" | while IFS='	' read -r name operator; do
        folder=$(find onnx -type d -name "$name")
        echo "$(du -sb "$folder" | cut -f1) $operator $folder"
    done | sort -k2,2 -k1,1n | awk '++n[$2] <= 3 { print $3 }' | LC_ALL=C sort > "$WORK/chosen"
    tar -cJf "$OLDPWD/tests/conformance/minimum.tar.xz" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -T "$WORK/chosen"
    exit 0
fi
tar -xJf tests/conformance/minimum.tar.xz -C "$WORK"
# shellcheck disable=SC2046 # folders without spaces
"$BUILD"/tools/conformance $(find "$WORK/onnx" -name model.onnx -exec dirname {} +) > "$WORK/results"
awk -F '\t' '$3 != "pass" { print "not ok - conformance, minimum: " $1 ": " $3 }' "$WORK/results"
cases=$(wc -l < "$WORK/results")
check "conformance, minimum: $cases cases of $(cut -f2 "$WORK/results" | sort -u | wc -l) operators" [ "$cases" -ge 500 ]
