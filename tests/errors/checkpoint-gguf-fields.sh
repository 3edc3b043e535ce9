model=$TOP/tests/formats/mixed/model.gguf
# with KEY BYTE...: a copy of the model whose number of 32 bits has these low bytes
with() {
    cp "$model" model.gguf
    at=$(($(grep -obUa "$1" model.gguf | head -n 1 | cut -d : -f 1) + ${#1} + 4))
    printf "$2" | dd of=model.gguf bs=1 seek=$at conv=notrunc 2> /dev/null
    echo "$1:"
    "$BURIN" inspect model.gguf --stop-after=infer 2>&1 | head -n 4
    rm model.gguf
}
with llama.attention.head_count_kv '\001'
with llama.attention.head_count_kv '\003'
with llama.feed_forward_length '\001'
with llama.block_count '\003'
