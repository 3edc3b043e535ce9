# Programs for other machines, run by qemu: for scripts that have read tests/lib.sh.
machines="aarch64-linux-gnu arm-linux-gnueabihf riscv64-linux-gnu"

has_machine() { command -v "$1-gcc" > /dev/null && command -v "$(emulator_of "$1")" > /dev/null; }
emulator_of() { echo "qemu-${1%%-*}-static"; }
# One for each level that code is built for; vectors of RISC-V in two lengths.
cpus_of() {
    case $1 in
        aarch64-*) echo cortex-a72 cortex-a76 max ;;
        arm-*) echo cortex-a7 ;;
        riscv64-*) echo rv64 rv64,v=true,vext_spec=v1.0,vlen=128 rv64,v=true,vext_spec=v1.0,vlen=256 ;;
    esac
}

# The level that most of the machine's CPUs have, and one of these.
level_of() {
    case $1 in
        aarch64-*) echo armv8-a cortex-a72 ;;
        arm-*) echo armv7-a+vfpv4 cortex-a7 ;;
        riscv64-*) echo rv64gcv rv64,v=true,vext_spec=v1.0,vlen=128 ;;
    esac
}

# on_machines NAME MODEL...: NAME_says of the program equals that of this machine; with one_level=y
# for one level alone. With NAME_briefly, levels other than that of level_of run only this.
one_level=
on_machines() {
    _model_name=$1
    shift
    check "machines: $_model_name builds for here" "$BURIN" build "$@" --mcpu=native -o "$WORK/here"
    "${_model_name}_says" "$WORK/here" > "$WORK/expected" 2>&1
    _briefly=$(command -v "${_model_name}_briefly")
    "${_briefly:-${_model_name}_says}" "$WORK/here" > "$WORK/brief" 2>&1
    for _triple in $machines; do
        has_machine "$_triple" || { skip "machines: $_model_name on $_triple" "no compiler or qemu for it"; continue; }
        _level=$(level_of "$_triple") _cpus=$(cpus_of "$_triple")
        [ -z "$one_level" ] || _cpus=${_level#* }
        check "machines: $_model_name builds for $_triple" "$BURIN" build "$@" --target="$_triple" ${one_level:+--mcpu="${_level% *}"} -o "$WORK/there"
        for _cpu in $_cpus; do
            _says=${_model_name}_says _same=expected
            [ -z "$_briefly" ] || [ "$_cpu" = "${_level#* }" ] || { _says=$_briefly _same=brief; }
            "$_says" "$(emulator_of "$_triple")" -cpu "$_cpu" -0 here "$WORK/there" > "$WORK/got" 2>&1
            same "machines: $_model_name on $_triple, $_cpu" "$WORK/$_same" "$WORK/got"
        done
    done
}

# On microcontrollers: BOARD.elf is there, and gives the hash on it and on those that run the same code.
has_boards() { command -v qemu-system-arm > /dev/null && command -v arm-none-eabi-gcc > /dev/null; }
run_board() { timeout 120 qemu-system-arm -M "$1" -nographic -semihosting-config enable=on,target=native -kernel "$2"; }

# on_board BOARD IMAGE NAME HASH: also prints the stack it used; its output is in $WORK/says
on_board() {
    run_board "$1" "$2" > "$WORK/says" 2>&1
    check "boards: $3 on $1: the hash is $4" grep -qx "hash $4" "$WORK/says"
    _stack=$(sed -n 's/.*stack \([0-9]*\) bytes.*/\1/p' "$WORK/says")
    check "boards: $3 on $1: a stack of 8 KB holds it: ${_stack:-none}" [ "${_stack:-8192}" -lt 8192 ]
}

# text_image BOARD DIR MODEL OPTIONS PROMPT TOKENS
text_image() {
    check "boards: an image of $3 for $1" make -s -C examples/boards BURIN="$PWD/$BURIN" OUT="$2" "$2/text-$1.elf" \
        MODEL="$(realpath "$3")" OPTIONS="$4" PROMPT="$5" TOKENS="$6"
}

# sentence_image BOARD DIR MODEL TOKENS.npy
sentence_image() {
    mkdir -p "$2"
    values "$4" | od -An -v -t d8 | tr -s ' \n' ',' | sed 's/^,//' > "$2/tokens.inc"
    check "boards: an image of $3 for $1" make -s -f "$PWD/tests/arm/sentence_board.mk" -C examples/boards BURIN="$PWD/$BURIN" OUT="$2" "$2/sentence-$1.elf" \
        MODEL="$(realpath "$3")" HOST="$PWD/tests/arm/sentence_board.c"
}

# needs_only NM LIBRARY: it needs only the header's names and the compiler's own (__)
needs_only() {
    _model=$(basename "${2%.*}")
    sed -n '/^\/\/ It links with/,/^$/p' "${2%.*}.h" | sed -n 's/^\/\/     //p' | tr -s ' ' '\n' | sed 's/\*/.*/' > "$WORK/named"
    case $2 in *.so) _dynamic=-D ;; *) _dynamic= ;; esac
    "$1" $_dynamic -u "$2" | sed -n 's/^ *U \([^@]*\).*/\1/p' | sort -u > "$WORK/needed"
    grep -vE "^(__|${_model}_)" "$WORK/needed" | grep -vxEf "$WORK/named" | tr '\n' ' ' > "$WORK/more"
    check "$(basename "$(dirname "$2")")/${2##*/} needs what its header says, and no more: $(cat "$WORK/more")" \
        [ -s "$WORK/named" -a -s "$WORK/needed" -a ! -s "$WORK/more" ]
}
