# Words for the scripts of tests/conformance: where the cases are, and the table of what passes.
ARCHIVE=$SHARED/data/onnx/onnx-backend-tests-v1.22.tar.xz
SUITE=$BUILD/conformance/suite
CASES=$SUITE/onnx/backend/test/data
EXPECTED=tests/conformance/EXPECTED.md

# unpack_cases NAME: skips the script when the archive is missing.
unpack_cases() {
    need "$1" "$ARCHIVE"
    [ -e "$SUITE" ] && return
    mkdir -p "$SUITE.$$"
    tar xJf "$ARCHIVE" -C "$SUITE.$$" && mv -T "$SUITE.$$" "$SUITE" 2> /dev/null || rm -rf "$SUITE.$$"  # another may be first
}

all_cases() { ls -d "$CASES"/node/* "$CASES"/simple/* "$CASES"/pytorch-operator/* "$CASES"/pytorch-converted/*; }

# table RESULTS: the first part of EXPECTED.md. A row an operator: cases, passes, and for what falls short its cases by reason.
table() {
    cat << 'END'
# Conformance

The ONNX 1.22 backend tests (node, simple, pytorch-operator, pytorch-converted) at the suite's tolerances: first in the reference
interpreter, below as compiled C. Generated (`--update` of run.sh and slow-compiled.sh); a test fails when a case fails that is
not named here. Of random numbers only types and shapes are compared. Inputs that a shape depends on (the operand `shape` of Reshape) are fixed at build time.

| operator | cases | pass | what falls short |
|---|---|---|---|
END
    sort -t '	' -k2,2 -k3,3 -k1,1 "$1" | awk -F '\t' '
        function row() { if (op != "") printf "| %s | %d | %d | %s |\n", op, cases, passes, short }
        { if ($2 != op) { row(); op = $2; cases = passes = 0; short = reason = "" } }
        { cases++; all++ }
        $3 == "pass" { passes++; passed++; next }
        $3 != reason { short = short (short == "" ? "" : "; ") $3 ":"; reason = $3 }
        { short = short " " $1 }
        END { row(); printf "\nInterpreted: %d of %d pass\n", passed, all }'
}

# table_compiled INTERPRETED COMPILED: the second part: what passes in the interpreter and not as compiled C.
table_compiled() {
    printf '## Compiled\n\n| why not | cases that pass in the interpreter only |\n|---|---|\n'
    awk -F '\t' 'NR == FNR { good[$1] = $3 == "pass"; next } $3 != "pass" && good[$1] { print $3 "\t" $1 }' "$1" "$2" | sort |
        awk -F '\t' '$1 != why { if (why != "") print names " |"; why = $1; names = "| " why " |" }
                     { names = names " " $2 } END { if (why != "") print names " |" }'
    awk -F '\t' '{ all++ } $3 == "pass" { passed++ } END { printf "\nCompiled: %d of %d pass\n", passed, all }' "$2"
}

# part NUMBER: that part of EXPECTED.md
part() {
    awk -v part="$1" '/^## Compiled/ { compiled = 1 } compiled == part - 1' $EXPECTED
}

# committed WORD: how many passes EXPECTED.md promises
committed() { sed -n "s/^$1: \([0-9]*\) of .*/\1/p" $EXPECTED; }

# failing_as_expected FAILED: one test for each case that fails and is not named in the table.
failing_as_expected() {
    while IFS='	' read -r name reason; do
        grep -q "[ :]$name[ ;]" $EXPECTED || not_ok "conformance: $name: $reason"
    done < "$1"
}

# compile_cases FOLDER CASE...: FOLDER/cases is one program of these cases; FOLDER/emitted lists
# those that did not compile.
compile_cases() { emit_and_compile "$1" "$BUILD/tools/conformance" --emit "$@"; }

# emit_and_compile FOLDER COMMAND...: compiles the cases that the command writes. The headers are
# parsed once; every case is one object. FOLDER/refused has clang's messages about failed ones.
# CASE_FLAGS: more options of clang.
emit_and_compile() {
    _to=$1
    shift
    rm -rf "$_to"
    mkdir -p "$_to"
    "$@" > "$_to/emitted"
    awk -F '\t' '$3 == "pass" { print $1 }' "$_to/emitted" > "$_to/names"
    _flags="-std=gnu17 -O1 -w -D_GNU_SOURCE -ffp-contract=off -fno-math-errno -Iruntime -Itests/tools -I$_to -march=x86-64-v3 ${CASE_FLAGS-}"
    printf '#include "%s"\n' kernels/kernels.h kernels/nest.h engine/step.h engine/program.h engine/cpu.h > "$_to/all.h"
    # shellcheck disable=SC2086 # words
    clang-19 $_flags -DBURIN_CPU=x86_64_v3 -x c-header "$_to/all.h" -o "$_to/all.pch" || return 1
    while read -r _case; do
        printf '#include "%s.c"\n#define buffer_offsets dispatch_buffer_offsets\n#include "%s_dispatch.c"\n' "$_case" "$_case" > "$_to/case_$_case.c"
    done < "$_to/names"
    sed "s|.*|$_to/case_&|" "$_to/names" |
        FLAGS="$_flags -DBURIN_CPU=x86_64_v3 -include-pch $_to/all.pch" xargs -P 2 -n 20 \
            sh -c 'for f; do clang-19 $FLAGS -c "$f.c" -o "$f.o"; done' compile > "$_to/refused" 2>&1
    : > "$_to/weights.S"
    : > "$_to/list"
    echo '#include "engine/program.h"' > "$_to/table.c"
    while read -r _case; do
        [ -e "$_to/case_$_case.o" ] || continue
        printf '.section .rodata\n.global %s_weights\n.balign 64\n%s_weights:\n.incbin "%s"\n' "$_case" "$_case" \
            "$_to/$_case.weights" >> "$_to/weights.S"
        echo "extern const burin_model ${_case}_descriptor;" >> "$_to/table.c"
        echo "    &${_case}_descriptor," >> "$_to/list"
    done < "$_to/names"
    printf '.section .note.GNU-stack,"",%%progbits\n' >> "$_to/weights.S"
    { echo 'const burin_model *const cases[] = {'; cat "$_to/list"; echo '    0};'; } >> "$_to/table.c"
    find "$_to" -name 'case_*.o' > "$_to/objects"
    # shellcheck disable=SC2086
    clang-19 $_flags tests/tools/run_cases.c runtime/engine/forward.c runtime/engine/integrity.c runtime/engine/network.c runtime/engine/threads.c "$_to/table.c" "$_to/weights.S" \
        @"$_to/objects" -lm -lpthread -o "$_to/cases"
}

# compiled_results FOLDER: a line a case, as the interpreter's: name, operator, pass or the reason
compiled_results() {
    "$1/cases" "$1" > "$1/results"
    awk -F '\t' -v OFS='\t' 'FILENAME == ARGV[1] { got[$1] = $2; next }
        { print $1, $2, $3 != "pass" ? $3 : $1 in got ? got[$1] : "clang refuses it" }' "$1/results" "$1/emitted"
}

# no_interpreter FOLDER: the program of the cases has no function of the compiler
no_interpreter() {
    nm "$1/cases" > "$1/symbols" && grep -q ' T burin_network_run$' "$1/symbols" &&
        ! grep -E ' [tT] (eval_|graph_|node_|onnx_|dim_|expr_|pass_)' "$1/symbols"
}
