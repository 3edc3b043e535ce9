// The interpreter's frame: values, symbols, states; running one node, a graph, or a constant. The
// ops are in eval_*.c.
#include "ir/eval/eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/eval/eval_internal.h"
#include "ir/format.h"

// ------------------------------------------------------------------------------------------ values
int64_t value_count(const Value *v) {
    int64_t n = 1;
    for (int i = 0; i < v->rank; i++) n *= v->dim[i];
    return n;
}

void value_set_dense(Value *v) {
    int64_t stride = 1;
    for (int i = v->rank; i-- > 0; stride *= v->dim[i]) v->stride[i] = stride;
}

bool value_is_dense(const Value *v) {
    int64_t stride = 1;
    for (int i = v->rank; i-- > 0; stride *= v->dim[i])
        if (v->dim[i] != 1 && v->stride[i] != stride) return false;
    return true;
}

static uint64_t value_bytes(const Value *v) {
    return dtype_bytes(v->dtype, storage_units_of(v->dtype, v->rank, v->dim));
}

Value eval_fresh(EvalContext *c, DType dtype, int rank, const int64_t *dim) {
    Value v = {.dtype = dtype, .rank = rank};
    memcpy(v.dim, dim, (size_t)rank * sizeof *dim);
    value_set_dense(&v);
    v.data = arena_alloc(c->arena, value_bytes(&v));
    return v;
}

static const char *at_element(const Value *v, int64_t i) {
    return (const char *)v->data + i * (dtype_bits(v->dtype) / 8);
}

typedef struct {
    const Format *format;
    const void *data;
    int64_t first, n, stride;  // in elements
} BlockRun;

// The values of blocks, as floats of a type of whole bytes.
static void copy_blocks(DType to, char *out, const BlockRun *r) {
    float values[FORMAT_BLOCK];
    for (int64_t i = 0; i < r->n; i += FORMAT_BLOCK) {
        int64_t n = r->n - i < FORMAT_BLOCK ? r->n - i : FORMAT_BLOCK;
        format_read(r->format, r->data, r->first + i * r->stride, r->stride, n, values);
        convert_elements(to, out + i * (dtype_bits(to) / 8), DT_f32, values, n);
    }
}

// n elements from index `first` with a stride, to elements `at` and on of a dense array.
static void copy_run(DType to, void *out, int64_t at, const Value *v, int64_t first, int64_t n,
                     int64_t stride) {
    const Format *f = format_of(v->dtype);
    if (f && to == v->dtype) {  // whole rows of blocks
        memcpy((char *)out + at / f->block * f->bytes,
               (const char *)v->data + first / f->block * f->bytes,
               (size_t)(n / f->block * f->bytes));
        return;
    }
    if (f)
        return copy_blocks(to, (char *)out + at * (dtype_bits(to) / 8),
                           &(BlockRun){f, v->data, first, n, stride});
    bool whole_bytes = dtype_bits(to) >= 8 && dtype_bits(v->dtype) >= 8;
    if (whole_bytes && stride == 1) {
        convert_elements(to, (char *)out + at * (dtype_bits(to) / 8), v->dtype,
                         at_element(v, first), n);
    } else if (whole_bytes && to == v->dtype) {
        size_t size = (size_t)dtype_bits(to) / 8;
        char *o = (char *)out + (size_t)at * size;
        for (int64_t i = 0; i < n; i++)
            memcpy(o + (size_t)i * size, at_element(v, first + i * stride), size);
    } else if (whole_bytes && !(dtype_is_float(to) || dtype_is_float(v->dtype))) {
        for (int64_t i = 0; i < n; i++)
            convert_elements(to, (char *)out + (at + i) * (dtype_bits(to) / 8), v->dtype,
                             at_element(v, first + i * stride), 1);
    } else {
        for (int64_t i = 0; i < n; i++)
            dtype_store(to, out, at + i, dtype_load(v->dtype, v->data, first + i * stride));
    }
}

void value_copy(DType to, void *out, const Value *v) {
    int64_t n = value_count(v), index[MAX_RANK] = {0}, first = v->offset;
    if (!n) return;
    if (value_is_dense(v)) return copy_run(to, out, 0, v, first, n, 1);
    int last = v->rank - 1;
    for (int64_t at = 0; at < n; at += v->dim[last]) {
        copy_run(to, out, at, v, first, v->dim[last], v->stride[last]);
        for (int i = last - 1; i >= 0; i--) {
            first += v->stride[i];
            if (++index[i] < v->dim[i]) break;
            first -= v->stride[i] * v->dim[i];
            index[i] = 0;
        }
    }
}

void value_put(const Value *to, int64_t at, const Value *from, int64_t i) {
    size_t size = (size_t)dtype_bits(to->dtype) / 8;
    if (size)
        memcpy((char *)value_out(to) + (size_t)at * size, at_element(from, i), size);
    else
        dtype_store(to->dtype, value_out(to), at, dtype_load(from->dtype, from->data, i));
}

void value_assign(const Value *to, const Value *from) {
    int64_t at = to->offset, source = from->offset;
    for (int64_t n = 0, count = value_count(from), rest; n < count; n++) {
        at = to->offset, source = from->offset, rest = n;
        for (int i = from->rank; i-- > 0; rest /= from->dim[i]) {
            at += rest % from->dim[i] * to->stride[i];
            source += rest % from->dim[i] * from->stride[i];
        }
        value_put(to, at, from, source);
    }
}

const void *value_dense(EvalContext *c, const Value *v, DType dtype) {
    bool bytes = dtype_bits(v->dtype) >= 8 || !v->offset;
    if (v->dtype == dtype && value_is_dense(v) && bytes) return at_element(v, v->offset);
    void *copy = arena_alloc(c->arena, dtype_bytes(dtype, value_count(v)));
    value_copy(dtype, copy, v);
    return copy;
}

Value value_broadcast(const Value *v, int rank, const int64_t *dim) {
    Value b = *v;
    b.rank = rank;
    int shift = rank - v->rank;
    for (int i = 0; i < rank; i++) {
        bool own = i >= shift && v->dim[i - shift] == dim[i];
        b.dim[i] = dim[i];
        b.stride[i] = own ? v->stride[i - shift] : 0;
    }
    return b;
}

// Data that a file does not align is copied.
static Value value_of_tensor(EvalContext *c, const Tensor *t) {
    Value v = {.dtype = t->dtype, .rank = t->rank, .data = t->data};
    memcpy(v.dim, t->dim, sizeof v.dim);
    value_set_dense(&v);
    uintptr_t element = dtype_bits(t->dtype) >= 8 ? (uintptr_t)dtype_bits(t->dtype) / 8 : 1;
    if ((uintptr_t)t->data % element == 0) return v;
    void *aligned = arena_alloc(c->arena, t->bytes);
    memcpy(aligned, t->data, t->bytes);
    v.data = aligned;
    return v;
}

static Tensor *value_tensor(EvalContext *c, const Value *v) {
    Tensor *t = ARENA_NEW(c->arena, Tensor);
    *t = (Tensor){.dtype = v->dtype, .rank = v->rank, .bytes = value_bytes(v)};
    memcpy(t->dim, v->dim, sizeof t->dim);
    t->data = dtype_is_rows(v->dtype) ? v->data : value_dense(c, v, v->dtype);
    return t;
}

DType eval_stored(const EvalContext *c, DType t) {
    return c->mode == EVAL_F64 && dtype_is_float(t) ? DT_f64 : t;
}
DType eval_real(const EvalContext *c, DType t) {
    return c->mode == EVAL_F64 || t == DT_f64 ? DT_f64 : DT_f32;
}

// ----------------------------------------------------------------------------------------- symbols
void eval_bind(EvalContext *c, const char *name, int64_t value) {
    int i = 0;
    while (i < c->n_symbols && strcmp(c->symbols[i].name, name)) i++;
    if (i == MAX_SYMBOLS) diag_fatal(NO_LOC, "more than %d symbols", MAX_SYMBOLS);
    if (i == c->n_symbols) c->symbols[c->n_symbols++].name = arena_strdup(c->kept, name);
    c->symbols[i].value = value;
}

int64_t eval_symbol(const EvalContext *c, const char *name) {
    for (int i = 0; i < c->n_symbols; i++)
        if (!strcmp(c->symbols[i].name, name)) return c->symbols[i].value;
    return 0;
}

void eval_set_symbol(EvalContext *c, const char *name, int64_t value) { eval_bind(c, name, value); }

typedef struct {
    EvalContext *context;
    const Node *node;
} SymbolReader;

static int64_t symbol_value(const Dim *symbol, void *user) {
    const SymbolReader *r = user;
    for (int i = 0; i < r->context->n_symbols; i++)
        if (!strcmp(r->context->symbols[i].name, symbol->name)) return r->context->symbols[i].value;
    diag_fatal(r->node->loc,
               "the size %s of %%%s has no value\nhint: give the inputs whose shape tells it",
               symbol->name, r->node->name);
}

int64_t eval_dim(EvalContext *c, const Node *n, const Dim *d) {
    return dim_eval(d, symbol_value, &(SymbolReader){c, n});
}

static const Dim *first_symbol(const Dim *d) {
    if (!d->a) return d->kind == DIM_SYMBOL ? d : NULL;
    const Dim *symbol = first_symbol(d->a);
    return symbol ? symbol : first_symbol(d->b);
}

// Binds the symbols that a type's extents show (T, 2 * T + 1) to the sizes of a value of that type.
static void bind_shape(EvalContext *c, Graph *g, const Type *type, const Value *v) {
    for (int i = 0; i < type->rank && i < v->rank; i++) {
        const Dim *d = type->dim[i], *symbol = first_symbol(d);
        int64_t factor, offset;
        if (symbol && dim_is_line(g, d, symbol, &factor, &offset))
            eval_bind(c, symbol->name, (v->dim[i] - offset) / factor);
    }
}

void eval_set_shape(EvalContext *c, const Node *n, const Tensor *t) {
    Value v = {.rank = t->rank};
    memcpy(v.dim, t->dim, sizeof v.dim);
    bind_shape(c, n->graph, &n->type, &v);
}

Value *eval_result(EvalContext *c, const Node *n) {
    int64_t dim[MAX_RANK];
    for (int i = 0; i < n->type.rank; i++) dim[i] = eval_dim(c, n, n->type.dim[i]);
    c->out = eval_fresh(c, eval_stored(c, n->type.dtype), n->type.rank, dim);
    return &c->out;
}

// ------------------------------------------------------------------------------------------ states
// As many slots as the caller asked for with eval_set_symbol, else the least: one.
static int64_t state_size(const Dim *symbol, void *user) {
    const EvalContext *c = user;
    for (int i = 0; i < c->n_symbols; i++)
        if (!strcmp(c->symbols[i].name, symbol->name)) return c->symbols[i].value;
    return symbol->lower > 1 ? symbol->lower : 1;
}

static void fill_nan(const Value *v) {
    for (int64_t i = 0, n = value_count(v); i < n; i++) dtype_store(v->dtype, value_out(v), i, NAN);
}

// An encoder's state is one state in two graphs.
static bool same_state(const Node *a, const Node *b) {
    return a == b || (attr_int(a, "memory", 0) && attr_int(b, "memory", 0) &&
                      attr_int(a, "layer", 0) == attr_int(b, "layer", 0) &&
                      !strcmp(attr_string(a, "kind", ""), attr_string(b, "kind", "")));
}

static Value *find_state(EvalContext *c, const Node *n) {
    for (int i = 0; i < c->n_states; i++)
        if (same_state(c->states[i].node, n)) return &c->states[i].value;
    int64_t dim[MAX_RANK];
    for (int i = 0; i < n->type.rank; i++) dim[i] = dim_eval(n->type.dim[i], state_size, c);
    EvalState *states = ARENA_ARRAY(c->kept, EvalState, c->n_states + 1);
    if (c->n_states) memcpy(states, c->states, (size_t)c->n_states * sizeof *states);
    c->states = states;
    Arena *run = c->arena;
    c->arena = c->kept;
    states[c->n_states].node = n;
    DType rounded = dtype_is_block(n->type.dtype) ? DT_f32 : n->type.dtype;  // values of the blocks
    states[c->n_states].value = eval_fresh(c, eval_stored(c, rounded), n->type.rank, dim);
    c->arena = run;
    fill_nan(&states[c->n_states].value);
    return &states[c->n_states++].value;
}

// ------------------------------------------------------------------------------------------ leaves
void eval_given(EvalContext *c, Node *n) {
    if (n->op != OP_state) diag_fatal(n->loc, "the input %%%s has no value", n->name);
    c->out = *find_state(c, n);
}

void eval_constant(EvalContext *c, Node *n) {
    if (!n->value || !n->value->data)
        diag_fatal(n->loc,
                   "the data of the constant %%%s is not here\nhint: keep the file \"constants\" "
                   "beside the dump",
                   n->name);
    c->out = value_of_tensor(c, n->value);
}

void eval_item(EvalContext *c, Node *n) { c->out = c->in[0]->items[attr_int(n, "index", 0)]; }

// ---------------------------------------------------------------------------------------- contexts
EvalContext *eval_new(EvalMode mode) {
    Arena *kept = arena_new();
    EvalContext *c = ARENA_NEW(kept, EvalContext);
    *c = (EvalContext){.mode = mode, .arena = arena_new(), .kept = kept};
    return c;
}

void eval_free(EvalContext *c) {
    if (!c) return;
    arena_free(c->arena);
    arena_free(c->kept);
}

static void start_run(EvalContext *c) {
    arena_free(c->arena);
    c->arena = arena_new();
    c->values = NULL;
}

// Evaluates a node whose operands are in c->in.
static void run_node(EvalContext *c, Node *n, const Value **in) {
    c->in = in;
    c->out = (Value){0};
    op_info[n->op].eval(c, n);
}

// The value of an operand that was not given: constants, packs, items and what depends on nothing
// else.
static Value value_from_graph(EvalContext *c, Node *n) {
    const Value **in = ARENA_ARRAY(c->arena, const Value *, n->n_in);
    Value *values = ARENA_ARRAY(c->arena, Value, n->n_in);
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i]) continue;
        values[i] = value_from_graph(c, n->in[i]);
        in[i] = &values[i];
    }
    run_node(c, n, in);
    return c->out;
}

void eval_alone(EvalContext *c, Node *n, const Tensor *const *operands) {
    start_run(c);
    const Value **in = ARENA_ARRAY(c->arena, const Value *, n->n_in);
    Value *values = ARENA_ARRAY(c->arena, Value, n->n_in);
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i]) continue;
        if (operands && operands[i]) {
            values[i] = value_of_tensor(c, operands[i]);
            bind_shape(c, n->graph, &n->in[i]->type, &values[i]);
        } else {
            values[i] = value_from_graph(c, n->in[i]);
        }
        in[i] = &values[i];
    }
    run_node(c, n, in);
}

const Tensor *eval_node(EvalContext *c, Node *n, const Tensor *const *operands, int item) {
    eval_alone(c, n, operands);
    return value_tensor(c, c->out.items ? &c->out.items[item] : &c->out);
}

// The nodes in order; values by their numbers, those of the inputs are there.
static void run_graph(EvalContext *c, const Graph *g, Value *values) {
    int most = 1;
    EACH_NODE(n, g) most = n->n_in > most ? n->n_in : most;
    const Value **in = ARENA_ARRAY(c->arena, const Value *, most);
    EACH_NODE(n, g) {
        if (n->op == OP_input) continue;
        for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] ? &values[n->in[i]->mark] : NULL;
        run_node(c, n, in);
        values[n->mark] = c->out;
    }
}

static int number_nodes(const Graph *g) {
    int n_nodes = 0;
    EACH_NODE(n, g) n->mark = n_nodes++;
    return n_nodes;
}

static void give_input(EvalContext *c, const Node *input, const Value *v, Value *values) {
    values[input->mark] = *v;
    bind_shape(c, input->graph, &input->type, v);
}

void eval_body(EvalContext *c, const Graph *body, const Value *inputs, Value *results) {
    Value *values = ARENA_ARRAY(c->arena, Value, number_nodes(body) + 1);
    for (int i = 0; i < body->n_inputs; i++) give_input(c, body->inputs[i], &inputs[i], values);
    run_graph(c, body, values);
    for (int i = 0; i < body->n_outputs; i++) results[i] = values[body->outputs[i]->mark];
}

void eval_graph(EvalContext *c, const Graph *g, const Tensor *const *inputs,
                const Tensor **outputs) {
    start_run(c);
    c->n_values = number_nodes(g);
    c->values = ARENA_ARRAY(c->arena, Value, c->n_values + 1);
    for (int i = 0; i < g->n_inputs; i++) {
        Value v = value_of_tensor(c, inputs[i]);
        give_input(c, g->inputs[i], &v, c->values);
    }
    run_graph(c, g, c->values);
    for (int i = 0; i < g->n_outputs; i++)
        outputs[i] = value_tensor(c, &c->values[g->outputs[i]->mark]);
}

const Tensor *eval_traced(EvalContext *c, const Node *n) {
    if (!c->values || n->mark >= c->n_values) return NULL;
    const Value *v = &c->values[n->mark];
    return v->packed || v->items || !v->data ? NULL : value_tensor(c, v);
}

// A view of an operand's own data: it need not be copied.
static bool is_inside(const Node *n, const Tensor *t) {
    for (int i = 0; i < n->n_in; i++) {
        const Tensor *x = n->in[i] ? n->in[i]->value : NULL;
        const char *from = x ? x->data : NULL, *at = t->data;
        if (x && at >= from && at + t->bytes <= from + x->bytes) return true;
    }
    return false;
}

const Tensor *eval_constant_node(Node *n) {
    for (int i = 0; i < n->type.rank; i++)
        if (!dim_is_const(n->type.dim[i], NULL)) return NULL;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && (n->in[i]->op != OP_constant || !n->in[i]->value)) return NULL;
    if (n->type.dtype == DT_tuple || n->op == OP_input || n->op == OP_state || n->op == OP_random ||
        n->op == OP_pack)
        return NULL;
    EvalContext *c = eval_new(EVAL_F32);
    const Tensor *result = eval_node(c, n, NULL, 0);
    Tensor *t = ARENA_NEW(n->graph->arena, Tensor);
    *t = *result;
    if (!is_inside(n, t)) {
        void *data = arena_alloc(n->graph->arena, t->bytes);
        if (t->bytes) memcpy(data, result->data, t->bytes);
        t->data = data;
    }
    eval_free(c);
    return t;
}
