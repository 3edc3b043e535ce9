#!/bin/sh
# One hash over every CPU level, 1, 2 and 3 threads, chunks of 1, 7 and 64, alone and in a batch of
# 4, for each format that --quant makes, each with one of the caches' formats in turn, and for the
# model that has a matrix in every format of GGUF with each of them. Missing x86 CPUs are emulated.
# With a wrong sum of a row's integers the hashes differ.
. tests/lib.sh
unsanitized "bits"
. tests/lib_formats.sh
all_cpus
model=examples/austen turn=0
for format in ${FORMATS:-f32 f16 bf16 $($BURIN formats | awk '$2 == 32 && /--quant/ { print $1 }')}; do
    turn=$((turn % 3 + 1))
    same_everywhere "$format" $model --quant "$format" --kv="$(echo f32 f16 q8_0 | cut -d ' ' -f $turn)"
done
for kv in ${KV-f32 f16 q8_0}; do same_everywhere "mixed, cache $kv" tests/formats/mixed/model.gguf --kv=$kv; done

home_with_fault FAULT_ROW_SUM 1
: > "$WORK/cells"
BURIN_HOME=$WORK/home bits_of "with a fault" x86_64-linux-gnu "" x86-64,x86-64-v3 $model --quant q8_0
check "formats: the mutation is seen: $(cut -d ' ' -f 1 "$WORK/cells" | sort -u | wc -l) hashes" [ "$(cut -d ' ' -f 1 "$WORK/cells" | sort -u | wc -l)" = 2 ]
