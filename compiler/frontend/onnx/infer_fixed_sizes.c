// Open sizes of a graph that its constants determine: a table of positions for 16 patches and a
// class token.
//
//   pixel_values [batch, 3, height, width], patches of 8 x 8 and a token more: [batch, (height // 8) * (width // 8) + 1, 64]
//   plus a constant [1, 17, 64]: height and width are 32, the least square image of whole patches that fits
//
// Channels come from the weights of a convolution. The symbols become constants everywhere: in the
// nodes imported so far, and in the options, for later nodes.
#include "frontend/onnx/scope.h"

enum { MOST_SYMBOLS = 2, LARGEST_FACTOR = 1024 };

typedef struct Symbols {
    const Dim *symbol[MOST_SYMBOLS];
    int n;        // more than MOST_SYMBOLS: too many
    int64_t all;  // the value of each
} Symbols;

static void collect(const Dim *d, Symbols *s) {
    if (d->kind == DIM_SYMBOL) {
        for (int i = 0; i < s->n && i < MOST_SYMBOLS; i++)
            if (s->symbol[i] == d) return;
        if (s->n < MOST_SYMBOLS) s->symbol[s->n] = d;
        s->n++;
    } else if (d->a) {
        collect(d->a, s);
        collect(d->b, s);
    }
}

static int64_t value_of(const Dim *symbol, void *user) {
    (void)symbol;
    return ((const Symbols *)user)->all;
}

// Returns true if the size is a multiple of the expression's divisors. (An image of whole patches.)
static bool is_whole(const Dim *d, int64_t size) {
    int64_t by;
    if (!d->a) return true;
    if (d->kind == DIM_FLOORDIV && dim_is_const(d->b, &by) && by > 0 && size % by) return false;
    return is_whole(d->a, size) && is_whole(d->b, size);
}

// The least size for each of the symbols that gives the expression its value, a whole one if there
// is.
static bool solve(const Dim *d, int64_t value, Symbols *s) {
    *s = (Symbols){0};
    if (d->kind == DIM_SYMBOL || d->kind == DIM_CONST) return false;
    collect(d, s);
    if (!s->n || s->n > MOST_SYMBOLS) return false;
    int64_t low = s->symbol[0]->lower, high = s->symbol[0]->value;
    for (int i = 1; i < s->n; i++) {
        if (s->symbol[i]->lower > low) low = s->symbol[i]->lower;
        if (s->symbol[i]->value < high) high = s->symbol[i]->value;
    }
    int64_t least = 0;
    for (s->all = low; s->all <= high; s->all++) {
        if (dim_eval(d, value_of, s) != value) continue;
        if (is_whole(d, s->all)) return true;
        if (!least) least = s->all;
    }
    s->all = least;
    return least > 0;
}

// ------------------------------------------------------------------------------------ substitution
static void fix_option(OnnxImport *m, const Dim *symbol, int64_t size) {
    OnnxOptions *own = ARENA_NEW(m->graph->arena, OnnxOptions);
    OnnxDim *dims = ARENA_ARRAY(m->graph->arena, OnnxDim, (size_t)m->options->n_dims + 1);
    *own = *m->options;
    dims[0] = (OnnxDim){
        .name = symbol->name, .lower = size, .upper = size};  // the first of a name counts
    for (int i = 0; i < own->n_dims; i++) dims[i + 1] = m->options->dims[i];
    own->dims = dims, own->n_dims++;
    m->options = own;
}

static void fix_elements(OnnxImport *m, const Dim *symbol, const Dim *size) {
    for (int i = 0; i < m->values.n; i++) {
        OnnxValue *v = m->values.entries[i].value;
        const Dim **elements =
            v->elements ? ARENA_ARRAY(m->graph->arena, const Dim *, v->n + 1) : NULL;
        for (int j = 0; elements && j < v->n; j++)
            elements[j] = dim_substitute(m->graph, v->elements[j], symbol, size);
        v->elements = elements;
    }
}

static void fix_nodes(Graph *g, const Node *except, const Dim *symbol, const Dim *size) {
    EACH_NODE(n, g) {
        substitute_dims(n, symbol, size);
        if (n == except) continue;  // its type is yet to come
        for (const Attr *a = n->attrs; a; a = a->next)
            if (a->kind == ATTR_GRAPH) fix_nodes(a->graph, NULL, symbol, size);
        for (int i = 0; n->op == OP_input && i < n->type.rank; i++)
            n->type.dim[i] = dim_substitute(g, n->type.dim[i], symbol, size);
        if (n->op != OP_input && !node_infer(n)) diag_stop();
    }
}

// A branch that is taken, and a short loop, are written out in the main graph itself.
bool onnx_is_main_graph(const OnnxCall *c) {
    for (const OnnxImport *m = c->import; m; m = m->outer)
        if (m->function || (m->outer && m->outer->graph != m->graph)) return false;
    return true;
}

void onnx_fix_size(OnnxCall *c, const Node *except, const Dim *symbol, const Dim *size) {
    int64_t value;
    for (OnnxImport *m = c->import; m; m = m->outer) {
        if (dim_is_const(size, &value)) fix_option(m, symbol, value);
        fix_elements(m, symbol, size);
    }
    fix_nodes(c->graph, except, symbol, size);
}

void onnx_infer_fixed_size(OnnxCall *c, const Dim *d, int64_t value) {
    if (d->kind == DIM_SYMBOL && d->lower <= value && value <= d->value && onnx_is_main_graph(c))
        onnx_fix_size(c, NULL, d, dim_const(c->graph, value));
}

// Extents of one axis of two operands: one is a constant that the other, an expression, must reach.
static bool infer_axis(OnnxCall *c, const Node *n, const Dim *d, const Dim *constant) {
    int64_t value;
    Symbols s;
    if (!dim_is_const(constant, &value) || value == 1 || !solve(d, value, &s)) return false;
    for (int i = 0; i < s.n; i++) {
        const char *name = s.symbol[i]->name;
        onnx_fix_size(c, n, s.symbol[i], dim_const(c->graph, s.all));
        onnx_note(
            c,
            "\"%s\" is taken to be %lld, which fits the constants here: --dim=%s=N says otherwise",
            name, (long long)s.all, name);
    }
    return true;
}

// --------------------------------------------------------------------------------------- multiples
// Symbols that a reshape divides without a rest: T // 8 blocks of 8 hold all of T only where T is 8
// times a number.
static void collect_divided(const Dim *d, Symbols *out) {
    if (!d->a) return;
    if (d->kind == DIM_FLOORDIV) collect(d->a, out);
    collect_divided(d->a, out);
    collect_divided(d->b, out);
}

// Returns true if the symbol may count sequences: the first of several axes of an input.
bool onnx_is_batch(const OnnxCall *c, const Dim *symbol) {
    for (int i = 0; i < c->graph->n_inputs; i++) {
        const Type *t = &c->graph->inputs[i]->type;
        if (t->rank > 1 && t->dim[0] == symbol) return true;
    }
    return false;
}

// As numbers: do both come to the same where every size is a multiple of the factor?
static bool same_at_multiples(const Dim *a, const Dim *b, int64_t factor) {
    Symbols s = {0};
    for (int i = 1; i <= 3; i++) {
        s.all = i * factor;
        if (dim_eval(a, value_of, &s) != dim_eval(b, value_of, &s)) return false;
    }
    return true;
}

static const Dim *multiple_of(Graph *g, const Dim *symbol, int64_t factor) {
    const char *name = arena_printf(g->arena, "%s_by_%lld", symbol->name, (long long)factor);
    int64_t lower = (symbol->lower + factor - 1) / factor, upper = symbol->value / factor;
    return dim_binary(g, DIM_MUL, dim_const(g, factor), dim_symbol(g, name, lower, upper));
}

static bool infer_multiple(OnnxCall *c, const Node *n, const Dim *const count[2], const Symbols *s,
                           int64_t factor) {
    const Dim *with[2] = {count[0], count[1]}, *multiple[MOST_SYMBOLS];
    for (int i = 0; i < s->n; i++) {
        if (s->symbol[i]->value < factor) return false;
        multiple[i] = multiple_of(c->graph, s->symbol[i], factor);
        for (int j = 0; j < 2; j++)
            with[j] = dim_substitute(c->graph, with[j], s->symbol[i], multiple[i]);
    }
    if (with[0] != with[1]) return false;
    for (int i = 0; i < s->n; i++) {
        onnx_fix_size(c, n, s->symbol[i], multiple[i]);
        onnx_note(c, "\"%s\" is taken to be a multiple of %lld, which alone fits here",
                  s->symbol[i]->name, (long long)factor);
    }
    return true;
}

static bool infer_factor(OnnxCall *c, const Node *n, const Dim *const count[2], const Symbols *s) {
    for (int64_t factor = 2; s->n && factor <= LARGEST_FACTOR; factor++)
        if (same_at_multiples(count[0], count[1], factor) && infer_multiple(c, n, count, s, factor))
            return true;
    return false;
}

// The number of sequences stays free where lengths alone can make blocks whole.
static bool infer_whole_blocks(OnnxCall *c, const Node *n, const Dim *const count[2]) {
    Symbols divided = {0}, lengths = {0};
    for (int i = 0; i < 2; i++) collect_divided(count[i], &divided);
    if (!divided.n || divided.n > MOST_SYMBOLS) return false;
    for (int i = 0; i < divided.n; i++)
        if (!onnx_is_batch(c, divided.symbol[i])) lengths.symbol[lengths.n++] = divided.symbol[i];
    return infer_factor(c, n, count, &lengths) || infer_factor(c, n, count, &divided);
}

// f32[1, 12, 32] as [1, T, 384 // T]: the trace had 12, and the file takes nothing else.
static bool infer_traced(OnnxCall *c, const Node *n, const Type *after, const Dim *const count[2]) {
    const Type *before = &n->in[0]->type;
    for (int i = 0; i < before->rank && i < after->rank; i++) {
        const Dim *symbol = after->dim[i], *size = before->dim[i];
        int64_t value;
        if (symbol->kind != DIM_SYMBOL || !dim_is_const(size, &value)) continue;
        if (dim_substitute(c->graph, count[0], symbol, size) !=
            dim_substitute(c->graph, count[1], symbol, size))
            continue;
        onnx_infer_fixed_size(c, symbol, value);
        onnx_note(c, "\"%s\" is taken to be %lld, as in the trace that the file was made of",
                  symbol->name, (long long)value);
        return true;
    }
    return false;
}

static void infer_reshape(OnnxCall *c, const Node *n) {
    Type after = {0};
    const Dim *const *shape = attr_dims(n, "shape", &after.rank);
    if (!shape || after.rank > MAX_RANK) return;
    for (int i = 0; i < after.rank; i++) after.dim[i] = shape[i];
    const Dim *count[2] = {type_count(c->graph, &n->in[0]->type), type_count(c->graph, &after)};
    if (count[0] == count[1] || infer_whole_blocks(c, n, count) ||
        infer_traced(c, n, &after, count))
        return;
    onnx_unify_sizes(c, n, count[0], count[1]);
}

// ---------------------------------------------------------------------------------------- operands
// A graph exported for a batch of one may still name its batch.
static bool may_be_one(const OnnxCall *c, const Dim *x, const Dim *y) {
    return x->kind == DIM_SYMBOL && y->kind == DIM_SYMBOL &&
           onnx_is_batch(c, x) != onnx_is_batch(c, y);
}

// Two extents of which none is 1: an expression and its constant, two names of one size, or those
// of an image and of its halves made twice as large, 2 * ((h + 1) // 2), which meet where h is
// even.
static void infer_equal(OnnxCall *c, const Node *n, const Dim *x, const Dim *y) {
    if (x == y || infer_axis(c, n, x, y) || infer_axis(c, n, y, x) || onnx_unify_sizes(c, n, x, y))
        return;
    infer_whole_blocks(c, n, (const Dim *[]){x, y});
}

void onnx_infer_equal_sizes(OnnxCall *c, const Dim *x, const Dim *y) {
    if (onnx_is_main_graph(c)) infer_equal(c, NULL, x, y);
}

static void infer_broadcast(OnnxCall *c, const Node *n, const Type *a, const Type *b, int behind) {
    for (int j = behind + 1; j <= a->rank && j <= b->rank; j++) {
        const Dim *x = a->dim[a->rank - j], *y = b->dim[b->rank - j];
        if (!dim_broadcast(c->graph, x, y) && !may_be_one(c, x, y)) infer_equal(c, n, x, y);
    }
}

void onnx_infer_broadcast_sizes(OnnxCall *c, const Type *a, const Type *b) {
    if (onnx_is_main_graph(c)) infer_broadcast(c, NULL, a, b, 0);
}

static void infer_matmul(OnnxCall *c, const Node *n) {
    const Type *a = &n->in[0]->type, *b = &n->in[1]->type;
    if (a->rank < 2 || b->rank < 2) return;
    infer_equal(c, n, a->dim[a->rank - 1], b->dim[b->rank - 2]);
    infer_broadcast(c, n, a, b, 2);
}

static void infer_concat(OnnxCall *c, const Node *n) {
    const Type *a = &n->in[0]->type;
    for (int i = 1; i < n->n_in; i++)
        for (int j = 0; j < a->rank && n->in[i]->type.rank == a->rank; j++)
            if (j != attr_int(n, "axis", 0)) infer_equal(c, n, a->dim[j], n->in[i]->type.dim[j]);
}

void onnx_infer_fixed_sizes(OnnxCall *c, const Node *n) {
    if (!onnx_is_main_graph(c)) return;
    if (n->op == OP_reshape) infer_reshape(c, n);
    if (n->op == OP_matmul) infer_matmul(c, n);
    if (n->op == OP_concat) infer_concat(c, n);
    for (int i = 0; op_is_elementwise(n->op) && i + 1 < n->n_in; i++)
        for (int j = i + 1; j < n->n_in; j++)
            infer_broadcast(c, n, &n->in[i]->type, &n->in[j]->type, 0);
}

// -------------------------------------------------------------------------- what cannot be implied
static bool broadcasts_with(const OnnxCall *c, const Node *n, const Dim *symbol, const Dim *size) {
    Type all = {.dtype = n->in[0]->type.dtype};
    for (int i = 0; i < n->n_in; i++) {
        Type type = n->in[i]->type, so_far = all;
        for (int j = 0; j < type.rank; j++)
            type.dim[j] = dim_substitute(c->graph, type.dim[j], symbol, size);
        if (!type_broadcast(c->graph, &so_far, &type, &all)) return false;
    }
    return true;
}

static const Dim *symbol_that_is_one(const OnnxCall *c, const Node *n) {
    for (int i = 0; i < n->n_in; i++) {
        for (int j = 0; j < n->in[i]->type.rank; j++) {
            const Dim *d = n->in[i]->type.dim[j];
            if (d->kind == DIM_SYMBOL && broadcasts_with(c, n, d, dim_const(c->graph, 1))) return d;
        }
    }
    return NULL;
}

void onnx_check_broadcast(const OnnxCall *c, const Node *n) {
    const Dim *one = op_is_elementwise(n->op) && !broadcasts_with(c, n, NULL, NULL)
                         ? symbol_that_is_one(c, n)
                         : NULL;
    if (!one) return;
    Text operands = {0};
    for (int i = 0; i < n->n_in; i++)
        text_add(&operands, "%s%s", i ? ", " : "", type_text(&n->in[i]->type));
    onnx_fatal(c,
               "shapes do not broadcast unless \"%s\" is 1\nnote: operands are %s\nhint: "
               "--dim=%s=1, if it never is another",
               one->name, arena_strdup(c->graph->arena, operands.data), one->name);
}
