# Building and running emitted programs: for scripts that have read tests/lib.sh.

# A decoder has slots; any other graph is a network.
is_decoder() { grep -q 'role="slots"' "tests/golden/emit/$1.ir"; }
emitted_main() { if is_decoder "$1"; then echo tests/tools/run_emitted.c; else echo tests/tools/run_network.c; fi; }

# emitted_build FOLDER NAME COMPILER CPU:SYMBOL:FLAGS...: FOLDER/run carries the code for these CPUs
emitted_build() {
    _dir=$1 _model=$2 _cc=$3 _cpus=
    shift 3
    mkdir -p "$_dir"
    for _cpu; do _cpus=$_cpus${_cpus:+,}${_cpu%%:*}; done
    CPUS=$_cpus "$BUILD/tools/emit_ir" "tests/golden/emit/$_model.ir" "$_dir" "$_model" || return 1
    printf '.section .rodata\n.global model_weights\n.balign 64\nmodel_weights:\n.incbin "%s"\n' "$_dir/$_model.weights" > "$_dir/weights.S"
    printf '.section .note.GNU-stack,"",%%progbits\n' >> "$_dir/weights.S"
    _flags="-std=gnu17 -O1 -Wall -Wextra -D_GNU_SOURCE -ffp-contract=off -fno-math-errno -Iruntime -I$_dir"
    _objects=
    for _cpu; do
        _symbol=${_cpu#*:} _march=${_cpu##*:}
        _symbol=${_symbol%%:*}
        # shellcheck disable=SC2086 # words
        $_cc $_flags $_march -DBURIN_CPU="$_symbol" -c "$_dir/$_model.c" -o "$_dir/$_symbol.o" || return 1
        _objects="$_objects $_dir/$_symbol.o"
    done
    # shellcheck disable=SC2086
    $_cc $_flags "$(emitted_main "$_model")" "$_dir/${_model}_model.c" $(emitted_engine "$_cc") "$_dir/weights.S" $_objects -lm -lpthread -o "$_dir/run"
}

# emitted_engine COMPILER: the objects of the runtime, compiled once
emitted_engine() {
    for _file in element forward integrity network threads; do
        _object=$WORK/$_file-$(echo "$1" | cksum | cut -d ' ' -f 1).o
        # shellcheck disable=SC2086 # words
        [ -f "$_object" ] || $1 -std=gnu17 -O1 -Wall -Wextra -D_GNU_SOURCE -ffp-contract=off -Iruntime -c "runtime/engine/$_file.c" -o "$_object" || return 1
        echo "$_object"
    done
}

# emitted_cell NAME EXPECTED-HASH COMMAND...: the program gives this hash, alone and in a batch
emitted_cell() {
    _cell=$1 _expected=$2
    shift 2
    _got=$("$@" 2>&1)
    if [ "$_got" = "$_expected" ]; then ok "$_cell"; else not_ok "$_cell: $_got, the interpreter gives $_expected"; fi
}
