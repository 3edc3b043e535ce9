$TOOLS/family_weights $TOP/tests/families/qwen3-window m && $TOOLS/quantized_family gptq m out language_model.
$BURIN inspect out --stop-after=infer > /dev/null; s=$?; rm -r m out; exit $s
