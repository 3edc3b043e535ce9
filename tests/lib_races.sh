# Compiled cases in programs that show races and writes beyond a buffer: for scripts that have read lib.sh and lib_conformance.sh.
#
#   threads  under ThreadSanitizer, in plain C, because it does not see wide vectors
#   delays   a thread waits at random after each kernel (runtime/kernels/fault.h)
#   guards   under AddressSanitizer, with bands between buffers (runtime/engine/guard.h)
export TSAN_OPTIONS=exitcode=66:halt_on_error=1 ASAN_OPTIONS=exitcode=66:detect_leaks=0  # 66: FINDING of run_cases.c

# watched MODE RUNS FOLDER COMMAND...: FOLDER/results has a line for each case that COMMAND emits: its name, a tab, pass or what went
# wrong. Every case is computed RUNS times.
watched() {
    _mode=$1 _runs=$2 _folder=$3
    shift 3
    case $_mode in
        threads) CASE_FLAGS="-march=x86-64 -g -fsanitize=thread -DBURIN_SLICE_UNITS=0" ;;
        delays) CASE_FLAGS=-DFAULT_DELAY=1 ;;
        guards) CASE_FLAGS="-g -fsanitize=address" && export GUARDED=1 ;;
    esac
    emit_and_compile "$_folder" "$@"
    unset GUARDED CASE_FLAGS
    "$_folder/cases" "$_folder" "$_runs" > "$_folder/results" 2> "$_folder/findings"
}

# none_found NAME FOLDER: all cases that were compiled pass, or differ as the interpreter does where $WORK/interpreted has lines of it
none_found() {
    [ -e "$WORK/interpreted" ] || : > "$WORK/interpreted"
    awk -F '\t' 'FILENAME == ARGV[1] { known[$1] = $3; next } $2 != "pass" && (known[$1] == "" || index($2, known[$1]) != 1) { print $1 ": " $2 }' \
        "$WORK/interpreted" "$2/results" > "$2/wrong"
    check "$1: $(wc -l < "$2/results") cases" test -s "$2/results" -a ! -s "$2/wrong"
    [ ! -s "$2/wrong" ] || { cat "$2/wrong" && head -40 "$2/findings"; } | sed 's/^/# /'
}
