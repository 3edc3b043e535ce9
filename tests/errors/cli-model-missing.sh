$BURIN build model.gguf
$BURIN build HuggingFaceTB/SmolLM2-135M
$BURIN run nope
$BURIN build ./nope/nope
