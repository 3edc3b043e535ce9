$TOOLS/family_weights $TOP/tests/families/phi3-longrope m && $BURIN build m --ctx=40 --stop-after=infer > out; s=$?; rm -r m out; exit $s
