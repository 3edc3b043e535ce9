// Two texts as one, for a GGUF that has a head of labels or of a rank: as llama.cpp's server puts a
// query and a text together.
//
//   <s> QUERY </s></s> TEXT </s>
#include <string.h>

#include "frontend/checkpoint/gguf/gguf.h"
#include "frontend/tokenizer/compile.h"

static void put_item(TokenizerBuilder *b, int32_t id) {
    bytes_append(&b->pair, &(burin_pair_item){id, 0}, sizeof(burin_pair_item));
}

static void put_all(TokenizerBuilder *b, const Bytes *ids) {
    for (size_t i = 0; i < ids->length / sizeof(int32_t); i++)
        put_item(b, ((const int32_t *)ids->data)[i]);
}

static bool has_separator(const Gguf *g) {
    static const char *const usual[] = {"jina-v1-en", "jina-v2-code", "roberta-bpe"};
    const char *pre = "";
    gguf_string(g, "tokenizer.ggml.pre", &pre);
    bool has = false;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) has = has || !strcmp(usual[i], pre);
    gguf_bool(g, "tokenizer.ggml.add_sep_token", &has);
    return has;
}

void read_gguf_pair(TokenizerBuilder *b, const Gguf *g, uint64_t tokens) {
    int64_t separator = -1;
    if (b->pair.length || (!gguf_tensor(g, "cls.output.weight") && !gguf_tensor(g, "cls.weight")))
        return;
    gguf_int(g, "tokenizer.ggml.seperator_token_id", &separator);
    put_all(b, &b->before);
    put_item(b, BURIN_PAIR_FIRST);
    put_all(b, &b->after);
    if (has_separator(g) && separator >= 0 && (uint64_t)separator < tokens)
        put_item(b, (int32_t)separator);
    put_item(b, BURIN_PAIR_SECOND);
    put_all(b, &b->after);
}
