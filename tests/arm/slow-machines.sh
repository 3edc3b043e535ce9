#!/bin/sh
# 256 tokens of a decoder, an encoder-decoder, an encoder and 64 images on every level; a decoder in bf16, int8 and in blocks on 64-bit ARM, 32-bit ARM and RISC-V under qemu.
. tests/lib.sh
unsanitized "machines"
. tests/lib_machines.sh
austen_says() { "$@" --tokens 0,1114,306 -n 12 --temp 0 --logits-hash -t 2; }
numbers_says() { "$@" einhundertacht --logits-hash -t 2; }
bert_says() { "$@" --input "$SHARED/data/families/bert/input_ids.npy" --hash -t 2; }
digits_says() { "$@" --input examples/digits/images.npy --hash -t 2; }
on_machines digits examples/digits/digits.onnx
need "machines" "$SHARED/data/families"
stories=$SHARED/data/stories260k
text_says() { "$@" -n 256 --temp 0 -t 2 --logits-hash < /dev/null; }
[ ! -e "$stories" ] || on_machines text "$stories/stories260K.bin" --tokenizer "$stories/tok512.bin"
on_machines numbers examples/numbers
on_machines bert "$SHARED/data/families/bert"
on_machines austen examples/austen
on_machines austen examples/austen --quant=q8_0
for format in q4_k_m q3_k_m iq4_xs mxfp4; do
    blocks_says() { "$@" --tokens 1,2,3,4,5,6,7 -n 0 --logits-hash -t 2; }
    on_machines blocks "$SHARED/data/gguf/$format/model.gguf"
done
