# Words for test scripts: `. tests/lib.sh`. They run from the top folder.
BUILD=${BUILD:-build}
BURIN=$BUILD/burin
SHARED=${SHARED:-../shared}
WORK=$(mktemp -d "${TMPDIR:-/tmp}/burin-test.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
trap 'exit 1' INT TERM
# Committed in packs: $FIXTURES/ROOM/NAME is a folder of families, published or formats/folders, $FIXTURES/errors has cases.
FIXTURES=$BUILD/fixtures
sh tests/fixtures.sh unpack
# Leaks of a process that ends are no errors; everything else a sanitizer finds is.
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" XDG_CACHE_HOME="${XDG_CACHE_HOME:-$PWD/build/cache}" NO_COLOR=1

# Programs are built by -O1, in a third of the time and with the same bits, but in slow scripts, in tables of speed, and where a
# script is `optimized`.
case $0 in */slow-* | */bench/*) ;; *) export BURIN_OPTIMIZE="${BURIN_OPTIMIZE-1}" ;; esac
optimized() { unset BURIN_OPTIMIZE; }

ok() { echo "ok - $1"; }
not_ok() { echo "not ok - $1"; }
skip() { echo "ok - $1 # SKIP $2"; }

# check NAME COMMAND...: passes when the command succeeds; its output is shown otherwise.
check() {
    _name=$1
    shift
    if "$@" > "$WORK/check.out" 2>&1; then ok "$_name"; else
        not_ok "$_name"
        sed 's/^/# /' "$WORK/check.out"
    fi
}

# same NAME EXPECTED-FILE GOT-FILE
same() {
    if cmp -s "$2" "$3"; then ok "$1"; else
        not_ok "$1"
        diff "$2" "$3" | head -n 40 | sed 's/^/# /'
    fi
}

# says NAME STATUS TEXT COMMAND...: the exit status, and the text somewhere in the output
says() {
    _name=$1 _status=$2 _text=$3
    shift 3
    "$@" > "$WORK/says" 2>&1 < /dev/null
    _got=$?
    if [ $_got = "$_status" ] && grep -qF -- "$_text" "$WORK/says"; then ok "$_name"; else
        not_ok "$_name: status $_got, expected $_status and: $_text"
        sed 's/^/# /' "$WORK/says"
    fi
}

# answers_at_once NAME LINE ANSWER PROGRAM...: through pipes, the answer to a line comes while the input is still open
answers_at_once() {
    _name=$1 _line=$2 _answer=$3 _tries=0
    shift 3
    : > "$WORK/answer"
    {
        echo "$_line"
        while [ ! -s "$WORK/answer" ] && [ $_tries -lt 400 ]; do sleep 0.05 && _tries=$((_tries + 1)); done
        cp "$WORK/answer" "$WORK/early"
    } | "$@" 2>&1 | cat > "$WORK/answer"
    check "$_name" test "$(cat "$WORK/early")" = "$_answer" -a "$(cat "$WORK/answer")" = "$_answer"
}

# one_hash NAME EXPECTED CELLS PROGRAM...: the program gives this hash on every CPU of here that it carries code for, in every
# cell THREADS or THREADS:CHUNK, in three cells at least
one_hash() {
    _name=$1 _expected=$2 _list=$3 _cells=0 _other=
    shift 3
    for _cpu in $("$1" --info | sed -n 's/^cpus \(.*\); here.*/\1/p' | tr -d ,); do
        for _cell in $_list; do
            _threads=${_cell%:*} _chunk=${_cell#"${_cell%:*}"}
            _got=$("$@" --cpu "$_cpu" -t "$_threads" ${_chunk:+--chunk ${_chunk#:}} 2>&1)
            case $_got in *"does not have it"*) continue ;; esac
            _cells=$((_cells + 1))
            [ "$_got" = "$_expected" ] || _other="$_other $_cpu:$_cell"
        done
    done
    check "$_name: the same bits in $_cells cells$_other" test -n "$_expected" -a $_cells -ge 3 -a -z "$_other"
}

# as_promised NAME PROGRAM ARGUMENTS...: the largest resident set of this run, which fills the context, in KB, is at least the weights,
# and at most weights, arena and state as --info has them, with 2 MB for the code, the tokenizer and the C library
as_promised() {
    _name=$1
    shift
    # shellcheck disable=SC2046 # numbers
    set -- $("$1" --info | sed -n 's/.*weights \([0-9]*\) bytes, arena \([0-9]*\) .*state of a slot \([0-9]*\)$/\1 \2 \3/p') "$@"
    _weights=$(($1 / 1024)) _most=$((($1 + $2 + $3) / 1024 + 2048))
    shift 3
    _peak=$("$BUILD/tools/peak" 100000 "$@" 2>&1 > "$WORK/out" | sed -n 's/^peak: \([0-9]*\) KB$/\1/p')
    check "$_name: $_peak KB resident, promised $_most" test "${_peak:-0}" -ge $_weights -a "${_peak:-0}" -le $_most
}

# home_with_fault NAME VALUE: $WORK/home, a BURIN_HOME whose kernels have a fault of runtime/kernels/fault.h.
home_with_fault() {
    mkdir "$WORK/home"
    cp -R runtime dsl "$WORK/home"
    { echo "#define $1 $2" && cat runtime/kernels/fault.h; } > "$WORK/home/runtime/kernels/fault.h"
}

# emulator: clang for x86-64 CPUs that are not here (tests/x86), where this one has AVX2; else clang
emulator() { if grep -qw avx2 /proc/cpuinfo; then echo "$PWD/tests/x86/clang"; else echo clang-19; fi; }

# emulated COMMAND...: its builds for x86-64 CPUs run on this one. The compiler's file is part of
# the cache's key, and so are the emulation's headers.
emulated() {
    [ -e "$WORK/clang" ] || printf '#!/bin/sh\n# %s\nexec "%s" "$@"\n' "$(cat tests/x86/clang tests/x86/emulated.h tests/x86/include/*/*.h | cksum)" "$(emulator)" > "$WORK/clang"
    chmod +x "$WORK/clang"
    BURIN_CC=$WORK/clang "$@"
}

# unsanitized NAME: skips the whole script under SAN=1: it tests programs, which are unaffected.
unsanitized() {
    case $BUILD in */san) skip "$1" "programs are not sanitized" && exit 0 ;; esac
}

# npy TYPE SHAPE: values from standard input as an .npy file; values FILE: those of one that was written here.
npy() {
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': ($2,), }"
    cat
}
values() { tail -c +129 "$1"; }

# need NAME FILE...: skips the whole script when one of the files is missing.
need() {
    _name=$1
    shift
    for _file; do
        [ -e "$_file" ] && continue
        skip "$_name" "$_file is missing"
        exit 0
    done
}

# poison FILE TENSOR ELEMENT BYTES: this element of a safetensors file becomes these two bytes (octal escapes): NaN or an infinity
poison() {
    _header=$(od -An -tu8 -N8 "$1" | tr -d ' ')
    _at=$(head -c $((8 + _header)) "$1" | tail -c "$_header" | sed -n "s/.*\"$2\" *: *{[^}]*\"data_offsets\" *: *\[ *\([0-9]*\).*/\1/p")
    printf "$4" | dd of="$1" bs=1 seek=$((8 + _header + _at + 2 * $3)) conv=notrunc 2> /dev/null
}
