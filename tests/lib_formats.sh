# Words of the scripts that test block formats: `. tests/lib_formats.sh` after lib.sh.
ids_of() { tail -c +129 "$1/input_ids.npy" | od -An -v -w8 -t d8 | xargs | tr ' ' ,; }

# numbers NAME MODEL FOLDER [floats]: logits within rounding of the reference where rows stay floats; with rows of int8 as far off as
# 8 bits explain, and not the same. `floats`: the format takes no other rows.
numbers() {
    for _rows in f32 ${4:-q8}; do
        [ "$_rows" = floats ] && continue
        check "formats: $1, rows $_rows: builds" $BURIN build "$2" --activations=$_rows --mcpu=native -o "$WORK/$_rows"
        "$WORK/$_rows" --tokens "$(ids_of "$3")" -n 0 --logits "$WORK/$_rows.npy"
    done
    check "formats: $1, rows of floats: logits" "$BUILD/tools/npy_near" "$WORK/f32.npy" "$3/logits.npy" 2e-5 largest
    [ -z "${4:-}" ] || return 0
    check "formats: $1, rows of int8: logits" "$BUILD/tools/npy_near" "$WORK/q8.npy" "$3/logits.npy" 0.033 largest
    check "formats: $1: rows of int8 are rounded" sh -c "! cmp -s '$WORK/f32.npy' '$WORK/q8.npy'"
}

# folder NAME PATH TENSOR [MATRIX]: a quantized folder in the interpreter
folder() {
    check "folders: $1: values of $3" "$BUILD/tools/weight_values" "$2" "$3" "$2/values.npy" ${4:+"$4"}
    rm -f "$WORK/logits.npy"
    $BURIN run "$2" --interpret --activations=f32 --tokens "$(ids_of "$2")" -n 0 --logits "$WORK/logits.npy" > "$WORK/out" 2>&1
    check "folders: $1: logits" "$BUILD/tools/npy_near" "$WORK/logits.npy" "$2/logits.npy" 2e-5 largest
}

# same_everywhere NAME MODEL FOLDER: one hash over CPUs, threads and chunks, ARM and the interpreter
same_everywhere() {
    _ids=$(ids_of "$3")
    check "formats: $1 builds" $BURIN build "$2" --mcpu=x86-64,x86-64-v3,x86-64-v3+vnni,x86-64-v4,x86-64-v4+vnni,x86-64-v4+amx -o "$WORK/all"
    $BURIN run "$2" --interpret --tokens "$_ids" -n 0 --logits-hash > "$WORK/hash" 2> /dev/null
    one_hash "formats: $1" "$(cat "$WORK/hash")" "1:64 2:1 3:7" "$WORK/all" --tokens "$_ids" -n 0 --logits-hash
    check "formats: $1 builds for ARM" $BURIN build "$2" --target=aarch64-linux-gnu --mcpu=armv8-a,armv8.2-a+dotprod,armv8.2-a+i8mm -o "$WORK/arm"
    for _cpu in cortex-a72 cortex-a76 max; do
        qemu-aarch64-static -cpu $_cpu "$WORK/arm" --tokens "$_ids" -n 0 -t 2 --logits-hash > "$WORK/$_cpu" 2>&1
        same "formats: $1 on $_cpu" "$WORK/hash" "$WORK/$_cpu"
    done
}
