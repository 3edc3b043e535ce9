#include "debug/check_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "ir/convert.h"
#include "util/hash.h"

static void read_input(CheckInputs *c, const char *word) {
    const char *equals = strchr(word, '=');
    if (!equals || equals == word || !equals[1])
        usage_error("--input=%s: expected NAME=F.npy", word);
    recording_add_file(&c->given, arena_strndup(c->arena, word, (size_t)(equals - word)),
                       equals + 1);
}

CheckInputs check_inputs(Arena *arena, const Options *o, const Recording *recorded) {
    CheckInputs c = {
        .arena = arena, .recorded = recorded, .given = {.arena = arena}, .tokens = o->tokens};
    for (int i = 0; i < o->inputs.n; i++) read_input(&c, o->inputs.word[i]);
    return c;
}

void check_inputs_add(CheckInputs *c, const char *name, const Tensor *t) {
    Tensor *copy = tensor_copy(c->arena, t);
    copy->name = name;
    recording_add(&c->given, copy);
}

// ------------------------------------------------------------------------------------------- sizes
static int64_t size_of_symbol(const Dim *symbol, void *context) {
    int64_t size = eval_symbol(context, symbol->name);
    return size ? size : symbol->lower;
}

int64_t check_size(const Dim *d, EvalContext *context) {
    return dim_eval(d, size_of_symbol, context);
}

typedef struct Sizes {
    const CheckInputs *inputs;
    EvalContext *context;
} Sizes;

static int64_t invented_size(const Dim *symbol, void *user) {
    const Sizes *s = user;
    int64_t size = eval_symbol(s->context, symbol->name);
    if (size) return size;
    size = s->inputs->size;
    return size < symbol->lower ? symbol->lower : size > symbol->value ? symbol->value : size;
}

static Tensor *new_value(CheckInputs *c, const Node *input, EvalContext *context) {
    Tensor *t = ARENA_NEW(c->arena, Tensor);
    *t = (Tensor){.dtype = input->type.dtype, .rank = input->type.rank};
    for (int i = 0; i < t->rank; i++)
        t->dim[i] = dim_eval(input->type.dim[i], invented_size, &(Sizes){c, context});
    t->bytes = dtype_bytes(t->dtype, tensor_count(t));
    t->data = arena_alloc(c->arena, t->bytes + 16);
    return t;
}

// ------------------------------------------------------------------------------------------ values
static const Tensor *tokens_of(CheckInputs *c) {
    int32_t *ids = ARENA_ARRAY(c->arena, int32_t, strlen(c->tokens) / 2 + 1);
    int n = 0;
    for (const char *at = c->tokens; *at; at += *at == ',') {
        char *end;
        long id = strtol(at, &end, 10);
        if (end == at || (*end && (*end != ',' || !end[1])) || id < 0 || id > INT32_MAX)
            usage_error("--tokens=%s: expected ids with commas between them: 1,2,3", c->tokens);
        ids[n++] = (int32_t)id, at = end;
    }
    Tensor *t = ARENA_NEW(c->arena, Tensor);
    *t = (Tensor){
        .dtype = DT_i32, .rank = 1, .dim = {n}, .data = ids, .bytes = (uint64_t)n * sizeof *ids};
    return t;
}

// PyTorch calls the tokens of most models so.
static const Tensor *find_value(CheckInputs *c, const Node *input) {
    bool tokens = input_role(input) == INPUT_TOKENS;
    const Tensor *t = recording_find(&c->given, input->name);
    if (!t && tokens && c->tokens) return tokens_of(c);
    if (!t) t = recording_find(c->recorded, input->name);
    return !t && tokens ? recording_find(c->recorded, "input_ids") : t;
}

// Of a batch of one, its one; of narrower integers or floats, the graph's type.
static const Tensor *fit(CheckInputs *c, const Node *input, const Tensor *given) {
    Tensor *t = ARENA_NEW(c->arena, Tensor);
    const Type *type = &input->type;
    int from = 0;
    while (given->rank - from > type->rank && given->dim[from] == 1) from++;
    *t = (Tensor){.dtype = type->dtype, .rank = given->rank - from};
    memcpy(t->dim, given->dim + from, (size_t)t->rank * sizeof *t->dim);
    bool fits = t->rank == type->rank;
    for (int i = 0; i < t->rank && fits; i++) {
        int64_t size;
        fits = !dim_is_const(type->dim[i], &size) || size == t->dim[i];
    }
    if (!fits)
        diag_fatal(input->loc, "the value of %s has another shape than the input: %s", input->name,
                   type_text(type));
    t->bytes = dtype_bytes(t->dtype, tensor_count(t));
    void *data = arena_alloc(c->arena, t->bytes + 16);
    for (int64_t i = 0, n = tensor_count(t); i < n; i++)
        dtype_store(t->dtype, data, i, dtype_load(given->dtype, given->data, i));
    t->data = data;
    return t;
}

// The same for every run and every pass: a function of the element and of the input's name.
static double invented_value(const CheckInputs *c, const Node *input, int64_t i, int64_t most) {
    switch (input_role(input)) {
        case INPUT_TOKENS:
            return (double)(i * 7919 % most);
        case INPUT_POSITIONS:
        case INPUT_LAST_SEEN:
        case INPUT_AXES:
            return (double)i;
        case INPUT_MASK:
        case INPUT_LOGIT_ROWS:
            return 1;
        case INPUT_TYPES:
        case INPUT_SLOTS:
        case INPUT_EMBEDDED:
            return 0;
        case INPUT_SOURCE_LAST:
            return (double)(c->memory - 1);
        default:
            break;
    }
    uint64_t x =
        (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u + hash_bytes(input->name, strlen(input->name), 0);
    x = (x ^ x >> 29) * 0x94d049bb133111ebu;
    double unit = (double)(x >> 40) / 0x1p24;
    return dtype_is_float(input->type.dtype) ? 2 * unit - 1
           : input->type.dtype == DT_bool    ? unit < 0.5
                                             : (double)(x >> 62);
}

// Rows of the tables that ids index, also through casts and views; a few if none is found.
static int64_t rows_of_tables(const Node *ids, int depth) {
    enum { FEW = 16, DEEP = 8 };
    int64_t most = FEW;
    for (int i = 0; i < ids->n_users && depth < DEEP; i++) {
        const Node *n = ids->users[i];
        int64_t rows = 0;
        if (n->op == OP_gather && n->in[1] == ids)
            rows = dim_upper(n->in[0]->type.dim[node_axis(n)]);
        else if (n->in[0] == ids &&
                 dtype_is_float(n->type.dtype) == dtype_is_float(ids->type.dtype))
            rows = rows_of_tables(n, depth + 1);
        if (rows && (most == FEW || rows < most)) most = rows;
    }
    return most;
}

static const Tensor *invent(CheckInputs *c, const Node *input, EvalContext *context) {
    Tensor *t = new_value(c, input, context);
    int64_t most = rows_of_tables(input, 0);
    for (int64_t i = 0, n = tensor_count(t); i < n; i++)
        dtype_store(t->dtype, (void *)(uintptr_t)t->data, i, invented_value(c, input, i, most));
    return t;
}

const Tensor **check_inputs_of(CheckInputs *c, const Graph *g, EvalContext *context) {
    const Tensor **values = ARENA_ARRAY(c->arena, const Tensor *, g->n_inputs + 1);
    for (int i = 0; i < g->n_inputs; i++) {
        const Tensor *t = find_value(c, g->inputs[i]);
        values[i] = t ? fit(c, g->inputs[i], t) : NULL;
        if (t) eval_set_shape(context, g->inputs[i], values[i]);
    }
    for (int i = 0; i < g->n_inputs; i++) {
        const Node *n = g->inputs[i];
        if (values[i]) continue;
        if (!c->invented && (input_role(n) == INPUT_TOKENS || input_role(n) == INPUT_TENSOR))
            diag_fatal(n->loc, "nothing says what the input %s is\nhint: --input %s=F.npy%s",
                       n->name, n->name,
                       input_role(n) == INPUT_TOKENS ? ", or --tokens 1,2,3" : "");
        values[i] = invent(c, n, context);
        eval_set_shape(context, n, values[i]);
    }
    return values;
}

// ------------------------------------------------------------------------------------------ graphs
typedef struct GraphWalk {
    CheckInputs *inputs;
    InterpretBothVisit *visit;
    void *user;
} GraphWalk;

static void pass_on(void *user, Node *n, const Tensor *exact, const Tensor *contract) {
    GraphWalk *w = user;
    for (int i = 0; i < n->graph->n_outputs; i++)
        if (n->graph->outputs[i] == n)
            check_inputs_add(w->inputs, n->graph->output_names[i], exact);
    w->visit(w->user, n, exact, contract);
}

// A step has one slot, and the logits of all its rows are wanted.
static void set_sizes(const Graph *g, EvalContext *c, int64_t rows) {
    EACH_NODE(n, g)
        if (n->op == OP_state && n->type.dim[0]->kind == DIM_SYMBOL)
            eval_set_symbol(c, n->type.dim[0]->name, 1);
    for (int i = 0; i < g->n_inputs; i++) {
        const Type *logits = &g->outputs[0]->type;
        if (input_role(g->inputs[i]) == INPUT_LOGIT_ROWS && logits->rank &&
            logits->dim[0]->kind == DIM_SYMBOL)
            eval_set_symbol(c, logits->dim[0]->name, rows);
    }
}

void check_walk(CheckInputs *c, const Module *m, InterpretBoth *w, InterpretBothVisit *visit,
                void *user) {
    for (int i = 0; i < m->n_graphs; i++) {
        const Graph *g = m->graphs[i];
        const Tensor **inputs = check_inputs_of(c, g, w->exact);
        int64_t rows = g->n_inputs && inputs[0]->rank ? inputs[0]->dim[0] : 1;
        set_sizes(g, w->exact, rows), set_sizes(g, w->contract, rows);
        interpret_both_graph(w, g, inputs, pass_on, &(GraphWalk){c, visit, user});
        EACH_NODE(n, g)
            if (n->op == OP_cache_append && attr_int(n->in[0], "memory", 0))
                c->memory = check_size(n->in[1]->type.dim[0], w->exact);
    }
}
