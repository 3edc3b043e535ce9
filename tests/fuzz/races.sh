#!/bin/sh
# Races and buffers that are too small (races.py): no finding in the programs of lib_races.sh, the same bits in every run, and a
# finding where the fault is put back into the emitted text. slow-races.sh takes all cases, the ONNX suite, exports and random graphs.
. tests/lib.sh
. tests/lib_conformance.sh
. tests/lib_races.sh
need "races" "$BUILD/tools/conformance"
unsanitized "races"
case $(uname -m) in x86_64) ;; *) skip "races" "the cases are compiled for x86-64" && exit 0 ;; esac
tar xJf tests/fuzz/races.tar.xz -C "$WORK"

# A thread without work writes early, as it did once; blocks of int8 rows are taken to be a byte shorter.
cp -R "$WORK/race_size_threads" "$WORK/early_write"
cp -R "$WORK/int8_rows_33" "$WORK/small_buffers"
early='s/if (range.first == range.last) return;/if (range.first > 0) return;/'
small='s/ \* 44\([,) ]\)/ * 43\1/g'

# emitted FOLDER CASE...: as `conformance --emit`, with the two faults
emitted() {
    _out=$1
    for _name; do shift; [ "$_name" = "$_out" ] || set -- "$@" "$WORK/$_name"; done
    "$BUILD/tools/conformance" --emit "$_out" "$@"
    for _fault in early_write:"$early" small_buffers:"$small"; do
        [ -e "$_out/${_fault%%:*}.c" ] || continue
        cp "$_out/${_fault%%:*}.c" "$_out/sound"
        sed -i "${_fault#*:}" "$_out/${_fault%%:*}.c"
        cmp -s "$_out/sound" "$_out/${_fault%%:*}.c" && echo "# no fault in ${_fault%%:*}" >&2
    done
}

# found NAME FOLDER CASE: the case is no longer right; its line goes
found() {
    check "$1" grep -q "^$3	[^p]" "$2/results"
    sed -i "/^$3	/d" "$2/results"
}

watched threads 3 "$WORK/threads" emitted "$WORK/threads" race_size_threads early_write int8_rows_40 empty_rows_run_scores
found "races: ThreadSanitizer finds an early write" "$WORK/threads" early_write
none_found "races: under ThreadSanitizer" "$WORK/threads"
watched delays 100 "$WORK/delays" emitted "$WORK/delays" race_size_threads early_write esm2_token_dropout
found "races: delays show an early write" "$WORK/delays" early_write
none_found "races: one hash in 100 runs with delays" "$WORK/delays"
watched guards 3 "$WORK/guards" emitted "$WORK/guards" zero_width_rows int8_rows_33 int8_rows_7 small_buffers packed_rest empty_columns_run_sum1
found "races: bands show buffers that are too small" "$WORK/guards" small_buffers
none_found "races: between bands" "$WORK/guards"
