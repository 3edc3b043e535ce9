// Rotary embedding, attention over keys and values (plain or cached), and the cache itself.
#include <stdlib.h>
#include <string.h>

#include "ir/eval/eval_internal.h"
#include "ir/eval/eval_rows.h"
#include "ir/format.h"
#include "ir/operands.h"
#include "kernels/quantize.h"

void eval_rotary(EvalContext *c, Node *n) {
    const Value *x = c->in[0];
    DType real = eval_real(c, n->type.dtype);
    size_t size = (size_t)dtype_bits(real) / 8;
    int64_t rows = x->dim[0], width = x->dim[1], half = c->in[1]->dim[1],
            heads = attr_int(n, "num_heads", 1);
    RotaryShape shape = {heads, width / heads, 2 * half, attr_int(n, "interleaved", 0)};
    int64_t table[2] = {rows, half};
    Value cosine = value_broadcast(c->in[1], 2, table), sine = value_broadcast(c->in[2], 2, table);
    const char *from = value_dense(c, x, real), *cosines = value_dense(c, &cosine, real),
               *sines = value_dense(c, &sine, real);
    Value y = eval_fresh(c, real, 2, x->dim), *out = eval_result(c, n);
    for (int64_t r = 0; r < rows; r++) {
        const void *in[3] = {from + (size_t)(r * width) * size, cosines + (size_t)(r * half) * size,
                             sines + (size_t)(r * half) * size};
        real_kernels(real)->rotary(&shape, in, (char *)value_out(&y) + (size_t)(r * width) * size);
    }
    value_copy(out->dtype, value_out(out), &y);
}

// An i32[R] operand as indices; NULL when absent.
static const int64_t *read_indices(EvalContext *c, const Node *n, int i) {
    return operand_or_null(n, i) ? value_dense(c, c->in[i], DT_i64) : NULL;
}

static void check_row(const Node *n, int64_t slot, int64_t slots, int64_t position,
                      int64_t context) {
    if (slot < 0 || slot >= slots || position < 0 || position >= context)
        diag_fatal(
            n->loc,
            "%%%s: slot %lld and position %lld are not inside of %lld slots of %lld positions",
            n->name, (long long)slot, (long long)position, (long long)slots, (long long)context);
}

// Rounds rows of `width` floats to the values of q8_0 blocks (runtime/kernels/kv_cache.h)
static void round_to_blocks(float *x, int64_t rows, int64_t width) {
    q8_block *blocks = malloc((size_t)blocks_of((int)width) * sizeof *blocks);
    for (; rows > 0; rows--, x += width) {
        quantize_row_q8_0((int)width, x, blocks);
        for (int64_t i = 0; i < width; i++) {
            const q8_block *b = &blocks[i / QUANT_BLOCK];
            x[i] = (float)b->q[i % QUANT_BLOCK] * sf_from_f16(f16_from_float(b->scale));
        }
    }
    free(blocks);
}

// Rows [R, heads * d] as a cache of this type holds them: dense, of the element type of its value.
// The truth is rounded, too.
static const char *cached_rows(EvalContext *c, const Type *cache, const Value *state,
                               const Value *rows) {
    if (cache->dtype != DT_f16 && !dtype_is_block(cache->dtype))
        return value_dense(c, rows, state->dtype);
    Value rounded = eval_fresh(c, cache->dtype == DT_f16 ? DT_f16 : DT_f32, rows->rank, rows->dim);
    value_copy(rounded.dtype, value_out(&rounded), rows);
    if (rounded.dtype == DT_f32)
        round_to_blocks(value_out(&rounded), rows->dim[0] * state->dim[1], state->dim[3]);
    return value_dense(c, &rounded, state->dtype);
}

// Writes into the state itself: a later version is the only one that anything reads (the planner
// proves it).
void eval_cache_append(EvalContext *c, Node *n) {
    const Value *rows = c->in[APPEND_ROWS];
    Value state = *c->in[APPEND_STATE];
    const int64_t *slot = read_indices(c, n, APPEND_SLOT),
                  *position = read_indices(c, n, APPEND_POSITION);
    int64_t heads = state.dim[1], d = state.dim[3], count = rows->dim[0];
    size_t size = (size_t)dtype_bits(state.dtype) / 8;
    const char *from = cached_rows(c, &n->type, &state, rows);
    for (int64_t r = 0; r < count; r++) {
        int64_t to = slot ? slot[r] : 0, place = position ? position[r] : r;
        check_row(n, to, state.dim[0], place, state.dim[2]);
        for (int64_t h = 0; h < heads; h++) {
            int64_t at = to * state.stride[0] + h * state.stride[1] + place * state.stride[2];
            memcpy((char *)value_out(&state) + (size_t)at * size,
                   from + (size_t)((r * heads + h) * d) * size, (size_t)d * size);
        }
    }
    c->out = state;
}

void eval_shift_rows(EvalContext *c, Node *n) {
    const Value *x = c->in[SHIFT_X];
    const int64_t *slot = read_indices(c, n, SHIFT_SLOT),
                  *position = read_indices(c, n, SHIFT_POSITION);
    int64_t rows = slot ? c->in[SHIFT_SLOT]->dim[0] : x->dim[0], width = x->dim[x->rank - 1],
            back = attr_int(n, "back", 0);
    size_t bytes = (size_t)width * (size_t)dtype_bits(x->dtype) / 8;
    const char *from = value_dense(c, x, x->dtype);
    Value y = eval_fresh(c, x->dtype, 2, (int64_t[]){rows, width});
    for (int64_t r = 0; r < rows; r++) {
        int64_t at = position ? position[r] : r, first = 0;
        if (slot) check_row(n, slot[r], x->dim[0], at, x->dim[2]), first = slot[r] * x->dim[2];
        char *to = (char *)value_out(&y) + (size_t)r * bytes;
        if (at < back)
            memset(to, 0, bytes);
        else
            memcpy(to, from + (size_t)(first + at - back) * bytes, bytes);
    }
    c->out = y;
}

// Keys or values: [slots, heads, keys, width], or [batch * keys, heads * width], a slot for each
// sequence, as dense rows of `real`.
typedef struct {
    const char *data;
    int64_t slots, keys, width, slot_stride, head_stride, stride;  // in elements
} KeyRows;

static KeyRows read_keys(EvalContext *c, const Value *v, int64_t heads, int64_t batch, DType real) {
    KeyRows k = {.data = value_dense(c, v, real), .slots = batch};
    if (v->rank == 4) {
        k.slots = v->dim[0], k.keys = v->dim[2], k.width = k.stride = v->dim[3];
        k.head_stride = k.keys * k.width, k.slot_stride = heads * k.head_stride;
    } else {
        k.keys = v->dim[0] / batch, k.stride = v->dim[1];
        k.width = k.head_stride = v->dim[1] / heads, k.slot_stride = k.keys * k.stride;
    }
    return k;
}

// Products with kept keys, and sums of kept values: for each row and head, `function` reads the
// row's x, and the rows of the head that a row sees.
typedef struct {
    int64_t x, kept, y;  // widths of a head
    const RealKernels *kernels;
    size_t size;
} KeptShape;

static void key_products(const KeptShape *s, int64_t seen, const char *x, const char *kept,
                         int64_t stride, char *y) {
    for (int64_t k = 0; k < seen; k++)
        s->kernels->chain(s->x, x, kept + (size_t)(k * stride) * s->size, 1,
                          y + (size_t)k * s->size);
}

static void key_sums(const KeptShape *s, int64_t seen, const char *x, const char *kept,
                     int64_t stride, char *y) {
    for (int64_t d = 0; d < s->y; d++)
        s->kernels->chain(seen, x, kept + (size_t)d * s->size, stride, y + (size_t)d * s->size);
}

static void eval_kept(EvalContext *c, Node *n,
                      void (*function)(const KeptShape *, int64_t, const char *, const char *,
                                       int64_t, char *)) {
    const Value *x = c->in[KEYS_X];
    DType real = eval_real(c, n->type.dtype);
    int64_t rows = x->dim[0], heads = x->dim[1];
    const int64_t *slot = read_indices(c, n, KEYS_SLOT),
                  *position = read_indices(c, n, KEYS_POSITION);
    KeyRows kept = read_keys(c, c->in[KEYS_ROWS], heads, 1, real);
    KeptShape s = {x->dim[2], kept.width, kept.width, real_kernels(real),
                   (size_t)dtype_bits(real) / 8};
    if (n->op == OP_key_products) s.y = eval_dim(c, n, attr_dim(n, "context"));
    Value y = eval_fresh(c, real, 2, (int64_t[]){rows, heads * s.y}), *out = eval_result(c, n);
    const char *from = value_dense(c, x, real);
    memset(value_out(&y), 0, (size_t)(rows * heads * s.y) * s.size);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t h = 0; h < heads; h++) {
            int64_t at = position ? position[r] : r, first = h * kept.head_stride;
            if (slot)
                check_row(n, slot[r], kept.slots, at, kept.keys),
                    first += slot[r] * kept.slot_stride;
            function(&s, at + 1, from + (size_t)((r * heads + h) * s.x) * s.size,
                     kept.data + (size_t)first * s.size, kept.stride,
                     (char *)value_out(&y) + (size_t)((r * heads + h) * s.y) * s.size);
        }
    value_copy(out->dtype, value_out(out), &y);
}

void eval_key_products(EvalContext *c, Node *n) { eval_kept(c, n, key_products); }
void eval_key_sums(EvalContext *c, Node *n) { eval_kept(c, n, key_sums); }

typedef struct {
    const int64_t *slot, *position;
    int64_t batch, rows, heads, groups, window;  // rows of each sequence of the batch
    bool causal;
    KeyRows keys, values;
    const char *q, *bias, *mask, *sinks;
    size_t size;
    void (*row)(const AttentionRow *, void *y);  // results of each query and head
} Attention;

static void attend_row(const Attention *a, const Node *n, AttentionRow row, int64_t r, char *out) {
    int64_t sequence = r / a->rows, at = r % a->rows;
    int64_t slot = a->slot ? a->slot[r] : sequence, position = a->position ? a->position[r] : at;
    if (a->causal || a->slot)
        check_row(n, slot, a->keys.slots, a->causal ? position : 0, a->keys.keys);
    row.to = a->causal ? position + 1 : a->keys.keys;
    row.from = a->window && position + 1 > a->window ? position + 1 - a->window : 0;
    for (int64_t h = 0; h < a->heads; h++) {
        int64_t group = h / (a->heads / a->groups);
        row.q = a->q + (size_t)((r * a->heads + h) * row.d) * a->size;
        row.keys = a->keys.data +
                   (size_t)(slot * a->keys.slot_stride + group * a->keys.head_stride) * a->size;
        row.values =
            a->values.data +
            (size_t)(slot * a->values.slot_stride + group * a->values.head_stride) * a->size;
        row.bias =
            a->bias
                ? a->bias +
                      (size_t)(((sequence * a->heads + h) * a->rows + at) * a->keys.keys) * a->size
                : NULL;
        row.sink = a->sinks ? a->sinks + (size_t)h * a->size : NULL;
        row.mask = a->mask ? a->mask + (size_t)(sequence * a->keys.keys) * a->size : NULL;
        a->row(&row, out + (size_t)((r * a->heads + h) * row.e) * a->size);
    }
}

// Keys that any row may see
static int64_t keys_used(const Attention *a, int64_t rows) {
    int64_t most = 0;
    for (int64_t r = 0; a->causal && r < rows; r++) {
        int64_t position = a->position ? a->position[r] : r % a->rows;
        if (position + 1 > most) most = position + 1;
    }
    return a->causal ? most : a->keys.keys;
}

// Values that are 1 at their own key and 0 elsewhere: their weighted sums are the attention weights
// themselves.
static KeyRows unit_values(EvalContext *c, int64_t n) {
    double *data = arena_alloc(c->arena, (size_t)(n * n) * sizeof *data);
    for (int64_t i = 0; i < n; i++) data[i * n + i] = 1;
    return (KeyRows){.data = (const char *)data, .slots = 1, .keys = n, .width = n, .stride = n};
}

// Rows [R, H e] of `real` for a function of each query and head. Shares of the keys in place of
// values: real is f64, e the keys.
static Value attention_rows(EvalContext *c, const Node *n, DType real,
                            void (*function)(const AttentionRow *, void *), bool shares) {
    const Dim *batch = attr_dim(n, "batch");
    int64_t sequences = batch ? eval_dim(c, n, batch) : 1;
    Attention a = {.batch = sequences ? sequences : 1};
    a.heads = attr_int(n, "num_heads", 1), a.groups = attr_int(n, "num_kv_heads", 1),
    a.rows = c->in[ATTENTION_QUERY]->dim[0] / a.batch;
    a.row = function, a.size = (size_t)dtype_bits(real) / 8;
    a.window = attr_int(n, "window", 0), a.causal = attr_int(n, "causal", 0);
    a.slot = read_indices(c, n, ATTENTION_SLOT),
    a.position = read_indices(c, n, ATTENTION_POSITION);
    a.keys = read_keys(c, c->in[ATTENTION_KEY], a.groups, a.batch, real),
    a.values = read_keys(c, c->in[ATTENTION_VALUE], a.groups, a.batch, real);
    a.q = value_dense(c, c->in[ATTENTION_QUERY], real);
    if (shares) a.values = unit_values(c, keys_used(&a, a.batch * a.rows));
    AttentionRow row = {.d = a.keys.width,
                        .e = a.values.width,
                        .key_stride = a.keys.stride,
                        .value_stride = a.values.stride};
    row.scale = attr_float(n, "scale", 1), row.softcap = attr_float(n, "softcap", 0);
    if (operand_or_null(n, ATTENTION_BIAS)) {
        Value bias = value_broadcast(c->in[ATTENTION_BIAS], 4,
                                     (int64_t[]){a.batch, a.heads, a.rows, a.keys.keys});
        a.bias = value_dense(c, &bias, real);
    }
    if (operand_or_null(n, ATTENTION_MASK)) a.mask = value_dense(c, c->in[ATTENTION_MASK], real);
    if (operand_or_null(n, ATTENTION_SINKS)) a.sinks = value_dense(c, c->in[ATTENTION_SINKS], real);
    row.scratch = arena_alloc(c->arena, (size_t)row.e * a.size);
    Value y = eval_fresh(c, real, 2, (int64_t[]){a.batch * a.rows, a.heads * row.e});
    for (int64_t r = 0; r < a.batch * a.rows; r++) attend_row(&a, n, row, r, (char *)value_out(&y));
    return y;
}

void eval_watch_attention(EvalContext *c, AttentionWatch *watch, void *user) {
    c->observer = watch, c->observer_data = user;
}

static void show_shares(EvalContext *c, const Node *n) {
    Value y = attention_rows(c, n, DT_f64, real_kernels(DT_f64)->attend, true);
    int64_t heads = attr_int(n, "num_heads", 1);
    c->observer(c->observer_data, n, value_dense(c, &y, DT_f64),
                (int64_t[]){y.dim[0], heads, y.dim[1] / heads});
}

void eval_attention(EvalContext *c, Node *n) {
    DType real = eval_real(c, n->type.dtype);
    if (c->observer) show_shares(c, n);
    Value y = attention_rows(c, n, real, real_kernels(real)->attend, false),
          *out = eval_result(c, n);
    value_copy(out->dtype, value_out(out), &y);
}

void eval_attention_bound(EvalContext *c, Node *n, double *bound) {
    Value y = attention_rows(c, n, DT_f64, attention_row_bound, false);
    value_copy(DT_f64, bound, &y);
}
