// Which tokens begin and end a text, and how many positions a sequence gets: what configuration files say, in one place.
#include <string.h>

#include "driver/build.h"

enum { DEFAULT_CONTEXT = 4096, LEAST_ROTARY_CONTEXT = 512, DEFAULT_ROWS = 64 };

static int ids_of(const json_t *config, const char *key, int32_t ids[8]) {
    const json_t *v = config ? json_object_get(config, key) : NULL;
    int n = 0;
    if (json_is_integer(v)) ids[n++] = (int32_t)json_integer_value(v);
    for (size_t i = 0; i < json_array_size(v) && n < 8; i++)
        if (json_is_integer(json_array_get(v, i))) ids[n++] = (int32_t)json_integer_value(json_array_get(v, i));
    return n;
}

static json_t *load_beside(const Build *b, const char *name) {
    return b->checkpoint ? json_load_file(arena_printf(b->arena, "%s/%s", b->checkpoint->folder, name), 0, NULL) : NULL;
}

// A tokenizer.json without a post-processor leaves it open whether a text begins with BOS. It does, unless the tokenizer's
// configuration says otherwise: models that have such a token were trained with it (GPT-2's, which also ends texts, is none).
static bool bos_is_left_open(const Build *b) {
    json_t *tokenizer = load_beside(b, "tokenizer.json"), *config = load_beside(b, "tokenizer_config.json");
    const char *class = json_string_value(json_object_get(config, "tokenizer_class"));
    bool open = tokenizer && !json_is_object(json_object_get(tokenizer, "post_processor")) &&
                !json_is_false(json_object_get(config, "add_bos_token")) && !(class && !strncmp(class, "GPT2", 4));
    json_decref(tokenizer);
    json_decref(config);
    return open;
}

static int32_t bos_of(const Build *b, const json_t *config) {
    int32_t bos[8], eos[8];
    if (b->tokenizer && b->tokenizer->bos >= 0) return b->tokenizer->bos;
    if (!ids_of(config, "bos_token_id", bos) || (ids_of(config, "eos_token_id", eos) && bos[0] == eos[0])) return -1;
    return !b->tokenizer || bos_is_left_open(b) ? bos[0] : -1;
}

// The end: generation_config.json, config.json, the tokenizer, in this order.
void build_special_tokens(Build *b) {
    Module *m = b->module;
    json_t *generation = load_beside(b, "generation_config.json");
    const json_t *config = b->checkpoint ? b->checkpoint->config : NULL;
    if (!b->checkpoint) return;
    m->n_eos = ids_of(generation, "eos_token_id", m->eos);
    if (!m->n_eos) m->n_eos = ids_of(config, "eos_token_id", m->eos);
    if (!m->n_eos && b->tokenizer && b->tokenizer->eos >= 0) m->eos[m->n_eos++] = b->tokenizer->eos;
    m->bos = bos_of(b, config);
    json_decref(generation);
}

static int64_t clamp(int64_t n, int64_t low, int64_t high) { return n < low ? low : n > high ? high : n; }

// As loaded: a table of weights that is looked up by anything but the tokens.
static bool has_learned_positions(const Build *b) {
    for (int i = 0; i < b->module->n_graphs; i++) EACH_NODE(n, b->module->graphs[i])
    if (n->op == OP_gather && n->in[0]->op == OP_constant && n->in[1]->op != OP_input) return true;
    return false;
}

// Rotary embeddings have no table that ends: a model that says less than 512 positions gets them, and --ctx may ask for more.
void build_context(Build *b) {
    int64_t trained = b->module->context, wanted = b->options->context;
    b->passes.module = b->module;
    b->passes.max_rows = b->options->chunk ? b->options->chunk : DEFAULT_ROWS;
    b->passes.context = wanted ? wanted : clamp(trained ? trained : DEFAULT_CONTEXT, LEAST_ROTARY_CONTEXT, DEFAULT_CONTEXT);
    if (!wanted && trained && has_learned_positions(b)) b->passes.context = clamp(trained, 1, DEFAULT_CONTEXT);
    if (wanted && trained && wanted > trained)
        diag_warning(NO_LOC, "--ctx=%lld: the model was made for %lld positions", (long long)wanted, (long long)trained);
}

static bool is_positions(const Node *n) { return n->op == OP_input && input_role(n) == INPUT_POSITIONS; }

// The smallest table of learned positions, or `context`.
static int64_t learned_positions(const Graph *g, int64_t context) {
    EACH_NODE(n, g) {
        if (n->op != OP_gather || !is_positions(n->in[1]) || n->in[0]->op != OP_constant || !n->in[0]->value) continue;
        if (n->in[0]->value->dim[0] < context) context = n->in[0]->value->dim[0];
    }
    return context;
}

void build_check_positions(const Build *b) {
    for (int i = 0; i < b->module->n_graphs; i++) {
        int64_t n = learned_positions(b->module->graphs[i], b->passes.context);
        if (n < b->passes.context)
            diag_fatal(NO_LOC, "a context of %lld is too long: the model has learned %lld positions\nhint: --ctx=%lld",
                       (long long)b->passes.context, (long long)n, (long long)n);
    }
}
