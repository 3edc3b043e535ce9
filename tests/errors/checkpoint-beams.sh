mkdir m; cp $TOP/examples/numbers/* m; echo '{"num_beams": 4}' > m/generation_config.json; $BURIN build m --emit=c > text; s=$?; rm -r m text; exit $s
