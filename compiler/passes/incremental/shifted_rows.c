// Convolutions over time and token shifts: nodes that read a fixed number of rows back.
//
//   before   %p = pad(%x, 0) {low=[0, 0, 2], ...} : f32[1, 32, T + 2]     after   %a = shift_rows(%r) {back=2} : f32[T, 32]
//            %w = windows(%p) {kernel=[3]} : f32[1, 32, T, 3]                     %b = shift_rows(%r) {back=1}
//                                                                                 %w = concat(%a', %b', %r') {axis=3}
//            %p = concat(0, slice(%x) {start=0, extent=T - 1})                    %p = shift_rows(%x) {back=1}
//
// with %r the rows of %x; a fill other than zero goes to the first rows by `where`. A convolution
// that pads both ends and keeps the first T results computes only those. The meaning stays:
// shift_rows over rows of one sequence. After the proof, `keep_shift_rows` gives each such value a
// cache of its rows by slot and position, like that of sliding-window keys: a ring buffer if the
// context is longer than it.
#include "ir/operands.h"
#include "passes/incremental/incremental.h"

// ----------------------------------------------------------------------- the first rows of a value
enum { MOST_OPERANDS = 16 };

// scratch: the first rows of a node, once they are made.
static Node *first_of(Node *n, Along a, bool *reached);

static Node *operands_first(Node *n, Along a, int first, bool *reached) {
    Node *in[MOST_OPERANDS];
    if (n->n_in > MOST_OPERANDS) return NULL;
    for (int i = 0; i < n->n_in; i++) {
        int here = n->in[i] ? a.axis - (n->type.rank - n->in[i]->type.rank) : -1;
        bool follow = i != first && n->in[i] && varies_along(n->in[i], here);
        in[i] = follow ? first_of(n->in[i], (Along){here, a.extent}, reached) : n->in[i];
        if (follow && !in[i]) return NULL;
    }
    return with_extent(n, in, NULL, a);
}

// Products: along a batch that the weights do not have, or the rows of the left operand.
static Node *product_first(Node *n, Along a, bool *reached) {
    const Node *weights = n->in[1];
    int there = a.axis - (n->type.rank - weights->type.rank);
    if (a.axis == n->type.rank - 1 ||
        (n->op == OP_matmul && there < weights->type.rank - 2 && varies_along(weights, there)))
        return NULL;
    return operands_first(n, a, 1, reached);
}

static Node *view_first(Node *n, Along a, bool *reached) {
    int count, here = n->op == OP_transpose
                          ? (int)attr_ints(n, "perm", &count)[a.axis]
                          : same_axis(n->graph, &n->type, a.axis, &n->in[0]->type);
    if (here < 0) return NULL;
    Node *x = first_of(n->in[0], (Along){here, a.extent}, reached);
    return x ? with_extent(n, &x, n->op == OP_transpose ? NULL : "shape", a) : NULL;
}

// Returns the window axis of an axis of the operand: -1 for none.
static int window_of(const Node *windows, int axis) {
    int count;
    attr_ints(windows, "kernel", &count);
    return axis < windows->in[0]->type.rank ? axis - (windows->in[0]->type.rank - count) : -1;
}

static int64_t window_attr(const Node *windows, const char *name, int which) {
    int count;
    const int64_t *values = attr_ints(windows, name, &count);
    return values ? values[which] : 1;
}

static Node *windows_first(Node *n, Along a, bool *reached) {
    int which = window_of(n, a.axis);
    if (which < 0 || window_attr(n, "strides", which) != 1) return NULL;
    int64_t more = (window_attr(n, "kernel", which) - 1) * window_attr(n, "dilations", which);
    const Dim *needed = dim_binary(n->graph, DIM_ADD, a.extent, dim_const(n->graph, more));
    Node *x = first_of(n->in[0], (Along){a.axis, needed}, reached);
    return x ? with_extent(n, &x, NULL, a) : NULL;
}

// Less padding after the axis.
static Node *pad_first(Node *n, Along a, bool *reached) {
    int count;
    const Dim *high[MAX_RANK], *const *was = attr_dims(n, "high", &count),
                                      *low = attr_dims(n, "low", &count)[a.axis];
    const Dim *end =
        dim_sub(n->graph, a.extent, dim_binary(n->graph, DIM_ADD, n->in[0]->type.dim[a.axis], low));
    int interior;
    const int64_t *between = attr_ints(n, "interior", &interior);
    if (dim_lower(end) < 0 || (between && between[a.axis])) return NULL;
    for (int i = 0; i < count; i++) high[i] = i == a.axis ? end : was[i];
    Node *by = node_again(n, n->op, n->n_in, n->in, n);
    attr_set_dims(by, "high", high, count);
    *reached = true;
    return inferred(by);
}

// NULL where the first of the result need more than the first of the operands.
static Node *make_first(Node *n, Along a, bool *reached) {
    if (n->op == OP_transpose || n->op == OP_reshape) return view_first(n, a, reached);
    if (n->op == OP_windows) return windows_first(n, a, reached);
    if (n->op == OP_pad) return pad_first(n, a, reached);
    if (n->op == OP_matmul || n->op == OP_matmul_packed) return product_first(n, a, reached);
    return op_info[n->op].rows == ROWS_EACH ? operands_first(n, a, -1, reached) : NULL;
}

static Node *first_of(Node *n, Along a, bool *reached) {
    if (n->type.dtype == DT_tuple || n->op == OP_iota || n->op == OP_item) return NULL;
    if (n->type.dim[a.axis] == a.extent) return n;
    Node *made = n->scratch;
    if (!made || made->type.dim[a.axis] != a.extent) n->scratch = made = make_first(n, a, reached);
    return made;
}

static bool is_first_rows(const Node *n, const Dim *rows) {
    return n->op == OP_slice && attr_dim(n, "extent") == rows && dim_is(attr_dim(n, "start"), 0) &&
           attr_int(n, "step", 1) == 1;
}

static bool compute_first_rows(Graph *g, const Dim *rows) {
    bool changed = false;
    EACH_NODE(n, g) {
        bool reached = false;
        if (!is_first_rows(n, rows) || n->in[0]->op == OP_pad) continue;
        EACH_NODE(each, g) each->scratch = NULL;
        Node *by = first_of(n->in[0], (Along){node_axis(n), rows}, &reached);
        if (!by || !reached) continue;
        node_become(n, by);
        changed = true;
    }
    return changed;
}

// ---------------------------------------------------------------------------------- shifted values
// Element i along the axis is row i - lag of x; before the first row it is `fill`: one number, or
// for a lag of 1 a whole row.
typedef struct Lagging {
    Node *x, *fill;
    int axis;
    int64_t lag;
} Lagging;

// The value that a slice along the axis starts from, or the value itself.
static Node *beginning(Node *x, int axis) {
    bool begins = x->op == OP_slice && node_axis(x) == axis && dim_is(attr_dim(x, "start"), 0);
    return begins && attr_int(x, "step", 1) == 1 ? x->in[0] : x;
}

static bool read_pad(const Node *n, const Dim *rows, Lagging *out) {
    int count, interior;
    const Dim *const *low = attr_dims(n, "low", &count), *const *high =
                                                             attr_dims(n, "high", &count);
    const int64_t *between = attr_ints(n, "interior", &interior);
    double value;
    *out = (Lagging){n->in[0], n->in[1], -1, 0};
    if (!match_scalar(n->in[1], &value)) return false;
    for (int i = 0; i < count; i++) {
        if (between && between[i]) return false;
        if (dim_is(low[i], 0) && dim_is(high[i], 0)) continue;
        if (out->axis >= 0 || !dim_is_const(low[i], &out->lag)) return false;
        out->axis = i;
    }
    if (out->axis < 0) return false;
    if (dim_is(high[out->axis], 0)) out->x = beginning(out->x, out->axis);
    return out->x->type.dim[out->axis] == rows;
}

static bool read_concat(const Node *n, const Dim *rows, Lagging *out) {
    int axis = node_axis(n);
    double value;
    if (n->n_in != 2 || !dim_is_const(n->in[0]->type.dim[axis], &out->lag)) return false;
    if (!match_scalar(n->in[0], &value) && (out->lag != 1 || !is_weight(n->in[0]))) return false;
    out->x = beginning(n->in[1], axis), out->axis = axis, out->fill = n->in[0];
    return out->x->type.dim[axis] == rows;
}

// Numbers of tokens are small enough for floats to hold.
static bool are_tokens(const Node *n) {
    while (is_view(n->op) || n->op == OP_cast) n = n->in[0];
    return n->op == OP_input && input_role(n) == INPUT_TOKENS;
}

// Rows of one known size.
static bool is_lagging(const Node *n, const Dim *rows, Lagging *out) {
    if (!(n->op == OP_pad ? read_pad(n, rows, out)
                          : n->op == OP_concat && read_concat(n, rows, out)))
        return false;
    if (n->type.dtype != DT_f32 && !are_tokens(out->x)) return false;
    for (int i = 0; i < n->type.rank; i++)
        if (i != out->axis && !dim_is_const(out->x->type.dim[i], NULL)) return false;
    return true;
}

// The replacement of zeros in the first rows.
static Node *with_fill(Lagging v, Node *shifted, int64_t back, Node *before) {
    Graph *g = before->graph;
    double value;
    bool one_number = match_scalar(v.fill, &value);
    if (one_number && value == 0) return shifted;
    const Dim *dims[MAX_RANK];
    for (int i = 0; i < v.x->type.rank; i++)
        dims[i] = i == v.axis ? v.x->type.dim[i] : dim_const(g, 1);
    Builder b = cursor_at(before, v.x->loc);
    Node *row = build_iota(b, v.x->type.rank, dims, v.axis);
    Node *begins = build_binary(b, OP_less, row, build_scalar(b, DT_i32, (double)back));
    Node *fill = one_number ? build_scalar(b, shifted->type.dtype, value) : v.fill;
    return build_where(b, begins, fill, shifted);
}

// The value `back` rows earlier, in the value's own shape.
static Node *look_back(Lagging v, int64_t back, Node *before) {
    Graph *g = before->graph;
    int rank = v.x->type.rank;
    int64_t there[MAX_RANK], here[MAX_RANK], width = 1;
    for (int i = 0; i < rank; i++)
        there[i] = i == 0 ? v.axis : i <= v.axis ? i - 1 : i, here[there[i]] = i;
    for (int i = 0; i < rank; i++) width *= i == v.axis ? 1 : dim_upper(v.x->type.dim[i]);
    if (!back) return v.x;
    Node *moved = build_transpose(cursor(before), build_cast(cursor(before), v.x, DT_f32), there);
    Node *rows = build_reshape(cursor(before), moved, 2,
                               (const Dim *[]){v.x->type.dim[v.axis], dim_const(g, width)});
    Node *n = node_make(g, OP_shift_rows, v.x->loc, 1, &rows, before);
    attr_set_int(n, "back", back);
    Node *shifted = build_transpose(
        cursor(before), build_reshape(cursor(before), inferred(n), rank, moved->type.dim), here);
    return with_fill(v, build_cast(cursor(before), shifted, v.x->type.dtype), back, before);
}

// --------------------------------------------------------------------------------------- rewriting
static Node *shift_of_slice(Node *n, const Dim *rows) {
    Lagging v;
    int64_t start;
    if (attr_dim(n, "extent") != rows || attr_int(n, "step", 1) != 1 ||
        !is_lagging(n->in[0], rows, &v))
        return NULL;
    if (node_axis(n) != v.axis || !dim_is_const(attr_dim(n, "start"), &start)) return NULL;
    return start <= v.lag ? look_back(v, v.lag - start, n) : NULL;
}

// Windows of one element each.
static bool are_elements(const Node *n) {
    int count;
    attr_ints(n, "kernel", &count);
    for (int i = 0; i < count; i++)
        if (window_attr(n, "kernel", i) != 1 || window_attr(n, "strides", i) != 1) return false;
    return true;
}

static Node *shifts_of_windows(Node *n, const Dim *rows) {
    Lagging v;
    int count, rank = n->in[0]->type.rank;
    if (are_elements(n)) return build_reshape(cursor(n), n->in[0], n->type.rank, n->type.dim);
    if (!is_lagging(n->in[0], rows, &v)) return NULL;
    int which = window_of(n, v.axis);
    if (which < 0 || n->type.dim[v.axis] != rows || window_attr(n, "strides", which) != 1)
        return NULL;
    const int64_t *kernel = attr_ints(n, "kernel", &count),
                  step = window_attr(n, "dilations", which);
    for (int i = 0; i < count; i++)
        if (i != which && kernel[i] != 1) return NULL;
    if ((kernel[which] - 1) * step > v.lag) return NULL;
    const Dim *dims[MAX_RANK];
    for (int i = 0; i < n->type.rank; i++)
        dims[i] = i < rank ? n->type.dim[i] : dim_const(n->graph, 1);
    Node **parts = ARENA_ARRAY(n->graph->arena, Node *, kernel[which]);
    for (int64_t i = 0; i < kernel[which]; i++)
        parts[i] = build_reshape(cursor(n), look_back(v, v.lag - i * step, n), n->type.rank, dims);
    return build_concat(cursor_at(n, n->loc), (int)kernel[which], parts, rank + which);
}

static Node *shift(Node *n, const Dim *rows) {
    Lagging v;
    if (n->op == OP_slice) return shift_of_slice(n, rows);
    if (n->op == OP_windows) return shifts_of_windows(n, rows);
    return is_lagging(n, rows, &v) && n->type.dim[v.axis] == rows ? look_back(v, v.lag, n) : NULL;
}

bool find_shift_rows(Graph *g, const Dim *rows) {
    bool found = false, begins = compute_first_rows(g, rows);
    EACH_NODE(n, g) {
        Node *by = n->type.dtype == DT_tuple ? NULL : shift(n, rows);
        if (!by) continue;
        node_become(n, by);
        found = true;
    }
    graph_sweep(g);
    if (found) simplify_graph(g);  // rows that are looked at from several places are one value
    return found || begins;
}

// ------------------------------------------------------------------------------------------ caches
// One for all that look back at the same rows.
static Node *cache_of_rows(Node *x, const RowInputs *in, Node *before) {
    int64_t back = 0;
    for (int i = 0; i < x->n_users; i++) {
        const Node *user = x->users[i];
        if (user->op == OP_cache_append && user->in[1] == x) return x->users[i];
        if (user->op == OP_shift_rows && attr_int(user, "back", 0) > back)
            back = attr_int(user, "back", 0);
    }
    Node *state = new_row_state(in, x->type.dim[1], before),
         *operands[] = {state, x, in->slot, in->position};
    keep_window(state, back + 1, in);
    Node *n = node_make(x->graph, OP_cache_append, x->loc, 4, operands, before);
    attr_set_int(n, "heads", 1);
    return inferred(n);
}

bool keep_shift_rows(Graph *g, const RowInputs *in) {
    bool changed = false;
    EACH_NODE(n, g) {
        if (n->op != OP_shift_rows || operand_or_null(n, SHIFT_SLOT)) continue;
        Node *operands[SHIFT_OPERANDS] = {cache_of_rows(n->in[SHIFT_X], in, n), in->slot,
                                          in->position};
        node_become(n, inferred(node_again(n, n->op, SHIFT_OPERANDS, operands, n)));
        changed = true;
    }
    graph_sweep(g);
    return changed;
}
