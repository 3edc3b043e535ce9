"$TOOLS/family_weights" "$TOP/tests/families/mistral-dim" model
echo "It was a truth" > text
$BURIN build model --calibrate text -o x
$BURIN build model --quant q8_0 --calibrate text -o x
$BURIN build "$TOP/examples/austen" --quant q8_0 --calibrate text -o x
$BURIN build "$TOP/examples/austen" --quant q8_0 --calibrate none -o x
$BURIN build "$TOP/examples/numbers" --quant q8_0 --calibrate text -o x
rm -r model text
