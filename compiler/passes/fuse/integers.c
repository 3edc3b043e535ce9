// Products of bytes by constant bytes (MatMulInteger and its kin) become packed products of
// integers, which are exact.
//
//   before   %d = sub(cast(%q : u8), cast(%z : u8)) : i32[T, 768]       after   %r = quantize_rows(cast(%d)) {format="i8_rows"}
//            %w = sub(cast(constant i8[768, 768]), 0)                           %p = pack(constant i8[768, 768]) {format="i8_32"}
//            %y = matmul(%d, %w) : i32[T, 768]                                  %f = matmul_packed(%r, %p) : f32[T, 768]
//            %s = cast(%y) {to=f32}                                             %s is %f
//
// The kernel adds in i32 and rounds once, as the cast does. Who reads the integers gets a cast of
// the floats, which hold every integer up to 2^24: longer sums are taken in parts, which are added
// as integers. How large they can be the weights of each column say, which are known, and the bytes
// of x.
#include <math.h>
#include <string.h>

#include "ir/convert.h"
#include "ir/format.h"
#include "passes/fuse/fuse.h"

enum { MOST_PARTS = 16, EXACT = 1 << 24, BYTE = 255 };

// -------------------------------------------------------------------------------------------- rows
// What views and casts of integers show; *seen: there are views
static const Node *behind_views(const Node *n, bool *seen) {
    while (is_view(n->op) || (n->op == OP_cast && !dtype_is_float(n->in[0]->type.dtype))) {
        *seen |= n->op != OP_cast;
        n = n->in[0];
    }
    return n;
}

static bool is_byte(DType t) {
    return t == DT_u8 || t == DT_i8 || t == DT_bool || t == DT_u4 || t == DT_i4;
}

static bool is_byte_of(const Node *zero, DType t) {
    bool seen = false;
    zero = behind_views(zero, &seen);
    if (zero->op != OP_constant || !zero->value || !zero->value->data ||
        tensor_count(zero->value) != 1)
        return zero->type.dtype == t;
    double value = dtype_load(zero->value->dtype, zero->value->data, 0);
    return t == DT_u8 ? value >= 0 && value <= BYTE : t == DT_i8 && value >= -128 && value <= 127;
}

// Returns true if x has one number for each row, or one for all.
static bool is_of_rows(const Node *zero, const Node *x, bool one) {
    const Type *t = &zero->type;
    for (int i = 0; i < t->rank; i++)
        if (!dim_is(t->dim[i], 1) && (one || i == t->rank - 1)) return false;
    return t->rank <= x->type.rank;
}

// Bytes, less a zero point of their type: no two of a row, nor one and 0, are more than 255 apart.
static bool is_rows_of_bytes(const Node *x) {
    bool views = false, seen = false;
    x = behind_views(x, &views);
    if (is_byte(x->type.dtype)) return true;
    if (x->op != OP_sub) return false;
    const Node *bytes = behind_views(x->in[0], &seen);
    return is_byte(bytes->type.dtype) && is_byte_of(x->in[1], bytes->type.dtype) &&
           is_of_rows(x->in[1], x, views);
}

// ----------------------------------------------------------------------------------------- weights
// A matrix of bytes, or of integers that fold made of them, minus a number or one number for each
// column
typedef struct Bytes {
    Node *constant;
    const Tensor *bytes, *zero;  // zero: NULL, of one element or of `columns`
    int64_t rows, columns;
    bool swapped;  // bytes are [columns][rows]
} Bytes;

static const Tensor *data_of(const Node *n) {
    return n->op == OP_constant && n->value && n->value->data ? n->value : NULL;
}

static bool read_bytes(Node *n, Bytes *b) {
    *b = (Bytes){0};
    if (n->type.rank != 2 || !dim_is_const(n->type.dim[0], &b->rows) ||
        !dim_is_const(n->type.dim[1], &b->columns))
        return false;
    if (n->op == OP_transpose) b->swapped = true, n = n->in[0];
    if (n->op == OP_sub) {
        b->zero = data_of(n->in[1]);
        bool fits = b->zero && (tensor_count(b->zero) == 1 ||
                                (tensor_count(b->zero) == b->columns && !b->swapped));
        if (!fits) return false;
        n = n->in[0];
    }
    if (n->op == OP_cast) n = n->in[0];
    b->constant = n, b->bytes = data_of(n);
    return b->bytes && b->bytes->rank == 2 && !dtype_is_block(b->bytes->dtype) &&
           !dtype_is_float(b->bytes->dtype);
}

static double weight_at(const Bytes *b, int64_t row, int64_t column) {
    int64_t at = b->swapped ? column * b->rows + row : row * b->columns + column;
    double zero = !b->zero ? 0
                           : dtype_load(b->zero->dtype, b->zero->data,
                                        tensor_count(b->zero) == 1 ? 0 : column);
    return dtype_load(b->bytes->dtype, b->bytes->data, at) - zero;
}

// The range of a column's weights over some rows, including 0, and their sum
typedef struct Column {
    double least, most, sum;
} Column;

static void begin(Column *c, int64_t n) {
    for (int64_t j = 0; j < n; j++) c[j] = (Column){0};
}

// The first rows of the parts whose sums of products by bytes stay within `limit`, followed by the
// number of rows; 0: too many parts, or weights beyond bytes
static int split_rows(const Bytes *b, double limit, Arena *arena, int64_t *start) {
    Column *columns = ARENA_ARRAY(arena, Column, b->columns);
    int n = 0;
    start[n++] = 0;
    begin(columns, b->columns);
    for (int64_t k = 0; k < b->rows; k++) {
        bool over = false;
        for (int64_t j = 0; j < b->columns; j++) {
            double w = weight_at(b, k, j);
            Column *c = &columns[j];
            c->least = fmin(c->least, w), c->most = fmax(c->most, w), c->sum += fabs(w) * BYTE;
            if (c->most - c->least > BYTE) return 0;
            over |= c->sum > limit;
        }
        if (!over) continue;
        if (n == MOST_PARTS || k == start[n - 1]) return 0;
        start[n++] = k--;
        begin(columns, b->columns);
    }
    start[n] = b->rows;
    return n;
}

static bool fit_i8(const Bytes *b, const int64_t *rows) {
    for (int64_t k = rows[0]; k < rows[1]; k++)
        for (int64_t j = 0; j < b->columns; j++) {
            double w = weight_at(b, k, j);
            if (w < -128 || w > 127) return false;
        }
    return true;
}

static Node *new_weights(Builder at, const Bytes *b, const int64_t *rows, DType type) {
    Tensor *t = ARENA_NEW(at.graph->arena, Tensor);
    int64_t n = (rows[1] - rows[0]) * b->columns;
    t->bytes = (uint64_t)n * (uint64_t)dtype_bits(type) / 8;
    void *data = arena_alloc(at.graph->arena, t->bytes + 1);
    for (int64_t i = 0; i < n; i++)
        dtype_store(type, data, i, weight_at(b, rows[0] + i / b->columns, i % b->columns));
    t->dtype = type, t->rank = 2, t->dim[0] = rows[1] - rows[0], t->dim[1] = b->columns;
    t->data = data, t->name = b->bytes->name;
    return build_constant(at, t);
}

// The weights of rows [rows[0], rows[1]): the file's bytes if these are all rows
static Node *packed_weights(Builder at, const Bytes *b, const int64_t *rows) {
    bool small = fit_i8(b, rows),
         zero = b->zero &&
                (tensor_count(b->zero) > 1 || dtype_load(b->zero->dtype, b->zero->data, 0) != 0);
    bool whole = !zero && rows[1] - rows[0] == b->rows &&
                 (b->bytes->dtype == DT_i8 || b->bytes->dtype == DT_u8);
    Node *w = whole ? b->constant : new_weights(at, b, rows, small ? DT_i8 : DT_i16);
    Node *pack = build_begin(at, OP_pack, 1, &w);
    attr_set_string(pack, "format", dtype_name(small ? DT_i8_32 : DT_i9_32));
    if (!whole || !b->swapped) attr_set_int(pack, "transposed", 1);
    return build_end(at, pack);
}

// ---------------------------------------------------------------------------------------- products
static Node *as_floats(Builder at, Node *x) {
    for (int i = 0; i < x->n_users; i++)
        if (x->users[i]->op == OP_cast && x->users[i]->type.dtype == DT_f32) return x->users[i];
    return build_cast(at, x, DT_f32);
}

static Node *product_of_part(Builder at, Node *x, const Bytes *b, const int64_t *rows) {
    Graph *g = at.graph;
    Slice part = {x->type.rank - 1, dim_const(g, rows[0]), dim_const(g, rows[1] - rows[0]), 1};
    Node *some = rows_in_blocks(at, build_slice(at, x, part), DT_i8_rows);
    Node *n = build_begin(at, OP_matmul_packed, 2, (Node *[]){some, packed_weights(at, b, rows)});
    attr_set_int(n, "columns", b->columns);
    return build_end(at, n);
}

static bool is_read_as_floats(const Node *n) {
    for (int i = 0; i < n->n_users; i++)
        if (n->users[i]->op != OP_cast || n->users[i]->type.dtype != DT_f32) return false;
    return node_uses(n) == n->n_users;
}

static void read_floats(Node *n, Node *floats) {
    for (int i = n->n_users; i-- > 0;)
        if (n->users[i]->op == OP_cast && n->users[i]->type.dtype == DT_f32)
            node_become(n->users[i], floats);
}

static bool rewrite(Node *n) {
    Bytes b;
    int64_t start[MOST_PARTS + 1];
    if (n->op != OP_matmul || n->type.dtype != DT_i32 || n->in[0]->type.rank < 2 ||
        !read_bytes(n->in[1], &b))
        return false;
    if (!is_rows_of_bytes(n->in[0])) return false;
    bool whole = is_read_as_floats(n) && split_rows(&b, INT32_MAX, n->graph->arena, start) == 1;
    int parts = whole ? 1 : split_rows(&b, EXACT, n->graph->arena, start);
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
