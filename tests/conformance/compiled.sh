#!/bin/sh
# Every third of the cases that Transformers and the networks around them need, as compiled C (slow-compiled.sh runs all cases).
. tests/lib.sh
. tests/lib_conformance.sh
unpack_cases "conformance, compiled"
folder=$BUILD/conformance/quick
chosen() {
    for _pattern in 'attention_[34]d*' 'rotary_embedding*' 'rms_normalization_[34]d*' 'layer_normalization_[234]d_axis[123]*' \
        'softmax_*' 'gelu_*' 'swish' 'matmul_*' 'gemm_*' 'basic_conv*' 'conv_with*' 'convtranspose*' 'maxpool_2d*' \
        'averagepool_2d*' 'add*' 'mul*' 'sub*' 'div*' 'pow*' 'where*' 'gather_*' 'scatter*' 'slice*' 'split_*' 'concat_*' \
        'reduce_mean*' 'reduce_max*' 'cumsum*' 'top_k*' 'argmax*' '*_pad' 'resize_upsample*' 'tensorscatter*' 'einsum*' \
        'quantizelinear*' 'dequantizelinear*' 'cast_FLOAT_to_FLOAT16' 'cast_BFLOAT16*' 'gru*' 'lstm*' 'tri[lu]*' 'tile*' 'expand*' 'range*' 'erf' 'tanh*' 'scan9*' 'loop1*' 'nonzero*' \
        'compress*' 'unique_sorted*' 'nonmaxsuppression_two*' 'bernoulli'; do
        ls -d "$CASES/node"/test_$_pattern
    done | grep -v _expanded | sort -u | awk 'NR % 3 == 1'
}
chosen > "$WORK/chosen"
# shellcheck disable=SC2046 # folders without spaces
check "conformance: cases compile into one program" compile_cases "$folder" $(cat "$WORK/chosen")
compiled_results "$folder" > "$WORK/compiled"
awk -F '\t' '$3 != "pass" { print $1 "\t" $3 }' "$WORK/compiled" > "$WORK/failed"
failing_as_expected "$WORK/failed"
check "conformance: each of $(wc -l < "$WORK/chosen") cases has a result" test "$(wc -l < "$WORK/compiled")" -eq "$(wc -l < "$WORK/chosen")"
check "conformance: $(grep -c '	pass$' "$WORK/compiled") of them pass as compiled C" grep -q '	pass$' "$WORK/compiled"
check "conformance: the compiled program holds no interpreter" no_interpreter "$folder"
