// Random small graphs of all ops, as compiled cases: random_graphs OUT FIRST COUNT. Case N is made
// of the seed N alone: values of a few shapes, views of them, and ops over them; the operands of an
// op are drawn until its types fit. The passes must keep a graph's values, and the program must
// equal the interpreter. Lines like those of `conformance --emit`.
#include <fcntl.h>

#include "graph_values.h"
#include "ir/operands.h"

enum { FEWEST_OPS = 3, MORE_OPS = 10, TRIES = 60, MOST_VALUES = 128, HEADS = 2 };

typedef struct Maker {
    Graph *g;
    uint64_t state;
    Node *value[MOST_VALUES];
    int n;
    const Dim *rows, *batch;         // data-dependent sizes
    const Dim *symbol[MOST_VALUES];  // that values decide
    int symbols;
} Maker;

static int draw(Maker *m, int n) { return (int)(next_random(&m->state) % (uint32_t)n); }
static bool chance(Maker *m, int percent) { return draw(m, 100) < percent; }

// ------------------------------------------------------------------------------------------ leaves
static const Dim *draw_dim(Maker *m) {
    static const int sizes[] = {1, 2, 3, 4, 5, 8, 16, 17};
    int kind = draw(m, 10);
    return kind < 3 ? m->rows : kind == 3 ? m->batch : dim_const(m->g, sizes[draw(m, 8)]);
}

// Mostly shapes that were there before, or end as they do: so that operands fit each other.
static Type draw_type(Maker *m, DType dtype) {
    Type t = {.dtype = dtype, .rank = draw(m, 4)};
    for (int i = 0; i < t.rank; i++) t.dim[i] = draw_dim(m);
    if (!m->n || chance(m, 30)) return t;
    t = m->value[draw(m, m->n)]->type;
    if (t.rank > 1 && chance(m, 30)) {
        memmove(t.dim, t.dim + 1, sizeof t.dim - sizeof *t.dim);
        t.rank--;
    }
    if (t.rank > 1 && chance(m, 30)) {
        const Dim *last = t.dim[t.rank - 1];
        t.dim[t.rank - 1] = t.dim[t.rank - 2];
        t.dim[t.rank - 2] = last;
    }
    if (t.rank && chance(m, 15)) t.dim[draw(m, t.rank)] = dim_const(m->g, 1);
    t.dtype = dtype;
    return t;
}

static DType draw_dtype(Maker *m) {
    static const DType others[] = {DT_i64, DT_i32, DT_bool, DT_f16, DT_f64, DT_u8, DT_i8, DT_bf16};
    return chance(m, 65) ? DT_f32 : others[draw(m, 8)];
}

static Node *keep(Maker *m, Node *n) {
    if (n && m->n < MOST_VALUES) m->value[m->n++] = n;
    return n;
}

static bool is_constant_type(const Type *t) {
    for (int i = 0; i < t->rank; i++)
        if (!dim_is_const(t->dim[i], NULL)) return false;
    return true;
}

static Node *add_constant(Maker *m, const Type *t) {
    return node_constant(m->g, random_tensor(m->g->arena, t, 1, &m->state), NO_LOC, NULL);
}

static void forget_errors(void) {
    if (setjmp(*diag_guard()) == 0) diag_stop();
    diag_unguard();
}

// Operands that do not fit are no errors here.
static Node *finished(Node *n) {
    if (node_infer(n) && n->type.rank <= 6) {
        for (int i = 0; i < n->type.rank; i++)
            if (dim_lower(n->type.dim[i]) < 0 || dim_upper(n->type.dim[i]) > 64)
                return node_remove(n), NULL;
        return n;
    }
    node_remove(n);
    forget_errors();
    return NULL;
}

// A number, broadcast to the type.
static Node *add_filled(Maker *m, const Type *t) {
    static const double values[] = {0, 1, 2, -1};
    Node *x = node_scalar(
        m->g, t->dtype, t->dtype == DT_bool || t->dtype == DT_u8 ? draw(m, 2) : values[draw(m, 4)],
        NO_LOC, NULL);
    Node *n = node_make(m->g, OP_expand, NO_LOC, 1, &x, NULL);
    attr_set_dims(n, "shape", t->dim, t->rank);
    return finished(n);
}

// Sizes that values decide are not those of inputs.
static void without_data_dependent_sizes(Maker *m, Type *t) {
    for (int i = 0; i < t->rank; i++)
        for (int s = 0; s < m->symbols; s++)
            if (dim_has_symbol(t->dim[i], m->symbol[s])) t->dim[i] = m->rows;
}

static Node *add_leaf(Maker *m, DType dtype) {
    Type t = draw_type(m, dtype);
    without_data_dependent_sizes(m, &t);
    int kind = draw(m, 10);
    if (kind == 0) return keep(m, add_filled(m, &t));
    if (kind < 4 && is_constant_type(&t)) return keep(m, add_constant(m, &t));
    return keep(
        m, graph_add_input(m->g, arena_printf(m->g->arena, "in%d", m->g->n_inputs), t, NO_LOC));
}

// -------------------------------------------------------------------------------------- attributes
static int axis_for(Maker *m, const Node *n) {
    int rank = n->n_in && n->in[0] ? n->in[0]->type.rank : 0;
    return rank ? draw(m, rank) - (chance(m, 20) ? rank : 0) : 0;
}

static void set_axes(Maker *m, Node *n) {
    int64_t axes[MAX_RANK];
    int rank = n->in[0]->type.rank, count = 0;
    for (int i = 0; i < rank; i++)
        if (chance(m, 40)) axes[count++] = i;
    if (!count && rank) axes[count++] = rank - 1;
    attr_set_ints(n, "axes", axes, count);
}

static void set_perm(Maker *m, Node *n) {
    int64_t perm[MAX_RANK];
    int rank = n->in[0]->type.rank;
    for (int i = 0; i < rank; i++) {
        int j = draw(m, i + 1);
        perm[i] = perm[j];
        perm[j] = i;
    }
    attr_set_ints(n, "perm", perm, rank);
}

// A part of an axis, forwards or backwards, of neighbours or of every second.
static void set_slice(Maker *m, Node *n) {
    const Type *t = &n->in[0]->type;
    Graph *g = m->g;
    int axis = t->rank ? draw(m, t->rank) : 0;
    const Dim *size = t->rank ? t->dim[axis] : dim_const(g, 1), *one = dim_const(g, 1),
              *zero = dim_const(g, 0), *start = zero;
    const Dim *extent = size, *two = dim_const(g, 2);
    int64_t step = 1;
    switch (draw(m, 4)) {
        case 0:
            start = dim_sub(g, size, one);
            step = -1;
            break;
        case 1:
            step = 2;
            extent = dim_binary(g, DIM_FLOORDIV, dim_binary(g, DIM_ADD, size, one), two);
            break;
        case 2:
            start = one;
            extent = dim_sub(g, size, one);
            break;
        default:
            extent = one;
            start = chance(m, 50) ? zero : dim_sub(g, size, one);
    }
    attr_set_int(n, "axis", axis);
    attr_set_int(n, "step", step);
    attr_set_dims(n, "start", &start, 1);
    attr_set_dims(n, "extent", &extent, 1);
}

static void set_shape(Maker *m, Node *n) {
    const Type *t = &n->in[0]->type;
    const Dim *dims[MAX_RANK];
    int rank = 0, joined = draw(m, t->rank + 1);
    for (int i = 0; i < t->rank; i++) {
        if (n->op == OP_expand)
            dims[rank++] = dim_is(t->dim[i], 1) ? draw_dim(m) : t->dim[i];
        else if (i && i == joined)
            dims[rank - 1] = dim_binary(m->g, DIM_MUL, dims[rank - 1], t->dim[i]);
        else
            dims[rank++] = t->dim[i];
    }
    if (chance(m, 30) && rank < 4) {
        const Dim *first = n->op == OP_expand ? draw_dim(m) : dim_const(m->g, 1);
        memmove(dims + 1, dims, sizeof *dims * (size_t)rank++);
        dims[0] = first;
    }
    attr_set_dims(n, "shape", dims, rank);
}

static void set_pads(Maker *m, Node *n) {
    const Dim *low[MAX_RANK], *high[MAX_RANK];
    int rank = n->in[0]->type.rank;
    for (int i = 0; i < rank; i++) {
        low[i] = dim_const(m->g, draw(m, 3));
        high[i] = dim_const(m->g, draw(m, 3));
    }
    attr_set_dims(n, "low", low, rank);
    attr_set_dims(n, "high", high, rank);
}

static void set_windows(Maker *m, Node *n) {
    attr_set_ints(n, "kernel", (int64_t[]){1 + draw(m, 2)}, 1);
    attr_set_ints(n, "strides", (int64_t[]){1 + draw(m, 2)}, 1);
}

// The number of results, at most that of elements.
static const Dim *new_symbol(Maker *m, const Node *n) {
    int64_t most = dim_upper(type_count(m->g, &n->in[0]->type));
    if (m->symbols == MOST_VALUES) return dim_const(m->g, 1);
    const Dim *symbol = dim_symbol(m->g, arena_printf(m->g->arena, "n%d", m->symbols), 0, most);
    return m->symbol[m->symbols++] = symbol;
}

static void set_attribute(Maker *m, Node *n, const OpAttr *a) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", a->length, a->name);
    if (!strcmp(name, "axes")) set_axes(m, n);
    if (!strcmp(name, "perm")) set_perm(m, n);
    if (!strcmp(name, "start")) set_slice(m, n);
    if (!strcmp(name, "shape")) set_shape(m, n);
    if (!strcmp(name, "low")) set_pads(m, n);
    if (!strcmp(name, "kernel")) set_windows(m, n);
    if (!strcmp(name, "axis") && !attr_find(n, "axis") && n->op != OP_unique)
        attr_set_int(n, "axis", axis_for(m, n));
    if (!strcmp(name, "extent") && n->op == OP_top_k)
        attr_set_dims(n, "extent", (const Dim *[]){dim_const(m->g, 1 + draw(m, 2))}, 1);
    if (!strcmp(name, "extent") && op_info[n->op].rows == ROWS_MIX)
        attr_set_dims(n, "extent", (const Dim *[]){new_symbol(m, n)}, 1);
    if (!strcmp(name, "to")) attr_set_dtype(n, "to", draw_dtype(m));
    if (!strcmp(name, "epsilon")) attr_set_float(n, "epsilon", 1e-5);
    if (!strcmp(name, "scale")) attr_set_float(n, "scale", 0.25);
    if (!strcmp(name, "softcap") && chance(m, 20)) attr_set_float(n, "softcap", 5);
    if (!strcmp(name, "num_heads") || !strcmp(name, "num_kv_heads")) attr_set_int(n, name, HEADS);
    if (!strcmp(name, "back")) attr_set_int(n, "back", draw(m, 3));
    if (!strcmp(name, "reduction") && chance(m, 50))
        attr_set_string(n, "reduction", chance(m, 50) ? "add" : "max");
    static const char *const flags[] = {"keepdims",    "select_last_index", "exclusive",
                                        "reverse",     "largest",           "sorted",
                                        "interleaved", "center_point_box"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!strcmp(name, flags[i]) && chance(m, 50)) attr_set_int(n, name, draw(m, 2));
}

// --------------------------------------------------------------------------------------------- ops
// Ops of other passes' making, and those whose bodies are graphs.
static bool is_drawn(Op op) {
    static const Op left_out[] = {
        OP_input,       OP_constant,      OP_state,        OP_item,          OP_loop,
        OP_if,          OP_cache_append,  OP_key_products, OP_key_sums,      OP_random,
        OP_gather_rows, OP_quantize_rows, OP_pack,         OP_matmul_packed, OP_elementwise,
        OP_bit_cast,    OP_size,          OP_iota};
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (op == left_out[i]) return false;
    return true;
}

static bool takes_indices(Op op, int operand) {
    bool second = op == OP_gather || op == OP_gather_elements || op == OP_gather_nd ||
                  op == OP_scatter_elements || op == OP_scatter_nd;
    return second && operand == 1;
}

// Of the types that were there, or a leaf. Indices are leaves: their numbers are inside of any axis
// of two and more.
static Node *draw_operand(Maker *m, Op op, int operand, const Node *like) {
    if (takes_indices(op, operand)) {
        Node *x = NULL;
        while (!x || x->op == OP_expand) x = add_leaf(m, chance(m, 50) ? DT_i64 : DT_i32);
        return x;
    }
    for (int i = 0; i < 8; i++) {
        Node *x = m->value[draw(m, m->n)];
        if (x->type.dtype != DT_tuple && (!like || x->type.dtype == like->type.dtype)) return x;
    }
    return add_leaf(m, like ? like->type.dtype : draw_dtype(m));
}

// Symbols of other names may have the same value, but here they have not.
static bool updates_fit(const Type *x, const Type *index, const Type *updates) {
    int64_t depth;
    int outer = index->rank - 1;
    if (!dim_is_const(index->dim[outer], &depth) || depth > x->rank ||
        updates->rank != outer + x->rank - depth)
        return false;
    for (int i = 0; i < updates->rank; i++)
        if (updates->dim[i] != (i < outer ? index->dim[i] : x->dim[depth + i - outer]))
            return false;
    return true;
}

static bool indices_fit(const Node *n) {
    const Type *x = &n->in[0]->type;
    if (!takes_indices(n->op, 1)) return true;
    for (int i = 0; i < x->rank; i++)
        if (dim_lower(x->dim[i]) < 2) return false;
    bool by_element = n->op == OP_gather_elements || n->op == OP_scatter_elements;
    const Type *index = &n->in[1]->type,
               *last = &n->in[n->n_in - 1]->type;  // the updates, or the index
    for (int i = 0; by_element && i < x->rank; i++)
        if (index->rank != x->rank || dim_upper(index->dim[i]) > dim_lower(x->dim[i]) ||
            last->dim[i] != index->dim[i])
            return false;
    if (n->op == OP_scatter_nd && (!index->rank || !updates_fit(x, index, last))) return false;
    return x->rank > 0;
}

// A leaf of this type, half of the time seen through a view.
static Node *add_viewed(Maker *m, DType dtype, int rank, const Dim *const *dims) {
    Type t = type_of(dtype, rank, dims), from = t;
    bool turned = rank > 1 && chance(m, 30), one = rank && chance(m, 15);
    if (turned) {
        from.dim[rank - 1] = t.dim[rank - 2];
        from.dim[rank - 2] = t.dim[rank - 1];
    }
    if (one) from.dim[0] = dim_const(m->g, 1);
    Node *x = is_constant_type(&from) && chance(m, 40)
                  ? add_constant(m, &from)
                  : graph_add_input(m->g, arena_printf(m->g->arena, "in%d", m->g->n_inputs), from,
                                    NO_LOC);
    if (turned) {
        int64_t perm[MAX_RANK];
        for (int i = 0; i < rank; i++) perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
        x = node_make(m->g, OP_transpose, NO_LOC, 1, &x, NULL);
        attr_set_ints(x, "perm", perm, rank);
        if (!finished(x)) return NULL;
    }
    if (type_equal(&x->type, &t)) return x;
    x = node_make(m->g, OP_expand, NO_LOC, 1, &x, NULL);
    attr_set_dims(x, "shape", t.dim, rank);
    return finished(x);
}

// Queries of two heads; keys and values of two or one; all other operands as wide as these.
static Node *attention_operand(Maker *m, int operand, Node *const *in) {
    Graph *g = m->g;
    const Dim *heads = dim_const(g, HEADS), *one = dim_const(g, 1);
    if (operand == ATTENTION_QUERY)
        return add_viewed(m, DT_f32, 2, (const Dim *[]){m->rows, dim_const(g, 8 << draw(m, 2))});
    const Dim *rows = in[0]->type.dim[0], *width = in[0]->type.dim[1];
    if (operand == ATTENTION_KEY) {
        const Dim *of_one = dim_binary(g, DIM_FLOORDIV, width, heads),
                  *keys = chance(m, 60) ? rows : dim_const(g, 5);
        return add_viewed(m, DT_f32, 2, (const Dim *[]){keys, chance(m, 50) ? width : of_one});
    }
    const Type *key = &in[ATTENTION_KEY]->type;
    if (operand == ATTENTION_VALUE) return add_viewed(m, DT_f32, 2, key->dim);
    if (operand == ATTENTION_BIAS)
        return add_viewed(m, DT_f32, 3, (const Dim *[]){heads, rows, key->dim[0]});
    if (operand == ATTENTION_MASK)
        return add_viewed(m, DT_f32, 2, (const Dim *[]){one, key->dim[0]});
    return operand == ATTENTION_SINKS ? add_viewed(m, DT_f32, 1, &heads) : NULL;
}

static void set_attention(Node *n) {
    int64_t width = dim_upper(n->in[0]->type.dim[1]), keys = dim_upper(n->in[1]->type.dim[1]);
    attr_set_int(n, "num_heads", HEADS);
    attr_set_int(n, "num_kv_heads", keys == width ? HEADS : 1);
    if (n->in[0]->type.dim[0] == n->in[1]->type.dim[0]) attr_set_int(n, "causal", 1);
}

static Node *norm_vector(Maker *m, const Type *x) {
    const Dim *width = x->rank ? x->dim[x->rank - 1] : NULL;
    return width && dim_is_const(width, NULL) ? add_viewed(m, x->dtype, 1, &width) : NULL;
}

// Operands with strict rules are made for the op; NULL: any value will do, or none.
static Node *made_to_fit(Maker *m, Op op, int operand, Node *const *in) {
    Graph *g = m->g;
    const Dim *one = dim_const(g, 1), *four = dim_const(g, 4), *eight = dim_const(g, 8);
    switch (op) {
        case OP_rms_normalization:
        case OP_layer_normalization:
            return operand ? norm_vector(m, &in[0]->type) : NULL;
        case OP_skip_rms_normalization:
        case OP_skip_layer_normalization:
            return operand > 1 ? norm_vector(m, &in[0]->type) : NULL;
        case OP_attention:
            return attention_operand(m, operand, in);
        case OP_rotary_embedding:
            if (!operand)
                return add_viewed(m, DT_f32, 2, (const Dim *[]){m->rows, dim_const(g, 16)});
            return operand == 1 ? add_viewed(m, DT_f32, 2,
                                             (const Dim *[]){chance(m, 80) ? m->rows : one, four})
                                : add_viewed(m, DT_f32, 2, in[1]->type.dim);
        case OP_non_max_suppression:
            if (operand < 2)
                return add_viewed(
                    m, DT_f32, 3,
                    operand ? (const Dim *[]){one, one, eight} : (const Dim *[]){one, eight, four});
            return add_viewed(m, operand == 2 ? DT_i64 : DT_f32, 0, NULL);
        case OP_pad:
            return operand ? add_viewed(m, in[0]->type.dtype, 0, NULL) : NULL;
        case OP_where:
            return operand ? NULL : add_leaf(m, DT_bool);
        default:
            return NULL;
    }
}

static int count_operands(Maker *m, Op op) {
    int least = op_least(op), most = op_most(op);
    return most < 0 ? least + draw(m, 3) : least + draw(m, most - least + 1);
}

// Functions of reals take no integers, and/or/not no numbers: the type alone does not say so.
static bool is_defined(Op op, DType t) {
    static const Op of_reals[] = {OP_exp,  OP_log,       OP_sqrt,    OP_reciprocal, OP_sin,
                                  OP_cos,  OP_tanh,      OP_erf,     OP_atan,       OP_silu,
                                  OP_gelu, OP_gelu_tanh, OP_sigmoid, OP_softmax,    OP_floor,
                                  OP_ceil, OP_round};
    static const Op of_f32[] = {OP_rms_normalization, OP_layer_normalization,
                                OP_skip_rms_normalization, OP_skip_layer_normalization};
    if (op_is_logical(op)) return t == DT_bool;
    for (size_t i = 0; i < sizeof of_f32 / sizeof *of_f32; i++)
        if (of_f32[i] == op && t == DT_f64) return false;
    for (size_t i = 0; i < sizeof of_reals / sizeof *of_reals; i++)
        if (of_reals[i] == op) return dtype_is_float(t);
    if (op == OP_cum_sum || op == OP_cum_prod || op_info[op].infer == op_info[OP_reduce_sum].infer)
        return t != DT_bool;
    return t != DT_bool || !op_is_elementwise(op) || op == OP_where || op == OP_equal;
}

static Node *try_op(Maker *m, Op op) {
    Node *in[16] = {NULL};
    int n_in = count_operands(m, op);
    for (int i = 0; i < n_in; i++) {
        bool typed = i && op != OP_where && op_least(op) <= 3 && op != OP_non_max_suppression;
        const Node *like = op == OP_where && i == 2 ? in[1] : typed ? in[0] : NULL;
        in[i] = i < op_least(op) || chance(m, 70) ? made_to_fit(m, op, i, in) : NULL;
        bool any = op_least(op) > i || (op != OP_attention && op_most(op) < 0);
        if (!in[i] && any) in[i] = draw_operand(m, op, i, like);
    }
    Node *n = node_make(m->g, op, NO_LOC, n_in, in, NULL);
    const char *attrs = op_info[op].attrs;
    for (OpAttr a; op_next_attr(&attrs, &a);) set_attribute(m, n, &a);
    bool flat =
        op != OP_unique || in[0]->type.rank == 1;  // of slices: no importer makes them of more axes
    if (op == OP_attention) set_attention(n);
    for (int i = 0; op == OP_slice && i < in[0]->type.rank; i++)  // which may have none
        for (int j = 0; j < m->symbols; j++)
            flat = flat && !dim_has_symbol(in[0]->type.dim[i], m->symbol[j]);
    if (!flat || !indices_fit(n) || (n_in && !is_defined(op, in[op == OP_where]->type.dtype)))
        return node_remove(n), NULL;
    return finished(n);
}

// The results of a tuple one by one.
static void keep_results(Maker *m, Node *n) {
    if (n->type.dtype != DT_tuple) keep(m, n);
    for (int i = n->op == OP_unique; n->type.dtype == DT_tuple && i < n->n_items; i++)
        if (n->op != OP_unique || i < 4) keep(m, node_item(m->g, n, i, NULL));
}

static void add_op(Maker *m) {
    for (int i = 0; i < TRIES; i++) {
        Op op = (Op)draw(m, OP_COUNT);
        static const Op often[] = {OP_transpose, OP_slice,   OP_expand,    OP_reshape,
                                   OP_matmul,    OP_matmul,  OP_attention, OP_pad,
                                   OP_where,     OP_softmax, OP_gather,    OP_rotary_embedding};
        if (chance(m, 30)) op = often[draw(m, sizeof often / sizeof *often)];
        if (!is_drawn(op)) continue;
        Node *n = try_op(m, op);
        if (!n) continue;
        keep_results(m, n);
        return;
    }
}

// A value that nothing uses is an output, as are a few others.
static Graph *make_graph(uint64_t seed) {
    Graph *g = graph_new("random");
    Maker m = {.g = g, .state = seed * 2654435761u + 12345};
    m.rows = dim_symbol(g, "T", 2, 8);
    m.batch = dim_symbol(g, "B", 1, 4);
    graph_add_input(g, "sizes", type_of(DT_f32, 2, (const Dim *[]){m.batch, m.rows}), NO_LOC);
    m.value[m.n++] = g->first;
    for (int i = 1 + draw(&m, 3); i > 0; i--) add_leaf(&m, draw_dtype(&m));
    for (int i = FEWEST_OPS + draw(&m, MORE_OPS); i > 0; i--) add_op(&m);
    for (int i = 0; i < m.n; i++) {
        Node *n = m.value[i];
        if (n->op != OP_input && n->op != OP_constant && (!n->n_users || chance(&m, 10)))
            graph_add_output(g, n, arena_printf(g->arena, "out%d", g->n_outputs));
    }
    if (!g->n_outputs) graph_add_output(g, node_new(g, OP_neg, NO_LOC, 1, &g->first), "out0");
    graph_sweep(g);
    return g;
}

static const char *folder;

static void emit_random(const void *which) {
    uint64_t seed = *(const uint64_t *)which;
    Arena *arena = arena_new();
    CasePlace at = {arena, folder, arena_printf(arena, "random_%llu", (unsigned long long)seed)};
    int errors = dup(2), nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, 2);
    Graph *g = make_graph(seed);
    dup2(errors, 2);
    Text t = {0};
    graph_print(&t, g);
    case_write(at, ".ir", &t);
    if (!graph_verify(g, "making it")) exit(1);
    emit_graph(at, g, 2 + (int64_t)(seed % 4), seed, true);
    printf("pass");
    exit(0);
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    folder = argv[1];
    uint64_t first = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
    for (uint64_t seed = first; seed < first + count; seed++) {
        printf("random_%llu\trandom\t", (unsigned long long)seed);
        case_report(emit_random, &seed);
    }
    return 0;
}
