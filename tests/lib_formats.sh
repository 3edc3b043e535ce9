# Words of the scripts that test block formats: `. tests/lib_formats.sh` after lib.sh.
ids_of() { tail -c +129 "$1/input_ids.npy" | od -An -v -w8 -t d8 | xargs | tr ' ' ,; }

# numbers NAME MODEL FOLDER [floats]: logits of the program within rounding of the reference if rows
# stay floats; with int8 rows, by the interpreter, within the error of 8 bits ($int8_bound of
# npy_near), and not equal. `floats`: the format takes only float rows.
int8_bound="0.033 largest"
numbers() {
    rm -f "$WORK/f32.npy" "$WORK/q8.npy"
    check "formats: $1, rows f32: builds" $BURIN build "$2" --activations=f32 --mcpu=native -o "$WORK/f32"
    "$WORK/f32" --tokens "$(ids_of "$3")" -n 0 --logits "$WORK/f32.npy"
    check "formats: $1, rows of floats: logits" "$BUILD/tools/npy_near" "$WORK/f32.npy" "$3/logits.npy" 2e-5 largest
    [ -z "${4:-}" ] || return 0
    $BURIN run "$2" --interpret --activations=q8 --tokens "$(ids_of "$3")" -n 0 --logits "$WORK/q8.npy" > "$WORK/out" 2>&1
    # shellcheck disable=SC2086 # words
    check "formats: $1, rows of int8: logits" "$BUILD/tools/npy_near" "$WORK/q8.npy" "$3/logits.npy" $int8_bound
    check "formats: $1: rows of int8 are rounded" sh -c "! cmp -s '$WORK/f32.npy' '$WORK/q8.npy'"
}

# packed NAME FILE: the program of `numbers` has the file's bits: its weights are at most 1.03 of the file and the tables of
# positions (512 of 64 floats here), and no panel is a copy in memory
packed() {
    _bytes=$("$WORK/f32" --info | sed -n 's/.* weights \([0-9]*\) bytes, arena.*/\1/p') _file=$(wc -c < "$2")
    check "formats: $1: $_bytes bytes of weights for a file of $_file" test "$_bytes" -le $((_file * 103 / 100 + 131072)) -a "$_bytes" -gt $((_file / 2))
    check "formats: $1: code and all else take 2 MB" test "$(wc -c < "$WORK/f32")" -le $((_bytes + 2097152))
    as_promised "formats: $1: memory" "$WORK/f32" --tokens 1,2,3 --ignore-eos -n 500
}

# folder NAME PATH TENSOR [MATRIX]: a quantized folder in the interpreter
folder() {
    check "folders: $1: values of $3" "$BUILD/tools/weight_values" "$2" "$3" "$2/values.npy" ${4:+"$4"}
    rm -f "$WORK/logits.npy"
    $BURIN run "$2" --interpret --activations=f32 --tokens "$(ids_of "$2")" -n 0 --logits "$WORK/logits.npy" > "$WORK/out" 2>&1
    check "folders: $1: logits" "$BUILD/tools/npy_near" "$WORK/logits.npy" "$2/logits.npy" 2e-5 largest
}

# CPUs whose integer code differs most (the interpreter is the plain one), or all CPUs. Missing ones
# are emulated.
few_cpus() {
    ways=few cells_each=6
    cpus_x86=x86-64-v3,x86-64-v4+vnni
    grep -qw avx2 /proc/cpuinfo || cpus_x86=x86-64
    cpus_arm=armv8.2-a+i8mm
}
all_cpus() {
    ways=all cells_each=18
    cpus_x86=x86-64,x86-64-v3,x86-64-v3+vnni,x86-64-v4,x86-64-v4+vnni,x86-64-v4+amx cpus_arm=armv8-a,armv8.2-a+dotprod,armv8.2-a+i8mm
}
few_cpus

# bits_of NAME TRIPLE RUNNER CPUS MODEL OPTIONS...: a library of it and tests/formats/bits_host.c, which adds its cells to $WORK/cells
bits_of() {
    _bits=$1 _triple=$2 _runner=$3 _cpus=$4
    shift 4
    rm -f "$WORK/story.a"
    check "formats: $_bits builds for $_triple" emulated $BURIN build "$@" --target="$_triple" --mcpu="$_cpus" -o "$WORK/story.a"
    check "formats: $_bits: a host for $_triple" clang-19 --target="$_triple" -static -O1 -Wall -Wextra -Werror -DTOKENS=$bits_count -Iruntime -I"$WORK" \
        tests/formats/bits_host.c "$WORK/story.a" -lm -lpthread -o "$WORK/bits"
    # shellcheck disable=SC2086,SC2046 # words
    $_runner "$WORK/bits" $ways $(echo "$_cpus" | tr , ' ') >> "$WORK/cells" 2>&1 || echo "nothing $_triple: status $?" >> "$WORK/cells"
}

# same_everywhere NAME MODEL OPTIONS...: one hash of the logits over CPUs x threads 1, 2, 3 x chunks 1, 7, 64 x alone, in a batch of 4
same_everywhere() {
    _of=$1
    shift
    : > "$WORK/cells"
    bits_of "$_of" x86_64-linux-gnu "" $cpus_x86 "$@"
    if command -v qemu-aarch64-static > /dev/null && command -v aarch64-linux-gnu-gcc > /dev/null; then
        bits_of "$_of" aarch64-linux-gnu "qemu-aarch64-static -cpu max" $cpus_arm "$@"
    else skip "formats: $_of on ARM" "no qemu-aarch64-static or aarch64-linux-gnu-gcc"; fi
    $BURIN run "$@" --interpret --tokens "$(bits_tokens)" -n 0 --logits-hash > "$WORK/hash" 2> /dev/null
    judge_cells "$_of" "$(cat "$WORK/hash")"
}

# The tokens of bits_host.c: enough that a chunk of 64 is not the last
bits_count=70
bits_tokens() { seq 0 $((bits_count - 1)) | while read -r _i; do echo $(((_i * 37 + 11) % 61)); done | xargs | tr ' ' ,; }

# judge_cells NAME HASH: all cells have it, and each CPU that is here has all cells
judge_cells() {
    _n=$(grep -c "^$2 " "$WORK/cells") _cpus=$(cut -d ' ' -f 2 "$WORK/cells" | sort -u | xargs)
    if [ -n "$2" ] && [ "$_n" = $((cells_each * $(echo "$_cpus" | wc -w))) ] && [ "$_n" = "$(grep -vc '^missing ' "$WORK/cells")" ] && [ "$_n" -ge $((2 * cells_each)) ]; then
        ok "formats: $1: $_n cells give the interpreter's hash: $_cpus"
    else
        not_ok "formats: $1: the same bits, the interpreter gives $2"
        cut -d ' ' -f 1-2 "$WORK/cells" | sort | uniq -c | sed 's/^/# /'
    fi
}
