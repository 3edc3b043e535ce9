$TOOLS/family_weights $TOP/tests/families/llama-dynamic n && $BURIN build n --ctx=65 -o p; s=$?; rm -r n; exit $s
