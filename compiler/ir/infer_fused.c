// Types of fused forms: norms with weights, rotary embedding, attention, states, packed weights and
// products by them.
#include <string.h>

#include "ir/format.h"
#include "ir/infer.h"
#include "ir/operands.h"

static const Type *type_or_null(const Node *n, int i) {
    return operand_or_null(n, i) ? operand(n, i) : NULL;
}

static bool check_norm_weights(const Node *n, int first) {
    const Type *x = operand(n, 0);
    if (!x->rank || !dtype_is_float(x->dtype))
        return infer_mismatch(n, "takes floats of rank 1 or more");
    for (int i = first; i < n->n_in; i++) {
        if (!n->in[i]) continue;
        const Type *w = operand(n, i);
        if (w->rank != 1 || w->dim[0] != x->dim[x->rank - 1] || w->dtype != x->dtype)
            return infer_mismatch(n, "weights must be %s[%s]", dtype_name(x->dtype),
                                  dim_text(x->dim[x->rank - 1]));
    }
    return true;
}

bool infer_norm(Graph *g, Node *n, Type *result) {
    (void)g;
    *result = *operand(n, 0);
    return check_norm_weights(n, NORM_WEIGHT);
}

bool infer_skip_norm(Graph *g, Node *n, Type *result) {
    if (!type_equal(operand(n, 0), operand(n, 1)))
        return infer_mismatch(n, "the value and its residual differ in type");
    Type *items = ARENA_ARRAY(g->arena, Type, 2);
    items[0] = items[1] = *operand(n, 0);
    n->items = items, n->n_items = 2;
    *result = type_scalar(DT_tuple);
    return check_norm_weights(n, SKIP_NORM_WEIGHT);
}

// Width of a head if `width` is `heads` heads; NULL if it does not divide.
static const Dim *head_width(Graph *g, const Dim *width, int64_t heads) {
    const Dim *h = dim_const(g, heads);
    return heads > 0 && dim_divides(g, h, width) ? dim_binary(g, DIM_FLOORDIV, width, h) : NULL;
}

bool infer_rotary(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, 0), *cosine = operand(n, 1), *sine = operand(n, 2);
    if (x->rank != 2 || cosine->rank != 2)
        return infer_mismatch(n, "takes x [T, heads * d], cos [T, r/2] and sin [T, r/2]");
    if (!type_equal(cosine, sine) || cosine->dtype != x->dtype)
        return infer_mismatch(n, "cos and sin must have one type, that of x");
    const Dim *d = head_width(g, x->dim[1], attr_int(n, "num_heads", 0));
    if (!d)
        return infer_mismatch(n, "the width %s is not %lld heads", dim_text(x->dim[1]),
                              (long long)attr_int(n, "num_heads", 0));
    const Dim *turned = dim_binary(g, DIM_MUL, cosine->dim[1], dim_const(g, 2));
    if (dim_upper(turned) > dim_upper(d))
        return infer_mismatch(n, "turns %s elements of heads of %s", dim_text(turned), dim_text(d));
    if (!dim_broadcast(g, x->dim[0], cosine->dim[0]))
        return infer_mismatch(n, "x and cos differ in rows");
    *result = *x;
    return true;
}

// [S, G d] or a state [slots, G, context, d]: the width of one head, or NULL.
static const Dim *kv_head_width(Graph *g, const Type *t, int64_t heads) {
    int64_t stored;
    if (t->rank == 2) return head_width(g, t->dim[1], heads);
    return t->rank == 4 && dim_is_const(t->dim[1], &stored) && stored == heads ? t->dim[3] : NULL;
}

// Sequences one after the other, all as long: the attribute `batch`, one without it.
static bool check_batch(Graph *g, Node *n, const Type *q, const Type *k) {
    const Dim *batch = attr_dim(n, "batch");
    const Type *mask = type_or_null(n, ATTENTION_MASK);
    if (!batch) batch = dim_const(g, 1);
    if (!dim_divides(g, batch, q->dim[0]) || (k->rank == 2 && !dim_divides(g, batch, k->dim[0])))
        return infer_mismatch(n, "%s rows are not those of %s sequences", dim_text(q->dim[0]),
                              dim_text(batch));
    if (mask && (k->rank != 2 || mask->rank != 2 || mask->dim[0] != batch ||
                 dim_binary(g, DIM_MUL, mask->dim[0], mask->dim[1]) != k->dim[0]))
        return infer_mismatch(n, "the mask must be [batch, keys of a sequence]");
    return true;
}

bool infer_attention(Graph *g, Node *n, Type *result) {
    int64_t heads = attr_int(n, "num_heads", 0), groups = attr_int(n, "num_kv_heads", 0);
    const Type *q = operand(n, ATTENTION_QUERY), *k = operand(n, ATTENTION_KEY),
               *v = operand(n, ATTENTION_VALUE);
    if (heads < 1 || groups < 1 || heads % groups)
        return infer_mismatch(n, "%lld heads over %lld key heads", (long long)heads,
                              (long long)groups);
    const Dim *d = q->rank == 2 ? head_width(g, q->dim[1], heads) : NULL,
              *dk = kv_head_width(g, k, groups);
    const Dim *e = kv_head_width(g, v, groups);
    if (!d || !dk || !e || d != dk)
        return infer_mismatch(
            n, "takes q [T, H d], k [S, G d] and v [S, G e], or states [slots, G, context, d]");
    if (k->rank != v->rank)
        return infer_mismatch(n, "keys and values must both be states or both be plain");
    if (k->rank == 2 && k->dim[0] != v->dim[0])
        return infer_mismatch(n, "keys and values differ in number");
    if (k->rank == 4 &&
        !(operand_or_null(n, ATTENTION_SLOT) && operand_or_null(n, ATTENTION_POSITION)))
        return infer_mismatch(n, "attention over states needs slot and position");
    if (k->rank == 2 &&
        (operand_or_null(n, ATTENTION_SLOT) || operand_or_null(n, ATTENTION_POSITION)))
        return infer_mismatch(n, "slot and position are of attention over states");
    if (!check_batch(g, n, q, k)) return false;
    const Type *sinks = type_or_null(n, ATTENTION_SINKS);
    if (sinks && (sinks->rank != 1 || !dim_is(sinks->dim[0], heads)))
        return infer_mismatch(n, "the sinks must be [heads]");
    *result = *q;
    result->dim[1] = dim_binary(g, DIM_MUL, e, dim_const(g, heads));
    return true;
}

bool infer_cache_append(Graph *g, Node *n, Type *result) {
    const Type *state = operand(n, APPEND_STATE), *rows = operand(n, APPEND_ROWS);
    int64_t heads = attr_int(n, "heads", 0);
    if (state->rank != 4 || rows->rank != 2 ||
        kv_head_width(g, rows, heads) != kv_head_width(g, state, heads) ||
        !kv_head_width(g, state, heads))
        return infer_mismatch(n,
                              "takes a state [slots, heads, context, d] and rows [R, heads * d]");
    const Type *slot = type_or_null(n, APPEND_SLOT), *position = type_or_null(n, APPEND_POSITION);
    if (!slot != !position || (slot && (slot->rank != 1 || position->rank != 1)))
        return infer_mismatch(n, "slot and position must be i32[R], both or none");
    *result = *state;
    return true;
}

// Rows, or a state and where each row is.
bool infer_shift_rows(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, 0);
    (void)g;
    if (attr_int(n, "back", 0) < 0) return infer_mismatch(n, "\"back\" is negative");
    if (x->dtype != DT_f32) return infer_mismatch(n, "takes rows of f32");
    const Type *slot = type_or_null(n, SHIFT_SLOT), *position = type_or_null(n, SHIFT_POSITION);
    if (!slot && !position) {
        *result = *x;
        return x->rank == 2 ||
               infer_mismatch(
                   n, "takes x [R, n], or a state [slots, 1, context, n] with slot and position");
    }
    if (x->rank != 4 || !dim_is(x->dim[1], 1) || !slot || !position || slot->rank != 1 ||
        !type_equal(slot, position))
        return infer_mismatch(
            n, "takes x [R, n], or a state [slots, 1, context, n] with slot and position");
    *result = type_of(x->dtype, 2, (const Dim *[]){slot->dim[0], x->dim[3]});
    return true;
}

// Returns the width of a head in rows of all heads, or in a state of such rows; NULL if they do not
// fit.
static const Dim *kept_width(Graph *g, const Node *n, const Type *x, int64_t heads) {
    const Type *kept = operand(n, KEYS_ROWS), *slot = type_or_null(n, KEYS_SLOT),
               *position = type_or_null(n, KEYS_POSITION);
    bool state = kept->rank == 4 && dim_is(kept->dim[1], heads) && slot && position &&
                 slot->rank == 1 && type_equal(slot, position) && slot->dim[0] == x->dim[0];
    bool rows = kept->rank == 2 && kept->dim[0] == x->dim[0] && !slot && !position;
    if (x->dtype != DT_f32 || (!state && !rows)) return NULL;
    return kv_head_width(g, kept, heads);
}

static const char takes_kept[] =
    "takes f32 x [R, heads, n] and rows [R, heads * d], or a state [slots, heads, context, d] with "
    "slot and position";

bool infer_key_products(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, KEYS_X), *keys = operand(n, KEYS_ROWS);
    const Dim *context = attr_dim(n, "context");
    int64_t heads;
    if (x->rank != 3 || !dim_is_const(x->dim[1], &heads) ||
        kept_width(g, n, x, heads) != x->dim[2] || (keys->rank == 4 && keys->dim[2] != context))
        return infer_mismatch(n, "%s", takes_kept);
    *result = type_of(DT_f32, 3, (const Dim *[]){x->dim[0], x->dim[1], context});
    return true;
}

bool infer_key_sums(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, KEYS_X), *values = operand(n, KEYS_ROWS);
    int64_t heads = attr_int(n, "heads", 0);
    const Dim *width = x->rank == 3 && dim_is(x->dim[1], heads) ? kept_width(g, n, x, heads) : NULL;
    if (!width || (values->rank == 4 && values->dim[2] != x->dim[2]))
        return infer_mismatch(n, "%s", takes_kept);
    *result = type_of(
        DT_f32, 2, (const Dim *[]){x->dim[0], dim_binary(g, DIM_MUL, width, dim_const(g, heads))});
    return true;
}

bool infer_gather_rows(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, 0), *logit_rows = operand(n, 1);
    if (x->rank != 2 || logit_rows->rank != 1 || logit_rows->dtype != DT_bool ||
        logit_rows->dim[0] != x->dim[0])
        return infer_mismatch(n, "takes x [R, width] and logit_rows bool[R]");
    *result = *x;
    result->dim[0] = dim_symbol(g, "L", 0, dim_upper(x->dim[0]));
    return true;
}

static bool read_format(const Node *n, DType *format) {
    const char *name = attr_string(n, "format", "");
    bool known = dtype_parse(name, format),
         rows = n->op == OP_quantize_rows && dtype_is_rows(*format);
    if (known && (dtype_is_float(*format) || rows || (n->op == OP_pack && dtype_is_block(*format))))
        return true;
    return infer_mismatch(n, "unknown format \"%s\"", name);
}

bool infer_quantize_rows(Graph *g, Node *n, Type *result) {
    (void)g;
    const Type *x = operand(n, 0);
    DType format;
    if (!read_format(n, &format)) return false;
    if (!x->rank || x->dtype != DT_f32) return infer_mismatch(n, "takes f32 rows");
    *result = *x;
    result->dtype = format;
    return true;
}

bool infer_pack(Graph *g, Node *n, Type *result) {
    bool transposed = attr_int(n, "transposed", 0), interleave = attr_int(n, "interleave", 0);
    const Dim *columns = dim_const(g, 0), *k = NULL;
    int64_t experts = attr_int(n, "experts", 1), of_one = experts > 0 ? n->n_in / experts : 0;
    *result = type_scalar(DT_f32);
    if (!read_format(n, &result->dtype)) return false;
    if (!of_one || of_one * experts != n->n_in)
        return infer_mismatch(n, "takes as many weights of each expert");
    for (int i = 0; i < n->n_in; i++) {
        const Type *w = operand(n, i);
        if (w->rank != 2) return infer_mismatch(n, "takes weights of rank 2");
        if (k && w->dim[!transposed] != k) return infer_mismatch(n, "weights differ in K");
        if (interleave && w->dim[transposed] != operand(n, 0)->dim[transposed])
            return infer_mismatch(n, "interleaved weights differ in N");
        if (w->dim[transposed] != operand(n, i % (int)of_one)->dim[transposed])
            return infer_mismatch(n, "experts differ in N");
        k = w->dim[!transposed];
        columns = dim_binary(g, DIM_ADD, columns, w->dim[transposed]);
    }
    result->rank = 2, result->dim[0] = columns, result->dim[1] = k;
    return true;
}

// Operands of the epilogue: [N], [R, N] or a scalar.
static bool check_epilogue(Graph *g, const Node *n, const Type *result) {
    const Expr *e = attr_expr(n, "epilogue");
    int sums = attr_int(n, "glu", 0) ? 2 : 1, first = product_epilogue(n),
        operands = n->n_in - first + sums;
    if (sums == 2 && !e) return infer_mismatch(n, "\"glu\" needs an epilogue that joins $0 and $1");
    if (e && expr_max_arg(e) >= operands)
        return infer_mismatch(n, "the epilogue names $%d of %d operands", expr_max_arg(e),
                              operands);
    if (!e && n->n_in > first) return infer_mismatch(n, "has operands but no epilogue");
    for (int i = first; i < n->n_in; i++) {
        Type r;
        if (!type_broadcast(g, result, operand(n, i), &r) || !type_equal(&r, result))
            return infer_mismatch(n, "operand %d of the epilogue does not broadcast to %s", i,
                                  type_text(result));
    }
    return true;
}

// Rows by the packed weights of `experts` matrices: the type of x with the product's columns.
static bool infer_product(Graph *g, Node *n, int64_t experts, Type *result) {
    const Type *x = operand(n, PRODUCT_X), *w = operand(n, PRODUCT_WEIGHTS);
    int64_t columns = attr_int(n, "columns", 0);
    const Dim *expected = dim_const(g, experts * (attr_int(n, "glu", 0) ? 2 * columns : columns));
    if (n->in[PRODUCT_WEIGHTS]->op != OP_pack || !x->rank || w->rank != 2 ||
        x->dim[x->rank - 1] != w->dim[1])
        return infer_mismatch(n, "takes x [R, K] and weights [N, K] of a pack");
    if (w->dim[0] != expected)
        return infer_mismatch(n, "the packed weights have %s columns, not %s", dim_text(w->dim[0]),
                              dim_text(expected));
    if (x->dtype == DT_q8_rows &&
        !(format_of(w->dtype) && format_takes_integers(format_of(w->dtype))))
        return infer_mismatch(n, "rows of int8 need weights in blocks");
    if (x->dtype == DT_i8_rows && !(format_of(w->dtype) && format_is_exact(format_of(w->dtype))))
        return infer_mismatch(n, "rows of integers need weights that are integers");
    *result = *x;
    result->dim[x->rank - 1] = dim_const(g, columns);
    if (dtype_is_rows(x->dtype)) result->dtype = DT_f32;
    return true;
}

bool infer_matmul_packed(Graph *g, Node *n, Type *result) {
    return infer_product(g, n, 1, result) && check_epilogue(g, n, result);
}

// Rows [.., K] meet each of their k experts, rows [.., k, K] one each.
bool infer_expert_matmul(Graph *g, Node *n, Type *result) {
    const Type *x = operand(n, PRODUCT_X), *index = operand(n, EXPERT_INDEX);
    const Node *pack = n->in[PRODUCT_WEIGHTS];
    if (!infer_product(g, n, pack->op == OP_pack ? attr_int(pack, "experts", 1) : 1, result))
        return false;
    bool fits = index->dtype == DT_i32 && index->rank &&
                (x->rank == index->rank || x->rank == index->rank + 1);
    for (int i = 0; fits && i < x->rank - 1; i++) fits = x->dim[i] == index->dim[i];
    if (!fits || index->rank == MAX_RANK)
        return infer_mismatch(n, "takes x [.., K] or [.., k, K] and index i32[.., k]");
    const Dim *columns = result->dim[x->rank - 1];
    result->rank = index->rank + 1;
    memcpy(result->dim, index->dim, sizeof index->dim);
    result->dim[index->rank] = columns;
    return check_epilogue(g, n, result);
}
