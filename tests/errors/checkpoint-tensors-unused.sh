mkdir m; cp $TOP/tests/families/stablelm/config.json m; { cat $TOP/tests/families/stablelm/tensors; echo "model.layers.0.self_attn.q_layernorm.norms.0.weight 1 0 16"; } > m/tensors
$TOOLS/family_weights m out && $BURIN build out -o p; s=$?; rm -r m out; exit $s
