#!/bin/sh
# All cases of races.py, the ONNX suite, exports and COUNT random graphs (200) as programs of tensors, in the three modes of
# lib_races.sh, with 100 runs for one hash where threads are delayed; decoders of tests/golden/emit and exports as programs of texts.
. tests/lib.sh
. tests/lib_conformance.sh
. tests/lib_races.sh
. tests/lib_emit.sh
unsanitized "races"
unpack_cases "races"
tar xJf tests/fuzz/races.tar.xz -C "$WORK"
count=${COUNT:-200}

# every_mode NAME COMMAND FIRST...: a program of the cases in each mode
every_mode() {
    _cases=$1
    shift
    for _each in threads:3 delays:100 guards:3; do
        watched "${_each%:*}" "${_each#*:}" "$WORK/mode" "$@"
        none_found "races: $_cases: ${_each%:*}" "$WORK/mode"
        rm -rf "$WORK/mode"
    done
}
emitted() { "$BUILD/tools/conformance" --emit "$WORK/mode" "$@"; }
graphs() { "$BUILD/tools/random_graphs" "$WORK/mode" "$1" "$2"; }

for export in "$SHARED"/data/onnx/exports/*/; do ln -s "$(cd "$export" && pwd)" "$WORK/export_$(basename "$export" | tr - _)"; done
{ ls -d "$WORK"/*/ | sed 's,/$,,'; all_cases; } | xargs -n 200 echo > "$WORK/batches"
while read -r batch; do
    # shellcheck disable=SC2086 # folders without spaces
    "$BUILD/tools/conformance" $batch > "$WORK/interpreted"
    # shellcheck disable=SC2086
    every_mode "cases from $(basename "${batch%% *}")" emitted $batch
done < "$WORK/batches"
at=1
while [ $at -le "$count" ]; do
    every_mode "graphs from $at" graphs $at 100
    at=$((at + 100))
done

# same_hash NAME COMMAND...: one hash in 100 runs
same_hash() {
    _name=$1 _run=0
    shift
    while [ $((_run += 1)) -le 100 ]; do "$@"; done > "$WORK/hashes" 2>&1
    check "races: $_name: one hash in 100 runs with delays" test "$(sort -u "$WORK/hashes" | wc -l)" -eq 1
}
for ir in tests/golden/emit/*.ir; do
    name=$(basename "$ir" .ir)
    is_decoder "$name" || continue
    check "races: $name builds" emitted_build "$WORK/$name" "$name" "clang-19 -DFAULT_DELAY=1" x86-64-v3:x86_64_v3:-march=x86-64-v3
    for chunk in 1 7; do same_hash "$name in chunks of $chunk" "$WORK/$name/run" x86-64-v3 3 $chunk; done
    rm -rf "${WORK:?}/$name"
done
home_with_fault FAULT_DELAY 1
for export in bloom-optimum-nocache gpt2-optimum-past llama-torch-dynamo; do
    check "races: $export builds" env BURIN_HOME="$WORK/home" "$BURIN" build "$SHARED/data/onnx/exports/$export/model.onnx" -o "$WORK/text"
    same_hash "$export" "$WORK/text" --tokens 1,2,3,4,5,6,7 -n 0 -t 3 --logits-hash
done
