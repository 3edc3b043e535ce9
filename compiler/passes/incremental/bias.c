// The bias of causal attention's scores as a function of a row's position and of every key that a
// cache can hold.
//
//   before   %i = iota {dims=[T, T], axis=0}   %j = iota {dims=[T, T], axis=1}      after   both over [T, context]
//            %b = mul(%slopes, cast(sub(%j, %i))) : f32[H, T, T]                            %b ... : f32[H, T, context]
//
// Before, T counts both queries and keys: the axis of the keys is followed down through the formula
// (ALiBi, T5's buckets) and becomes the cache's. The other axis then is rows, like everything else.
#include "ir/convert.h"
#include "ir/operands.h"
#include "passes/incremental/incremental.h"

enum { MOST_OPERANDS = 16 };

typedef struct KeyAxis {
    const Dim *positions, *context;
    int bent;  // non-sums on the way: below them, a row-wide addend changes the result
} KeyAxis;

static Node *over_keys(Node *n, int key, KeyAxis *k);

static Node *elementwise_over_keys(Node *n, int key, KeyAxis *k) {
    Node *in[MOST_OPERANDS];
    bool bends = n->op != OP_add && n->op != OP_sub;
    if (n->n_in > MOST_OPERANDS) return NULL;
    k->bent += bends;
    for (int i = 0; i < n->n_in; i++) {
        int here = key - (n->type.rank - n->in[i]->type.rank);
        in[i] = varies_along(n->in[i], here) ? over_keys(n->in[i], here, k) : n->in[i];
        if (!in[i]) return NULL;
    }
    k->bent -= bends;
    return with_extent(n, in, NULL, (Along){key, k->context});
}

static Node *view_over_keys(Node *n, int key, KeyAxis *k) {
    int count, here = key;
    if (n->op == OP_transpose) here = (int)attr_ints(n, "perm", &count)[key];
    if (n->op == OP_reshape) here = same_axis(n->graph, &n->type, key, &n->in[0]->type);
    if (n->op == OP_expand) here = key - (n->type.rank - n->in[0]->type.rank);
    if (n->op == OP_slice || (n->op == OP_reshape && here < 0)) return NULL;
    Node *x = varies_along(n->in[0], here) ? over_keys(n->in[0], here, k) : n->in[0];
    return x ? with_extent(n, &x, n->op == OP_transpose ? NULL : "shape", (Along){key, k->context})
             : NULL;
}

static Node *gather_over_keys(Node *n, int key, KeyAxis *k) {
    if (node_axis(n) != 0 || key >= n->in[1]->type.rank) return NULL;
    Node *index = over_keys(n->in[1], key, k);
    return index ? with_extent(n, (Node *[]){n->in[0], index}, NULL, (Along){key, k->context})
                 : NULL;
}

// A table whose elements along its last axis are equally far apart, row by row: MPT's slopes times
// positions.
static bool is_linear_table(const Node *n) {
    const Tensor *t = n->op == OP_constant ? n->value : NULL;
    if (!t || !t->data || t->dtype != DT_f32 || !t->rank) return false;
    int64_t width = t->dim[t->rank - 1];
    if (width < 3) return false;
    for (int64_t i = 0; i < tensor_count(t); i++) {
        int64_t row = i / width * width;
        double first = dtype_load(t->dtype, t->data, row),
               step = dtype_load(t->dtype, t->data, row + 1) - first;
        if (dtype_load(t->dtype, t->data, i) - first != step * (double)(i - row)) return false;
    }
    return true;
}

// The last T (or first T) of a table over keys. In a linear table the last T differ from the first
// T by one number for each row of scores, which softmax ignores.
static Node *slice_over_keys(Node *n, int key, KeyAxis *k) {
    Node *table = n->in[0];
    const Dim *start = attr_dim(n, "start"), *zero = dim_const(n->graph, 0);
    int64_t extent;
    if (node_axis(n) != key || attr_int(n, "step", 1) != 1) return NULL;
    if (table->op != OP_constant || !dim_is_const(table->type.dim[key], &extent) ||
        extent < dim_upper(k->context))
        return NULL;
    bool last = dim_binary(n->graph, DIM_ADD, start, k->positions) == table->type.dim[key];
    if (start != zero && (!last || k->bent || key != n->type.rank - 1 || !is_linear_table(table)))
        return NULL;
    return build_slice(cursor(n), table, (Slice){key, zero, k->context, 1});
}

static Node *over_keys(Node *n, int key, KeyAxis *k) {
    if (n->type.dim[key] != k->positions) return NULL;
    if (n->op == OP_slice) return slice_over_keys(n, key, k);
    if (n->op == OP_iota) return with_extent(n, NULL, "dims", (Along){key, k->context});
    if (n->op == OP_gather) return gather_over_keys(n, key, k);
    if (is_view(n->op)) return view_over_keys(n, key, k);
    return op_info[n->op].rows == ROWS_EACH && n->op != OP_item ? elementwise_over_keys(n, key, k)
                                                                : NULL;
}

bool bias_over_keys(Node *attention, const Dim *positions, int64_t context) {
    Node *bias = operand_or_null(attention, ATTENTION_BIAS);
    if (!bias || !attr_int(attention, "causal", 0) || !varies_along(bias, bias->type.rank - 1))
        return false;
    KeyAxis k = {positions, dim_const(attention->graph, context), 0};
    Node *by = over_keys(bias, bias->type.rank - 1, &k);
    if (by) node_set_input(attention, ATTENTION_BIAS, by);
    return by != NULL;
}
