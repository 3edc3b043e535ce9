cp -r $TOP/tests/formats/folders/gptq4_cut m
sed -i 's/"tie_word_embeddings": false/"text_config": {"tie_word_embeddings": true}/' m/config.json
sed -e 's/, tie_word_embeddings = false//' -e 's/tie_word_embeddings ?/text_config.tie_word_embeddings ?/' -e '/^graph/i config text_config = null' $TOP/dsl/models/llama.burin > x.burin
$BURIN inspect x.burin --weights=m --stop-after=infer > text; s=$?; rm -rf m x.burin text; exit $s
