// Which tokens begin and end a text, and how many positions a sequence gets: what configuration
// files say, in one place.
#include <string.h>

#include "build/build.h"
#include "util/json.h"

enum { DEFAULT_CONTEXT = 4096, LEAST_GGUF_CONTEXT = 512, DEFAULT_ROWS = 128, SMALL_ROWS = 64 };

// The token that a tokenizer puts first, else the one that configuration files name: a program
// without a prompt begins with it.
static int32_t bos_of(const Build *b) {
    const Module *m = b->module;
    if (b->tokenizer && b->tokenizer->bos >= 0) return b->tokenizer->bos;
    return m->n_eos && m->bos == m->eos[0] ? -1 : m->bos;
}

// The module has the checkpoint's ids; the tokenizer overrides how a text begins, and supplies the
// end if nothing else does.
void build_special_tokens(Build *b) {
    Module *m = b->module;
    if (!b->checkpoint) return;
    m->bos = bos_of(b);
    if (!m->n_eos && b->tokenizer && b->tokenizer->eos >= 0) m->eos[m->n_eos++] = b->tokenizer->eos;
}

// The position from which a rotary embedding uses other angles for the whole text: cached keys
// would be wrong there. 0: none. `trained`: the model's own maximum.
static int64_t rotary_limit(const Checkpoint *c, int64_t trained, const char **kind) {
    const json_t *config = c ? c->config : NULL, *scaling = json_object_get(config, "rope_scaling");
    const json_t *original = json_object_get(config, "original_max_position_embeddings"),
                 *near = json_object_get(scaling, "short_factor");
    const char *old = json_string_value(json_object_get(scaling, "type")),
               *type = json_string_value(json_object_get(scaling, "rope_type"));
    *kind = type ? type : old ? old : "";
    if (!strcmp(*kind, "dynamic")) return trained;
    if ((strcmp(*kind, "longrope") && strcmp(*kind, "su")) ||
        json_equal(near, json_object_get(scaling, "long_factor")))
        return 0;
    if (!json_is_integer(original))
        original = json_object_get(scaling, "original_max_position_embeddings");
    return json_integer_value(original) > 0 && json_integer_value(original) < trained
               ? json_integer_value(original)
               : trained;
}

void build_rotary_factors(const Build *b) {
    const json_t *config = b->checkpoint->config;
    const char *kind;
    int64_t trained = json_integer_value(json_object_get(config, "max_position_embeddings")),
            limit = rotary_limit(b->checkpoint, trained, &kind), wanted = b->options->context;
    if (!limit || wanted <= limit || !strcmp(kind, "dynamic")) return;
    json_object_set_new(json_object_get(config, "rope_scaling"), "use_long_factor", json_true());
    diag_warning(NO_LOC,
                 "--ctx=%lld: every text is turned by the long factors of rope_scaling, which are "
                 "for texts of more than %lld "
                 "positions\nhint: --ctx=%lld for shorter ones",
                 (long long)wanted, (long long)limit, (long long)limit);
}

static void limit_context(Build *b) {
    const char *kind;
    int64_t limit = rotary_limit(b->checkpoint, b->module->context, &kind),
            wanted = b->options->context;
    if (!limit || b->passes.context <= limit || (wanted && strcmp(kind, "dynamic"))) return;
    if (wanted)
        diag_fatal(NO_LOC,
                   "--ctx=%lld is not supported: texts of more than %lld positions are turned by "
                   "other angles (rope_scaling "
                   "\"%s\") from their first token on\nhint: --ctx=%lld",
                   (long long)wanted, (long long)limit, kind, (long long)limit);
    b->passes.context = limit;
}

// The positions of a description that ends before its model does: longer texts are of another
// formula. 0: it does not.
static int64_t described_context(const Build *b) {
    const json_t *config = b->checkpoint ? b->checkpoint->config : NULL;
    int64_t trained = json_integer_value(json_object_get(config, "max_position_embeddings"));
    return b->module->context < trained ? b->module->context : 0;
}

static void check_described(const Build *b, int64_t wanted) {
    int64_t described = described_context(b);
    if (described && wanted > described)
        diag_fatal(NO_LOC,
                   "--ctx=%lld is not supported: this model is described up to %lld positions, "
                   "longer texts are of another "
                   "formula\nhint: --ctx=%lld",
                   (long long)wanted, (long long)described, (long long)described);
}

// Converters of small rotary models write a context_length of 128 into a GGUF, whatever they were
// trained for; such an embedding has no table that ends.
static int64_t stated_context(const Build *b) {
    int64_t stated = b->module->context;
    if (!b->checkpoint || b->checkpoint->kind != CHECKPOINT_GGUF || !stated ||
        stated >= LEAST_GGUF_CONTEXT || described_context(b))
        return stated;
    return json_object_get(b->checkpoint->config, "rope_theta") ? LEAST_GGUF_CONTEXT : stated;
}

// The model's maximum, at most 4096 positions; --ctx may exceed it unless a table of learned
// positions ends.
void build_context(Build *b) {
    int64_t trained = b->module->context, wanted = b->options->context;
    b->passes.module = b->module;
    bool small = b->options->max_ram || machine_is_bare(b->tools.machine);
    b->passes.max_rows = b->options->chunk ? b->options->chunk : small ? SMALL_ROWS : DEFAULT_ROWS;
    int64_t stated = stated_context(b);
    b->passes.context = wanted                               ? wanted
                        : stated && stated < DEFAULT_CONTEXT ? stated
                                                             : DEFAULT_CONTEXT;
    limit_context(b);
    check_described(b, wanted);
    if (wanted && trained && wanted > trained)
        diag_warning(NO_LOC, "--ctx=%lld: the model was made for %lld positions", (long long)wanted,
                     (long long)trained);
}

static bool is_positions(const Node *n) {
    return n->op == OP_input && input_role(n) == INPUT_POSITIONS;
}

// The smallest table of learned positions, or `context`.
int64_t learned_positions(const Graph *g, int64_t context) {
    EACH_NODE(n, g) {
        if (n->op != OP_gather || !is_positions(n->in[1]) || n->in[0]->op != OP_constant ||
            !n->in[0]->value)
            continue;
        int64_t rows = n->in[0]->value->dim[node_axis(n)];
        if (rows < context) context = rows;
    }
    return context;
}

void build_check_positions(const Build *b) {
    for (int i = 0; i < b->module->n_graphs; i++) {
        int64_t n = learned_positions(b->module->graphs[i], b->passes.context);
        if (n < b->passes.context)
            diag_fatal(NO_LOC,
                       "a context of %lld is too long: the model has learned %lld positions\nhint: "
                       "--ctx=%lld",
                       (long long)b->passes.context, (long long)n, (long long)n);
    }
}
