// The tokens of a GGUF that end a text: eos, and what llama.cpp knows by the keys of the metadata
// or by their texts to end a turn.
#include <inttypes.h>
#include <string.h>

#include "frontend/checkpoint/gguf/gguf.h"

static void add_id(json_t *ids, int64_t id) {
    enum { MOST = 8 };
    for (size_t i = 0; i < json_array_size(ids); i++)
        if (json_integer_value(json_array_get(ids, i)) == id) return;
    if (json_array_size(ids) < MOST) json_array_append_new(ids, json_integer(id));
}

static int64_t find_text(const GgufString *texts, uint64_t n, const char *text) {
    for (uint64_t i = 0; i < n; i++)
        if (texts[i].length == strlen(text) && !memcmp(texts[i].bytes, text, texts[i].length))
            return (int64_t)i;
    return -1;
}

// Tokens that llama.cpp takes for control tokens because of their texts, whatever their types say;
// those up to `ends` end a text.
static const char *const control_texts[] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "[e~[",
    "<|fim_pad|>",
    "<fim-pad>",
    "<fim_pad>",
    "<PAD>",
    "<|fim_repo|>",
    "<fim-repo>",
    "<REPO>",
    "<|repo_name|>",
    "<reponame>",
    "<|file_sep|>",
    "[EOT]",
    "[EOS]",
    "<\357\275\234end\342\226\201of\342\226\201sentence\357\275\234>",
    "[PAD]",
    "<|fim_prefix|>",
    "<fim-prefix>",
    "<fim_prefix>",
    "<\357\275\234fim\342\226\201begin\357\275\234>",
    "<PRE>",
    "\342\226\201<PRE>",
    "<|code_prefix|>",
    "<|prefix|>",
    "<|fim_suffix|>",
    "<fim-suffix>",
    "<fim_suffix>",
    "<\357\275\234fim\342\226\201hole\357\275\234>",
    "<SUF>",
    "\342\226\201<SUF>",
    "<|code_suffix|>",
    "<|suffix|>",
    "<|fim_middle|>",
    "<fim-middle>",
    "<fim_middle>",
    "<\357\275\234fim\342\226\201end\357\275\234>",
    "<MID>",
    "\342\226\201<MID>",
    "<|code_middle|>",
    "<|middle|>"};
enum { ENDS = 32, CONTROL_TEXTS = sizeof control_texts / sizeof *control_texts };

bool gguf_is_control_text(const GgufString *s) {
    for (size_t i = 0; i < CONTROL_TEXTS; i++)
        if (s->length == strlen(control_texts[i]) && !memcmp(s->bytes, control_texts[i], s->length))
            return true;
    return false;
}

// Texts that end nothing beside others.
static bool is_exception(const GgufString *tokens, uint64_t n, const char *text) {
    static const char *const exceptions[][3] = {{"<|end|>", "<|return|>", "<|call|>"},
                                                {"<|end|>", "<|flush|>", "<|calls|>"},
                                                {"</s>", "<|tool_response>"},
                                                {"</s>", "<|plamo:eos|>"}};
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
        const char *const *e = exceptions[i];
        if (!strcmp(text, e[0]) && find_text(tokens, n, e[1]) >= 0 &&
            (!e[2] || find_text(tokens, n, e[2]) >= 0))
            return true;
    }
    return false;
}

bool gguf_token_id(const Gguf *g, const char *key, int64_t *id) {
    const GgufValue *tokens = gguf_find(g, "tokenizer.ggml.tokens");
    return gguf_int(g, key, id) && *id != UINT32_MAX &&
           (!tokens || (*id >= 0 && (uint64_t)*id < tokens->n));
}

void gguf_check_token_ids(const Gguf *g) {
    static const char *const keys[] = {"eot",     "eom",     "padding", "mask",    "fim_pre",
                                       "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep"};
    const GgufValue *tokens = gguf_find(g, "tokenizer.ggml.tokens");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *key = arena_printf(g->arena, "tokenizer.ggml.%s_token_id", keys[i]);
        int64_t id;
        if (!gguf_int(g, key, &id) || id == UINT32_MAX || gguf_token_id(g, key, &id)) continue;
        diag_warning(loc_file(&g->file->source),
                     "metadata \"%s\" is %" PRId64 ", beyond the vocabulary of %" PRIu64
                     " tokens: it is ignored",
                     key, id, tokens->n);
    }
}

json_t *gguf_end_tokens(const Gguf *g) {
    static const char *const keys[] = {"eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep"};
    uint64_t n;
    const GgufString *tokens = gguf_strings(g, "tokenizer.ggml.tokens", &n);
    json_t *ids = json_array();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int64_t id;
        const char *key = arena_printf(g->arena, "tokenizer.ggml.%s_token_id", keys[i]);
        if (gguf_token_id(g, key, &id)) add_id(ids, id);
    }
    for (size_t i = 0; i < ENDS; i++) {
        int64_t id = find_text(tokens, n, control_texts[i]);
        if (id >= 0 && !is_exception(tokens, n, control_texts[i])) add_id(ids, id);
    }
    return ids;
}
