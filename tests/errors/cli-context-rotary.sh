$TOOLS/family_weights $TOP/tests/families/phi3-longrope m && $BURIN build m --ctx=600 -o p; s=$?
$TOOLS/family_weights $TOP/tests/families/llama-dynamic n && $BURIN build n --ctx=65 -o p; rm -r m n; exit $s
