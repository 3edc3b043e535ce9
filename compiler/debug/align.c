#include "debug/align.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "debug/check_inputs.h"
#include "debug/interpret_both.h"

struct Aligner {
    Arena *arena;
    const Graph *graph;
    const Recording *recording;
    EvalContext *sizes;
};

// ----------------------------------------------------------------------------------------- weights
// The name of the first weight that a chain of constants begins with, or NULL.
static const char *weight_of(const Node *n) {
    if (n->op == OP_constant) return n->value ? n->value->name : NULL;
    for (int i = 0; i < n->n_in; i++) {
        const char *name = n->in[i] ? weight_of(n->in[i]) : NULL;
        if (name) return name;
    }
    return NULL;
}

// "model.norm" of "model.norm.weight", as long as it is.
static size_t owner_length(const char *weight) {
    const char *dot = strrchr(weight, '.');
    return dot ? (size_t)(dot - weight) : 0;
}

// The names of the weights that a node reads itself, by operand; NULL: none.
typedef struct Read {
    const char **weight;
} Read;

Aligner *align_open(Arena *arena, const Graph *g, const Recording *r, EvalContext *sizes) {
    Aligner *a = ARENA_NEW(arena, Aligner);
    *a = (Aligner){.arena = arena, .graph = g, .recording = r, .sizes = sizes};
    int at = 0;
    EACH_NODE(n, g) {
        n->mark = at++, n->scratch = NULL;
        if (is_weight_chain(n)) continue;
        for (int i = 0; i < n->n_in; i++) {
            if (!n->in[i] || !is_weight_chain(n->in[i])) continue;
            Read *read = n->scratch ? n->scratch : ARENA_NEW(arena, Read);
            if (!n->scratch) read->weight = ARENA_ARRAY(arena, const char *, n->n_in);
            read->weight[i] = weight_of(n->in[i]);
            n->scratch = read;
        }
    }
    return a;
}

static const char *read_weight(const Node *n, int operand) {
    const Read *read = n->scratch;
    return read ? read->weight[operand] : NULL;
}

static bool is_owner(const char *module, const char *weight) {
    size_t n = strlen(module);
    return weight && owner_length(weight) == n && !strncmp(weight, module, n);
}

static bool is_within(const char *module, const char *name) {
    size_t n = strlen(module);
    return name && !strncmp(name, module, n) && (name[n] == '.' || !name[n]);
}

// ------------------------------------------------------------------------------------------ shapes
// Axes of one are those of a batch, or left out.
static int squeezed(const int64_t *dim, int rank, int64_t *out) {
    int n = 0;
    for (int i = 0; i < rank; i++)
        if (dim[i] != 1) out[n++] = dim[i];
    return n;
}

static bool has_shape(const Aligner *a, const Node *n, const Tensor *recorded) {
    int64_t dim[MAX_RANK], left[MAX_RANK], right[MAX_RANK];
    if (n->type.dtype == DT_tuple || is_weight_chain(n)) return false;
    for (int i = 0; i < n->type.rank; i++) dim[i] = check_size(n->type.dim[i], a->sizes);
    int rank = squeezed(dim, n->type.rank, left);
    return rank == squeezed(recorded->dim, recorded->rank, right) &&
           !memcmp(left, right, (size_t)rank * sizeof *left);
}

// ----------------------------------------------------------------------------------------- modules
typedef struct Name {
    const char *module;
    int call;    // 0: the first
    bool input;  // inputs of the module
    const Tensor *recorded;
} Name;

static Name name_of(Arena *arena, const Tensor *recorded) {
    char *module = arena_strdup(arena, recorded->name), *hash = strrchr(module, '#');
    Name name = {.module = module, .recorded = recorded};
    if (text_ends_with(module, ".input"))
        module[strlen(module) - strlen(".input")] = 0, name.input = true;
    if (hash && isdigit((unsigned char)hash[1])) *hash = 0, name.call = atoi(hash + 1);
    return name;
}

// The input rows of a product by a weight of the module.
static Node *find_taken(const Aligner *a, const Name *name) {
    int call = 0;
    EACH_NODE(n, a->graph)
        if (n->op == OP_matmul && is_owner(name->module, read_weight(n, 1)) &&
            has_shape(a, n->in[0], name->recorded) && call++ == name->call)
            return n->in[0];
    return NULL;
}

// The module's weight that a call reads last: after a bias, nothing follows.
static const char *last_weight(const Aligner *a, const Name *name) {
    const char *last = NULL;
    int seen = -1;
    EACH_NODE(n, a->graph)
        for (int i = 0; i < n->n_in && n->scratch; i++) {
            const char *weight = read_weight(n, i);
            if (!is_owner(name->module, weight) || (last && !strcmp(weight, last))) continue;
            bool earlier = false;  // read before, by an earlier call
            for (const Node *m = a->graph->first; m != n && !earlier; m = m->next)
                for (int j = 0; j < m->n_in && m->scratch; j++)
                    earlier |= read_weight(m, j) && !strcmp(read_weight(m, j), weight);
            if (!earlier && n->mark > seen && has_shape(a, n, name->recorded))
                last = weight, seen = n->mark;
        }
    return last;
}

// The call of a module with weights of its own.
static Node *find_call(const Aligner *a, const Name *name) {
    const char *weight = last_weight(a, name);
    int call = 0;
    if (!weight) return NULL;
    EACH_NODE(n, a->graph)
        for (int i = 0; i < n->n_in && n->scratch; i++) {
            if (!read_weight(n, i) || strcmp(read_weight(n, i), weight)) continue;
            if (has_shape(a, n, name->recorded) && call++ == name->call) return n;
        }
    return NULL;
}

static bool is_called_again(const Aligner *a, const char *module) {
    const char *again = arena_printf(a->arena, "%s#1", module);
    return recording_find(a->recording, again) != NULL;
}

static bool reads_within(const Node *n, const char *module) {
    for (int i = 0; i < n->n_in && n->scratch; i++)
        if (is_within(module, read_weight(n, i))) return true;
    return false;
}

// The last value in the scope of a module of modules, or after its weights.
static Node *find_last(const Aligner *a, const Name *name) {
    Node *last = NULL;
    if (name->call || is_called_again(a, name->module)) return NULL;
    EACH_NODE(n, a->graph)
        if (n->op != OP_input && !is_weight_chain(n) &&
            (is_within(name->module, n->loc.scope) || reads_within(n, name->module)))
            last = n;
    return last && has_shape(a, last, name->recorded) ? last : NULL;
}

static Node *find_module(const Aligner *a, Name name, const char *module) {
    name.module = module;
    if (name.input) return find_taken(a, &name);
    Node *n = find_call(a, &name);
    return n ? n : find_last(a, &name);
}

// The prefix of weight names: "model" of "model.norm.weight".
static const char *first_word(const Aligner *a) {
    EACH_NODE(n, a->graph)
        if (n->op == OP_constant && n->value && n->value->name && strchr(n->value->name, '.'))
            return arena_strndup(a->arena, n->value->name, strcspn(n->value->name, "."));
    return "";
}

// A recording may be of the model without its head, or a checkpoint of that: one word less, or
// more.
static Node *find_nearby(const Aligner *a, const Name *name) {
    const char *dot = strchr(name->module, '.'), *first = first_word(a);
    Node *n = dot ? find_module(a, *name, dot + 1) : NULL;
    return n || is_within(first, name->module)
               ? n
               : find_module(a, *name, arena_printf(a->arena, "%s.%s", first, name->module));
}

// ------------------------------------------------------------------------------------------- names
// A value's name in the graph is the ONNX file's with "_" for all that is no letter, digit, "_" or
// ".".
static bool is_named(const Node *n, const char *name) {
    const char *own = n->name;
    for (; *own && *name; own++, name++)
        if (*own != *name && (*own != '_' || isalnum((unsigned char)*name))) return false;
    return !*own && !*name;
}

static Node *find_output(const Graph *g, const char *name) {
    int at = graph_output_index(g, name);
    return at < 0 ? NULL : g->outputs[at];
}

static Node *find_named(const Aligner *a, const Tensor *recorded) {
    EACH_NODE(n, a->graph)
        if (n->op != OP_input && is_named(n, recorded->name) && has_shape(a, n, recorded)) return n;
    return NULL;
}

Node *align_find(const Aligner *a, const Tensor *recorded) {
    Name name = name_of(a->arena, recorded);
    Node *n = find_output(a->graph, recorded->name);
    if (n) return has_shape(a, n, recorded) ? n : NULL;
    if ((n = find_module(a, name, name.module)) || (n = find_named(a, recorded))) return n;
    return find_nearby(a, &name);
}

const char *align_layer(Arena *arena, const char *name) {
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        size_t digits = strspn(dot + 1, "0123456789");
        if (digits && (dot[1 + digits] == '.' || !dot[1 + digits]))
            return arena_strndup(arena, name, (size_t)(dot + 1 + digits - name));
    }
    return name;
}
