// Products of bytes by constant bytes (MatMulInteger and its kin) become products of floats that are exact, which have kernels.
//
//   before   %d = sub(cast(%q : u8), cast(%z : u8)) : i32[T, 768]       after   %f = cast(%d) {to=f32}
//            %w = sub(cast(constant i8[768, 768]), 0)                           %p = matmul(%f, cast(constant bf16[768, 768]))
//            %y = matmul(%d, %w) : i32[T, 768]                                  %y = cast(%p) {to=i32}
//            %s = cast(%y) {to=f32}                                             %s is %p
//
// f32 holds every integer up to 2^24: a sum whose terms' magnitudes stay within that together is exact in any order. The
// weights of each column are known, and of x what its bytes can be. Longer sums are taken in parts, which are added as
// integers.
#include <math.h>
#include <string.h>

#include "ir/convert.h"
#include "ir/format.h"
#include "passes/fuse/fuse.h"

enum { MOST_PARTS = 16, MOST_STEPS = 16, EXACT = 1 << 24 };

// ------------------------------------------------------------------------------------------------------------------- ranges
static bool is_never_negative(DType t) { return t == DT_bool || t == DT_u8 || t == DT_u4; }

static int64_t magnitude_of_type(DType t) {
    if (t == DT_bool) return 1;
    if (dtype_is_float(t) || dtype_bits(t) > 8) return -1;
    return is_never_negative(t) ? ((int64_t)1 << dtype_bits(t)) - 1 : (int64_t)1 << (dtype_bits(t) - 1);
}

// What views and casts of integers show
static const Node *behind_views(const Node *n) {
    while (is_view(n->op) || (n->op == OP_cast && !dtype_is_float(n->in[0]->type.dtype))) n = n->in[0];
    return n;
}

static int64_t magnitude_of_constant(const Tensor *t) {
    double most = 0;
    if (!t || !t->data || tensor_count(t) > 1 << 16) return -1;
    for (int64_t i = 0; i < tensor_count(t); i++) most = fmax(most, fabs(dtype_load(t->dtype, t->data, i)));
    return most <= EXACT ? (int64_t)most : -1;
}

// The largest |value| that an integer node can have; -1: not known to be small
static int64_t magnitude(const Node *n, int steps) {
    int64_t a = magnitude_of_type(n->type.dtype), b;
    if (a >= 0 || !steps) return a;
    if (n->op == OP_constant) return magnitude_of_constant(n->value);
    if (is_view(n->op) || (n->op == OP_cast && !dtype_is_float(n->in[0]->type.dtype))) return magnitude(n->in[0], steps - 1);
    if (n->op != OP_add && n->op != OP_sub) return -1;
    a = magnitude(n->in[0], steps - 1), b = magnitude(n->in[1], steps - 1);
    if (a < 0 || b < 0) return -1;
    bool both = is_never_negative(behind_views(n->in[0])->type.dtype) && is_never_negative(behind_views(n->in[1])->type.dtype);
    return n->op == OP_sub && both ? (a > b ? a : b) : a + b;
}

// ------------------------------------------------------------------------------------------------------------------ weights
// A matrix of bytes, of integers that fold has made of them, less a number, or one for each column
typedef struct Bytes {
    const Tensor *bytes, *zero;  // zero: NULL, of one element or of `columns`
    int64_t rows, columns;
    bool swapped;  // bytes are [columns][rows]
} Bytes;

static const Tensor *data_of(const Node *n) { return n->op == OP_constant && n->value && n->value->data ? n->value : NULL; }

static bool read_bytes(const Node *n, Bytes *b) {
    *b = (Bytes){0};
    if (n->type.rank != 2 || !dim_is_const(n->type.dim[0], &b->rows) || !dim_is_const(n->type.dim[1], &b->columns))
        return false;
    if (n->op == OP_transpose) b->swapped = true, n = n->in[0];
    if (n->op == OP_sub) {
        b->zero = data_of(n->in[1]);
        bool fits = b->zero && (tensor_count(b->zero) == 1 || (tensor_count(b->zero) == b->columns && !b->swapped));
        if (!fits || magnitude(n->in[1], 1) < 0) return false;
        n = n->in[0];
    }
    if (n->op == OP_cast) n = n->in[0];
    b->bytes = data_of(n);
    return b->bytes && b->bytes->rank == 2 && !dtype_is_block(b->bytes->dtype) && !dtype_is_float(b->bytes->dtype);
}

static double weight_at(const Bytes *b, int64_t row, int64_t column) {
    int64_t at = b->swapped ? column * b->rows + row : row * b->columns + column;
    double zero = !b->zero ? 0 : dtype_load(b->zero->dtype, b->zero->data, tensor_count(b->zero) == 1 ? 0 : column);
    return dtype_load(b->bytes->dtype, b->bytes->data, at) - zero;
}

// Rows at which parts of exact sums begin, and behind them the number of rows; 0: too many, or weights that bf16 does not hold
static int split_rows(const Bytes *b, int64_t x, Arena *arena, int64_t *start) {
    double *sums = ARENA_ARRAY(arena, double, b->columns);
    int n = 0;
    start[n++] = 0;
    memset(sums, 0, (size_t)b->columns * sizeof *sums);
    for (int64_t k = 0; k < b->rows; k++) {
        bool over = false;
        for (int64_t j = 0; j < b->columns; j++) {
            double w = fabs(weight_at(b, k, j));
            if (w > 256 || w * (double)x > EXACT) return 0;
            over |= (sums[j] += w * (double)x) > EXACT;
        }
        if (!over) continue;
        if (n == MOST_PARTS) return 0;
        start[n++] = k;
        for (int64_t j = 0; j < b->columns; j++) sums[j] = fabs(weight_at(b, k, j)) * (double)x;
    }
    start[n] = b->rows;
    return n;
}

static Node *weights_as_floats(Builder at, const Bytes *b, int64_t from, int64_t to) {
    Tensor *t = ARENA_NEW(at.graph->arena, Tensor);
    int64_t n = (to - from) * b->columns;
    uint16_t *data = ARENA_ARRAY(at.graph->arena, uint16_t, n);
    for (int64_t i = 0; i < n; i++) dtype_store(DT_bf16, data, i, weight_at(b, from + i / b->columns, i % b->columns));
    *t = (Tensor){.dtype = DT_bf16, .rank = 2, .dim = {to - from, b->columns}, .data = data, .name = b->bytes->name};
    t->bytes = (uint64_t)n * sizeof *data;
    return build_cast(at, build_constant(at, t), DT_f32);
}

// ----------------------------------------------------------------------------------------------------------------- products
static Node *as_floats(Builder at, Node *x) {
    for (int i = 0; i < x->n_users; i++)
        if (x->users[i]->op == OP_cast && x->users[i]->type.dtype == DT_f32) return x->users[i];
    return build_cast(at, x, DT_f32);
}

static Node *product_of_part(Builder at, Node *x, const Bytes *b, const int64_t *rows) {
    Graph *g = at.graph;
    Slice part = {x->type.rank - 1, dim_const(g, rows[0]), dim_const(g, rows[1] - rows[0]), 1};
    Node *some = build_slice(at, x, part);
    return build_binary(at, OP_matmul, some, weights_as_floats(at, b, rows[0], rows[1]));
}

// Who reads the integers as floats reads what they come from.
static void read_floats(Node *n, Node *floats) {
    for (int i = 0; i < n->n_users; i++) {
        Node *user = n->users[i];
        if (user->op == OP_cast && user->type.dtype == DT_f32) node_become(user, floats);
    }
}

static bool rewrite(Node *n) {
    Bytes b;
    int64_t start[MOST_PARTS + 1], x;
    if (n->op != OP_matmul || n->type.dtype != DT_i32 || n->in[0]->type.rank < 2 || !read_bytes(n->in[1], &b)) return false;
    x = magnitude(n->in[0], MOST_STEPS);
    int parts = x < 0 ? 0 : split_rows(&b, x, n->graph->arena, start);
    if (!parts) return false;
    Builder at = cursor(n);
    Node *floats = as_floats(at, n->in[0]), *sum = NULL, *product = NULL;
    for (int i = 0; i < parts; i++) {
        product = product_of_part(at, floats, &b, start + i);
        Node *part = build_cast(at, product, DT_i32);
        sum = sum ? build_binary(at, OP_add, sum, part) : part;
    }
    if (parts == 1) read_floats(n, product);
    node_become(n, sum);
    return true;
}

bool integer_products(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) changed |= rewrite(n);
    return changed;
}
