mkdir m; cp $TOP/tests/families/bart-model/tensors m; sed 's/"BartModel"/"BartForTokenClassification"/' $TOP/tests/families/bart-model/config.json > m/config.json
$TOOLS/family_weights m out && $BURIN build out -o p; s=$?; rm -r m out; exit $s
