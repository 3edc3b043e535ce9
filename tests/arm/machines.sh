#!/bin/sh
# A decoder, an encoder-decoder, an encoder and an ONNX network on 64-bit ARM, 32-bit ARM and RISC-V, on each level that code is built
# for, under qemu: the text and the bits of here. boards.sh has the same models on microcontrollers, slow-machines.sh has more models.
. tests/lib.sh
unsanitized "machines"
. tests/lib_machines.sh
data=$SHARED/data/stories260k bert=$SHARED/data/families/bert
text_says() { "$@" -n 256 --temp 0 -t 2 --logits-hash < /dev/null; }
text_briefly() { "$@" -n 48 --temp 0 -t 2 --logits-hash < /dev/null; } # slow-machines.sh: all 256 tokens on each level
numbers_says() { "$@" einhundertacht --logits-hash -t 2; }
bert_says() { "$@" --input "$bert/input_ids.npy" --hash -t 2; }
digits_says() { "$@" --input examples/digits/images.npy --hash -t 2; }
values examples/digits/images.npy | head -c 4096 | npy '<f4' 16,1,8,8 > "$WORK/images.npy"
digits_briefly() { "$@" --input "$WORK/images.npy" --hash -t 2; } # slow-machines.sh: all 64 images on each level
every=$machines machines=aarch64-linux-gnu # slow-machines.sh: every model on every machine
if [ -e "$data/stories260K.bin" ]; then
    on_machines text "$data/stories260K.bin" --tokenizer "$data/tok512.bin"
    head -n -1 "$WORK/expected" > "$WORK/text"
    same "machines: the text of llama2.c" "$data/expected_greedy_256.txt" "$WORK/text"
else
    skip "machines: stories260K" "$data is missing"
fi
one_level=y machines=$every
on_machines numbers examples/numbers
machines=aarch64-linux-gnu
if [ -e "$bert" ]; then on_machines bert "$bert"; else skip "machines: bert" "$bert is missing"; fi
one_level= machines="aarch64-linux-gnu riscv64-linux-gnu"
on_machines digits examples/digits/digits.onnx
for triple in $machines; do
    has_machine "$triple" || continue
    says "machines: burin run --target=$triple" 0 "$(tail -n 1 "$WORK/brief")" \
        "$BURIN" run examples/digits/digits.onnx --target="$triple" -- --input "$WORK/images.npy" --hash
done
if has_machine arm-linux-gnueabihf; then
    "$BURIN" build examples/digits/digits.onnx --target=arm-linux-gnueabihf -o "$WORK/digits" > "$WORK/log" 2>&1
    says "machines: a CPU without FMA" 1 "this machine's CPU is too old: the program needs VFPv4" qemu-arm-static -cpu cortex-a8 "$WORK/digits" --random
fi
