// The tokens of a GGUF that end a text: eos, and what llama.cpp knows by the keys of the metadata or by their texts to end a
// turn.
#include <string.h>

#include "frontend/checkpoint/gguf.h"

static void add_id(json_t *ids, int64_t id) {
    enum { MOST = 8 };
    for (size_t i = 0; i < json_array_size(ids); i++)
        if (json_integer_value(json_array_get(ids, i)) == id) return;
    if (json_array_size(ids) < MOST) json_array_append_new(ids, json_integer(id));
}

static int64_t find_text(const GgufString *texts, uint64_t n, const char *text) {
    for (uint64_t i = 0; i < n; i++)
        if (texts[i].length == strlen(text) && !memcmp(texts[i].bytes, text, texts[i].length)) return (int64_t)i;
    return -1;
}

json_t *gguf_end_tokens(const Gguf *g) {
    static const char *const keys[] = {"eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep"};
    static const char *const texts[] = {"<|eot_id|>",
                                        "<|im_end|>",
                                        "<|end|>",
                                        "<|return|>",
                                        "<|call|>",
                                        "<end_of_turn>",
                                        "<|endoftext|>",
                                        "</s>",
                                        "<|eom_id|>",
                                        "<EOT>",
                                        "_<EOT>",
                                        "<|end_of_text|>",
                                        "<end_of_utterance>",
                                        "<eos>",
                                        "<|fim_pad|>",
                                        "<|fim_repo|>",
                                        "<|repo_name|>",
                                        "<reponame>",
                                        "<|file_sep|>",
                                        "[EOT]",
                                        "[EOS]",
                                        "<\357\275\234end\342\226\201of\342\226\201sentence\357\275\234>"};
    uint64_t n;
    const GgufString *tokens = gguf_strings(g, "tokenizer.ggml.tokens", &n);
    json_t *ids = json_array();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int64_t id;
        const char *key = arena_printf(g->arena, "tokenizer.ggml.%s_token_id", keys[i]);
        if (gguf_int(g, key, &id) && id != UINT32_MAX) add_id(ids, id);
    }
    bool harmony = find_text(tokens, n, "<|return|>") >= 0 && find_text(tokens, n, "<|call|>") >= 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t id = find_text(tokens, n, texts[i]);
        if (id >= 0 && !(harmony && !strcmp(texts[i], "<|end|>"))) add_id(ids, id);
    }
    return ids;
}
