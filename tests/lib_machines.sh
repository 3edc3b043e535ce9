# Programs for other machines, run by qemu: for scripts that have read tests/lib.sh.
machines="arm-linux-gnueabihf riscv64-linux-gnu"

has_machine() { command -v "$1-gcc" > /dev/null && command -v "$(emulator_of "$1")" > /dev/null; }
emulator_of() { echo "qemu-${1%%-*}-static"; }
cpus_of() {
    case $1 in
        arm-*) echo cortex-a7 ;;
        riscv64-*) echo rv64 rv64,v=true,vext_spec=v1.0,vlen=128 rv64,v=true,vext_spec=v1.0,vlen=256 ;;
    esac
}

# on_machines NAME MODEL...: NAME_says of the program is what it says here
on_machines() {
    _model_name=$1
    shift
    check "machines: $_model_name builds for here" "$BURIN" build "$@" --mcpu=native -o "$WORK/here"
    "${_model_name}_says" "$WORK/here" > "$WORK/expected" 2>&1
    for _triple in $machines; do
        has_machine "$_triple" || { skip "machines: $_model_name on $_triple" "no compiler or qemu for it"; continue; }
        check "machines: $_model_name builds for $_triple" "$BURIN" build "$@" --target="$_triple" -o "$WORK/there"
        for _cpu in $(cpus_of "$_triple"); do
            "${_model_name}_says" "$(emulator_of "$_triple")" -cpu "$_cpu" -0 here "$WORK/there" > "$WORK/got" 2>&1
            same "machines: $_model_name on $_cpu" "$WORK/expected" "$WORK/got"
        done
    done
}
