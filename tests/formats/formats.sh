#!/bin/sh
# A LLaMA with a matrix in every block format (generate.py): its values against transformers' over the dequantized ones, its bits
# on every CPU, in the interpreter and on ARM; and the same for each file of ../shared/data/gguf in slow-formats.sh.
. tests/lib.sh
unsanitized "formats"
. tests/lib_formats.sh
for model in mixed nvfp4 q1_0 q2_0; do $BURIN inspect tests/formats/$model/model.gguf; done > "$WORK/tensors"
for format in $($BURIN formats | awk '$2 ~ /^[0-9]+$/ && $5 ~ /^GGUF/ { print $1 }'); do
    check "formats: a model has a matrix of $format" grep -q " $format\[" "$WORK/tensors"
done
numbers mixed tests/formats/mixed/model.gguf tests/formats/mixed
packed mixed tests/formats/mixed/model.gguf
same_everywhere mixed tests/formats/mixed/model.gguf --kv=q8_0
numbers "NVFP4 with factors" tests/formats/nvfp4/model.gguf tests/formats/nvfp4
for model in q1_0 q2_0; do numbers $model tests/formats/$model/model.gguf tests/formats/$model; done
numbers "transposed matrices" tests/formats/gpt2/model.gguf tests/formats/gpt2

# Parts: the model in two files is the model in one.
split=$SHARED/data/gguf/split_q4_0
if [ -d "$split" ]; then numbers "in two files" "$split" "$split"; else skip "formats: in two files" "$split is missing"; fi
