# tiny_decoder MASKED RESULTS RETURNED: a description in x.burin of one attention, and a folder of its weights, m.
tiny_decoder() {
    mkdir m
    echo '{"vocab_size": 4, "hidden_size": 2, "max_len": 256}' > m/config.json
    { printf '\101\000\000\000\000\000\000\000%-65s' '{"e": {"dtype": "F32", "shape": [4, 2], "data_offsets": [0, 32]}}'; head -c 32 /dev/zero; } \
        > m/model.safetensors
    cat > x.burin << END
config vocab_size, hidden_size, max_len
graph decode(tokens: int[T <= max_len]) -> $2 {
  table = weight("e", [vocab_size, hidden_size])
  x = gather(table, tokens)
  s = x @ x^T
  later = iota([T, T], axis = 0) < iota([T, T], axis = 1)
  h = softmax($1) @ x
  return $3
}
END
}
