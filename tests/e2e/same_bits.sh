#!/bin/sh
# The numeric contract: one hash of all logits over every CPU, number of threads and chunk, for each format of the weights.
. tests/lib.sh
cpus_here="x86-64 x86-64-v3 x86-64-v4 x86-64-v4+vnni"
arm_cpus="armv8-a armv8.2-a+dotprod"
data=$SHARED/data/stories260k

# cell WORDS...: runs one cell, checks that the code of $cpu ran, adds its hash to the list.
cell() {
    if ! "$@" --cpu $cpu -v -n 0 --logits-hash > "$WORK/hash" 2> "$WORK/said"; then
        if grep -q 'does not have it' "$WORK/said"; then
            missing="$missing $cpu"
            return 1
        fi
        sed 's/^/# /' "$WORK/said"
    fi
    ran=$(sed -n 's/.*; cpu \([^,]*\),.*/\1/p' "$WORK/said")
    echo "$(cat "$WORK/hash") cpu $cpu ran ${ran:-nothing}: ${*#"$WORK"/}" >> "$WORK/cells"
    [ "$ran" = $cpu ]
}

cells_of() {
    for cpu in $1; do
        for threads in 1 2 3; do
            for chunk in 1 7 64 128; do cell $2 --tokens "$tokens" -t $threads --chunk $chunk || break 2; done
        done
    done
}

# matrix NAME MODEL OPTIONS...
matrix() {
    name=$1 missing=
    shift
    : > "$WORK/cells"
    check "same bits: $name builds" $BURIN build "$@" --chunk 128 --mcpu="$(echo $cpus_here | tr ' ' ,)" -o "$WORK/here"
    check "same bits: $name builds for ARM" $BURIN build "$@" --chunk 128 --target=aarch64-linux-gnu \
        --mcpu="$(echo $arm_cpus | tr ' ' ,)" -o "$WORK/arm"
    cells_of "$cpus_here" "$WORK/here"
    cells_of armv8-a "qemu-aarch64-static -cpu cortex-a72 $WORK/arm"
    cells_of armv8.2-a+dotprod "qemu-aarch64-static -cpu cortex-a76 $WORK/arm"
    hashes=$(cut -d ' ' -f 1 "$WORK/cells" | sort -u | wc -l) cells=$(wc -l < "$WORK/cells")
    wrong=$(grep -vc 'cpu \([^ ]*\) ran \1:' "$WORK/cells")
    text="same bits: $name: $cells cells on $(cut -d ' ' -f 3 "$WORK/cells" | sort -u | tr '\n' ' ')give $(head -n 1 "$WORK/cells" | cut -c 1-16)"
    if [ "$hashes" = 1 ] && [ "$wrong" = 0 ] && [ "$cells" -ge 48 ]; then ok "$text"; else
        not_ok "$text"
        cut -d ' ' -f 1,3 "$WORK/cells" | sort | uniq -c | sed 's/^/# /'
    fi
    for cpu in $missing; do skip "same bits: $name on $cpu" "this machine's CPU has none"; done
}

tokens=$(seq -s , 1 70)
for format in f32 f16 bf16 q8_0; do
    [ -e $data/stories260K.bin ] && matrix "stories260K $format" $data/stories260K.bin --tokenizer $data/tok512.bin --quant $format
done
tokens=$(seq -s , 1000 1029)
for format in f32 f16 bf16 q8_0; do matrix "austen $format" examples/austen --quant $format; done
