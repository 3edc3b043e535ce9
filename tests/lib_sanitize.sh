# Emitted programs under sanitizers: for scripts that have read tests/lib.sh.
SANITIZE="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
# Leaks are errors here: a program frees its memory.
sanitized() { ASAN_OPTIONS=detect_leaks=1 "$@"; }

# sanitized_build NAME FLAGS FLAGS-OF-KERNELS MODEL OPTIONS...: $WORK/NAME.c/NAME and, without
# sanitizers, $WORK/NAME. A CPU's code takes long to compile with all sanitizers, hence flags of its
# own.
sanitized_build() {
    _program=$1 _flags=$2 _kernels=$3
    shift 3
    "$BURIN" build "$@" -o "$WORK/$_program" && "$BURIN" build "$@" -o "$WORK/$_program.c" || return 1
    set -- CC=clang-19 -s -C "$WORK/$_program.c"
    # shellcheck disable=SC2046 # names
    make "$@" CFLAGS="$_kernels" $(sed -n 's/^\([a-z0-9_]*\.o\):.*/\1/p' "$WORK/$_program.c/Makefile") &&
        make "$@" CFLAGS="$_flags" "$_program"
}

# same_output NAME PROGRAM ARGUMENTS...: with sanitizers and without, the same status and text, and no finding
same_output() {
    _name=$1 _program=$2
    shift 2
    { "$WORK/$_program" "$@" && echo done; } > "$WORK/expected" 2>&1 < /dev/null
    { sanitized "$WORK/$_program.c/$_program" "$@" && echo done; } > "$WORK/got" 2>&1 < /dev/null
    same "sanitized: $_name" "$WORK/expected" "$WORK/got"
}
