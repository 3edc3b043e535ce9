# The numeric contract as a table: `. tests/bits.sh` after lib.sh. One hash of all results over
# every CPU, number of threads and chunk. $asked has the program's arguments (as words), or $tokens
# the tokens to read. Weights in blocks are also tested with each level of integer instructions.
# CPUs missing here are emulated (x86).
threads="1 2 3"
chunks="1 7 64 128" # or "all" of a network, which has none
asked=

# cell CPU THREADS CHUNK PROGRAM...: runs one cell, and adds a line to the list: hash, CPU asked for, CPU whose code ran.
# Status 1: this machine does not have that CPU.
cell() {
    _cpu=$1 _threads=$2 _chunk=$3
    shift 3
    [ "$_chunk" = all ] || set -- "$@" --chunk "$_chunk"
    # shellcheck disable=SC2086 # words
    if ! "$@" --cpu "$_cpu" -t "$_threads" -v ${asked:---tokens $tokens -n 0 --logits-hash} > "$WORK/hash" 2> "$WORK/said"; then
        grep -q 'does not have it' "$WORK/said" && missing="$missing $_cpu" && return 1
        sed 's/^/# /' "$WORK/said"
    fi
    ran=$(sed -n 's/.*; cpu \([^,]*\),.*/\1/p' "$WORK/said")
    echo "$(cat "$WORK/hash") $_cpu ${ran:-nothing} threads $_threads chunk $_chunk" >> "$WORK/cells"
}

# cells CPUS PROGRAM...: all numbers of threads and chunks
cells() {
    _cpus=$1
    shift
    for _c in $_cpus; do
        for _t in $threads; do
            for _k in $chunks; do cell "$_c" "$_t" "$_k" "$@" || break 2; done
        done
    done
}

hashes() { cut -d ' ' -f 1 "$WORK/cells" | sort -u | wc -l; }

# judge NAME CPUS: all cells of all CPUs that are here ran the code they were asked for, and gave one hash.
judge() {
    _wanted=$(($(echo $threads | wc -w) * $(echo $chunks | wc -w) * ($(echo "$2" | wc -w) - $(echo $missing | wc -w))))
    _n=$(wc -l < "$WORK/cells")
    _text="same bits: $1: $_n cells on $(cut -d ' ' -f 3 "$WORK/cells" | sort -u | tr '\n' ' ')give $(head -n 1 "$WORK/cells" | cut -c 1-16)"
    if [ "$(hashes)" = 1 ] && [ "$_n" = $_wanted ] && awk '$2 != $3 || length($1) != 16 { exit 1 }' "$WORK/cells"; then ok "$_text"; else
        not_ok "$_text"
        cut -d ' ' -f 1-3 "$WORK/cells" | sort | uniq -c | sed 's/^/# /'
    fi
    for _c in $missing; do skip "same bits: $1 on $_c" "this machine's CPU has none"; done
}

# matrix NAME MODEL OPTIONS...: builds for this machine and for ARM, runs all cells
matrix() {
    name=$1 missing= cpus_here="x86-64 x86-64-v3 x86-64-v4" cpus_arm=armv8-a
    case $name in
        *q8_0 | *q4_k_m)
            cpus_here="x86-64 x86-64-v3 x86-64-v3+vnni x86-64-v4 x86-64-v4+vnni x86-64-v4+amx"
            cpus_arm=armv8-a,armv8.2-a+dotprod,armv8.2-a+i8mm
            ;;
    esac
    shift
    : > "$WORK/cells"
    check "same bits: $name builds" emulated $BURIN build "$@" --chunk 128 --mcpu="$(echo $cpus_here | tr ' ' ,)" -o "$WORK/here"
    check "same bits: $name builds for ARM" $BURIN build "$@" --chunk 128 --target=aarch64-linux-gnu \
        --mcpu=$cpus_arm -o "$WORK/arm"
    cells "$cpus_here" "$WORK/here"
    cells armv8-a qemu-aarch64-static -cpu cortex-a72 "$WORK/arm"
    if [ $cpus_arm != armv8-a ]; then
        cells armv8.2-a+dotprod qemu-aarch64-static -cpu cortex-a76 "$WORK/arm"
        cells armv8.2-a+i8mm qemu-aarch64-static -cpu max "$WORK/arm"
    fi
    judge "$name" "$(echo "$cpus_here $cpus_arm" | tr ',' ' ')"
}
