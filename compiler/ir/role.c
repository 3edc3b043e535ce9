// The role of an input in the program: the attribute "role", or the meaning of its name. All such
// names are here.
#include <string.h>

#include "ir.h"

static const char *const role_names[] = {[INPUT_TENSOR] = "tensor",
                                         [INPUT_TOKENS] = "tokens",
                                         [INPUT_POSITIONS] = "positions",
                                         [INPUT_SLOTS] = "slots",
                                         [INPUT_LOGIT_ROWS] = "logit_rows",
                                         [INPUT_MASK] = "mask",
                                         [INPUT_TYPES] = "types",
                                         [INPUT_SOURCE_LAST] = "memory",
                                         [INPUT_CACHE] = "cache",
                                         [INPUT_EMBEDDINGS] = "embeddings",
                                         [INPUT_EMBEDDED] = "embedded",
                                         [INPUT_LAST_SEEN] = "last_seen",
                                         [INPUT_AXES] = "axes"};

const char *input_role_name(InputRole role) { return role_names[role]; }

InputRole input_role_named(const char *word) {
    for (size_t i = 0; i < sizeof role_names / sizeof *role_names; i++)
        if (!strcmp(role_names[i], word)) return (InputRole)i;
    return INPUT_TENSOR;
}

InputRole input_role(const Node *n) { return input_role_named(attr_string(n, "role", "")); }

void input_set_role(Node *n, InputRole role) { attr_set_string(n, "role", role_names[role]); }

// ------------------------------------------------------------------------------------------- names
typedef enum { NEVER, WHOLE, BEGINS, INSIDE } Match;

// Whether the input of a description, and that of an export, has the role when its name is this
// one, begins with it or has it inside. The first row that fits counts.
static const struct {
    const char *name;
    Match described, exported;
    InputRole role;
} names[] = {
    {"use_cache_branch", NEVER, INSIDE,
     INPUT_CACHE},  // of a merged decoder: whether there is a past
    {"past", NEVER, INSIDE, INPUT_CACHE},
    {"cache_k", NEVER, BEGINS, INPUT_CACHE},
    {"cache_v", NEVER, BEGINS, INPUT_CACHE},
    {"key_cache", NEVER, INSIDE, INPUT_CACHE},
    {"value_cache", NEVER, INSIDE, INPUT_CACHE},
    {"input_ids", WHOLE, INSIDE, INPUT_TOKENS},
    {"decoder_input_ids", WHOLE, NEVER, INPUT_TOKENS},
    {"tokens", WHOLE, WHOLE, INPUT_TOKENS},
    {"attention_mask", WHOLE, INSIDE, INPUT_MASK},
    {"mask", WHOLE, NEVER, INPUT_MASK},
    {"position_ids", WHOLE, NEVER, INPUT_POSITIONS},
    {"positions", WHOLE, NEVER, INPUT_POSITIONS},
    {"position", NEVER, INSIDE, INPUT_POSITIONS},
    {"token_type_ids", WHOLE, NEVER, INPUT_TYPES},
    {"token_type", NEVER, INSIDE, INPUT_TYPES},
    {"segment_ids", NEVER, INSIDE, INPUT_TYPES},
    {"types", WHOLE, NEVER, INPUT_TYPES},
};

static bool matches(const char *input, const char *name, Match how) {
    if (how == WHOLE) return !strcmp(input, name);
    if (how == BEGINS) return !strncmp(input, name, strlen(name));
    return how == INSIDE && strstr(input, name);
}

InputRole role_of_described(const char *input) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (matches(input, names[i].name, names[i].described)) return names[i].role;
    return INPUT_TENSOR;
}

static bool has(const char *input, const char *part) { return strstr(input, part) != NULL; }

bool is_encoders_input(const char *input) {
    return has(input, "encoder") && !has(input, "decoder_");
}

bool is_encoders_cache(const char *input) { return has(input, "encoder") && has(input, "past"); }

bool is_attention_mask(const char *input) { return has(input, "attention_mask"); }

bool is_mask_input(const char *input) { return has(input, "mask"); }

bool is_cache_branch(const char *input) { return has(input, "use_cache_branch"); }

InputRole role_of_exported(const char *input) {
    if (is_encoders_input(input) && !is_encoders_cache(input)) return INPUT_TENSOR;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (matches(input, names[i].name, names[i].exported)) return names[i].role;
    return INPUT_TENSOR;
}

// ---------------------------------------------------------------------------------------- vectors
static int64_t columns_of(const Node *n) {
    int64_t columns = 0;
    return n->type.rank == 2 && dim_is_const(n->type.dim[1], &columns) ? columns : 0;
}

bool output_is_row_states(const Graph *g, int i) {
    return i && g->output_names[i] && !strcmp(g->output_names[i], OUTPUT_ROW_STATES);
}

int64_t graph_row_states(const Graph *g) {
    for (int i = 1; i < g->n_outputs; i++)
        if (output_is_row_states(g, i)) return columns_of(g->outputs[i]);
    return 0;
}

int64_t graph_row_vectors(const Graph *g) {
    int64_t columns = 0;
    for (int i = 0; i < g->n_inputs; i++) {
        if (input_role(g->inputs[i]) == INPUT_EMBEDDED) return 0;
        if (input_role(g->inputs[i]) == INPUT_EMBEDDINGS) columns = columns_of(g->inputs[i]);
    }
    return columns;
}
