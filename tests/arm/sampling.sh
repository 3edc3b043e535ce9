#!/bin/sh
# Sampled texts are the same on x86-64 and aarch64, for any number of threads and any of the samplers.
. tests/lib.sh
unsanitized "arm: sampling"
need "arm: sampling" examples/austen/model.safetensors
command -v qemu-aarch64-static > /dev/null || { skip "arm: sampling" "no qemu-aarch64-static"; exit 0; }
check "arm: builds austen for this machine" "$BURIN" build examples/austen --mcpu=native -o "$WORK/here"
check "arm: builds austen for aarch64" "$BURIN" build examples/austen --target=aarch64-linux-gnu -o "$WORK/arm"
[ -x "$WORK/here" ] && [ -x "$WORK/arm" ] || exit 1

while read -r cpu threads options; do
    # shellcheck disable=SC2086 # a list of options
    "$WORK/here" "It was" -n 24 $options -t 1 > "$WORK/expected" 2>&1 < /dev/null
    # shellcheck disable=SC2086
    qemu-aarch64-static -cpu "$cpu" "$WORK/arm" "It was" -n 24 $options -t "$threads" > "$WORK/got" 2>&1 < /dev/null
    same "arm: $options, $threads threads on $cpu" "$WORK/expected" "$WORK/got"
done << 'CASES'
cortex-a72 1 --seed 1
cortex-a72 2 --seed 2 --top-k 0
cortex-a76 3 --seed 3 --top-k 0 --min-p 0 --top-p 0.9 --temp 1.3
cortex-a72 7 --seed 4 --top-k 0 --min-p 0 --top-p 1 --temp 2 --repeat-penalty 1.2
cortex-a72 2 --seed 5 --top-k 0 --typical 0.7 --xtc-probability 0.5 --dynatemp-range 0.5 --dynatemp-exp 1.5
cortex-a76 3 --seed 6 --mirostat 2 --dry-multiplier 0.8 --presence-penalty 0.3 --frequency-penalty 0.2 -l 13-1.5
CASES
