// Attention, rotary embedding and caches of opsets 23 and later, written as the formulas that
// recognise and fuse look for.
#include <math.h>
#include <string.h>

#include "frontend/onnx/operators/compose.h"

// [B, T, H * d] to [B, H, T, d]
Node *onnx_split_heads(OnnxCall *c, Node *x, int64_t heads) {
    Graph *g = c->graph;
    if (x->type.rank == 4) return x;
    if (x->type.rank != 3 || heads < 1)
        onnx_fatal(c, "takes [B, H, T, d], or [B, T, H d] with the numbers of heads");
    const Dim *h = dim_const(g, heads), *dims[] = {x->type.dim[0], x->type.dim[1], h,
                                                   dim_binary(g, DIM_FLOORDIV, x->type.dim[2], h)};
    return onnx_swap(c, onnx_shape_to(c, x, 4, dims), 1, 2);
}

Node *onnx_merge_heads(OnnxCall *c, Node *x) {
    const Dim *const *d = x->type.dim,
                     *dims[] = {d[0], d[2], dim_binary(c->graph, DIM_MUL, d[1], d[3])};
    return onnx_shape_to(c, onnx_swap(c, x, 1, 2), 3, dims);
}

// Each key head for `repeats` query heads, side by side.
Node *onnx_repeat_heads(OnnxCall *c, Node *x, int64_t repeats) {
    if (repeats == 1) return x;
    const Dim *const *d = x->type.dim, *r = dim_const(c->graph, repeats),
                     *apart[] = {d[0], d[1], dim_const(c->graph, 1), d[2], d[3]};
    Type wide = {.dtype = x->type.dtype, .rank = 5, .dim = {d[0], d[1], r, d[2], d[3]}};
    const Dim *dims[] = {d[0], dim_binary(c->graph, DIM_MUL, d[1], r), d[2], d[3]};
    return onnx_shape_to(c, onnx_expand_to(c, onnx_shape_to(c, x, 5, apart), &wide), 4, dims);
}

// The mask as an addend of the scores; keys beyond its last are hidden.
static Node *mask_bias(OnnxCall *c, Node *mask, const Dim *keys, DType dtype) {
    if (mask->type.dtype == DT_bool) {
        Node *choices[] = {mask, onnx_scalar(c, dtype, 0), onnx_scalar(c, dtype, -INFINITY)};
        mask = onnx_emit(c, OP_where, 3, choices);
    }
    mask = onnx_cast(c, mask, dtype);
    int last = mask->type.rank - 1;
    int64_t more;
    if (last < 0 || !dim_is_const(dim_sub(c->graph, keys, mask->type.dim[last]), &more) ||
        more <= 0)
        return mask;
    OnnxPads pads = {0};
    pads.high[last] = more;
    return onnx_pad_with(c, mask, &pads, -INFINITY);
}

static Node *hide_unless(OnnxCall *c, Node *scores, Node *seen) {
    Node *choices[] = {seen, scores, onnx_scalar(c, scores->type.dtype, -INFINITY)};
    return onnx_emit(c, OP_where, 3, choices);
}

typedef struct Attention {
    Node *q, *k, *v, *past_key;
    double softcap;
    int64_t mode;
} Attention;

static Node *query_key_index(OnnxCall *c, const Attention *a, int axis) {
    Type shape = {.rank = 2, .dim = {a->q->type.dim[2], a->k->type.dim[2]}};
    return onnx_index_along(c, &shape, axis);
}

// How many keys there are before row 0 of each sequence: the past's, or those valid less the rows.
static Node *position_of_row(OnnxCall *c, const Attention *a) {
    Node *row = query_key_index(c, a, 0);
    if (a->past_key)
        return ONNX_BINARY(c, OP_add, row, onnx_number_of(c, a->past_key->type.dim[2], DT_i32));
    if (!onnx_operand(c, 6)) return row;
    const Dim *one = dim_const(c->graph, 1), *dims[] = {a->q->type.dim[0], one, one, one};
    Node *valid = onnx_cast(c, onnx_shape_to(c, onnx_node(c, 6), 4, dims), DT_i32);
    return ONNX_BINARY(c, OP_add, row,
                       ONNX_BINARY(c, OP_sub, valid, onnx_number_of(c, a->q->type.dim[2], DT_i32)));
}

static Node *masked(OnnxCall *c, const Attention *a, Node *scores) {
    if (onnx_operand(c, 3))
        scores = ONNX_BINARY(c, OP_add, scores,
                             mask_bias(c, onnx_node(c, 3), a->k->type.dim[2], scores->type.dtype));
    int64_t left = onnx_int(c, "left_window_size", -1),
            right = onnx_int(c, "right_window_size", -1);
    bool causal = onnx_int(c, "is_causal", 0);
    if (causal || left >= 0 || right >= 0) {
        Node *row = position_of_row(c, a);
        scores = ONNX_BLOCK(c, "within", {.node = scores}, {.node = row},
                            {.node = query_key_index(c, a, 1)}, ONNX_INTEGER("causal", causal),
                            ONNX_INTEGER("left", left), ONNX_INTEGER("right", right));
    }
    if (!onnx_operand(c, 6)) return scores;
    const Dim *one = dim_const(c->graph, 1), *dims[] = {a->q->type.dim[0], one, one, one};
    Node *valid = onnx_cast(c, onnx_shape_to(c, onnx_node(c, 6), 4, dims), DT_i32);
    return hide_unless(c, scores, ONNX_BINARY(c, OP_less, query_key_index(c, a, 1), valid));
}

void onnx_scores(OnnxCall *c, Node *q, Node *k, double scale, double cap, Node **results) {
    const OnnxArgument arguments[] = {{.node = q},
                                      {.node = k},
                                      {.name = "scale", .number = scale},
                                      {.name = "cap", .number = cap},
                                      {0}};
    onnx_blocks(c, "scores", arguments, results);
}

// q k^T, softcap, mask, softmax: the fourth result is an intermediate of these.
static Node *probabilities(OnnxCall *c, const Attention *a, double scale) {
    Node *made[ONNX_MOST_OF_BLOCK];
    onnx_scores(c, a->q, a->k, scale, a->softcap, made);
    Node *biased = masked(c, a, made[1]), *p = onnx_softmax_axis(c, biased, 3);
    Node *shown[] = {made[0], made[1], biased, p};
    onnx_result(c, 3, onnx_cast(c, shown[a->mode], onnx_node(c, 0)->type.dtype));
    return p;
}

// q, k, v, mask, past key, past value, valid keys -> y, present key, present value, scores
void onnx_attention_op(OnnxCall *c, int argument) {
    (void)argument;
    Node *given = onnx_node(c, 0);
    DType narrow = given->type.dtype, wide = onnx_wide(narrow);
    int64_t groups = onnx_int(c, "kv_num_heads", 0);
    Node *k = onnx_split_heads(c, onnx_node(c, 1), groups),
         *v = onnx_split_heads(c, onnx_node(c, 2), groups);
    Attention a = {.softcap = onnx_float(c, "softcap", 0),
                   .mode = onnx_int(c, "qk_matmul_output_mode", 0)};
    a.q = onnx_cast(c, onnx_split_heads(c, given, onnx_int(c, "q_num_heads", 0)), wide);
    if (onnx_operand(c, 4) && onnx_operand(c, 5)) {
        a.past_key = onnx_node(c, 4);
        k = onnx_join(c, (Node *[]){a.past_key, k}, 2, 2),
        v = onnx_join(c, (Node *[]){onnx_node(c, 5), v}, 2, 2);
    }
    onnx_result(c, 1, k);
    onnx_result(c, 2, v);
    int64_t heads = onnx_extent(c, a.q, 1), key_heads = onnx_extent(c, k, 1);
    if (key_heads < 1 || heads % key_heads)
        onnx_fatal(c, "%lld heads over %lld key heads, expected a multiple", (long long)heads,
                   (long long)key_heads);
    a.k = onnx_repeat_heads(c, onnx_cast(c, k, wide), heads / key_heads);
    a.v = onnx_repeat_heads(c, onnx_cast(c, v, wide), heads / key_heads);
    double scale = onnx_float(c, "scale", 0);
    if (scale == 0) scale = 1 / sqrt((double)onnx_extent(c, a.q, 3));
    Node *y = ONNX_BINARY(c, OP_matmul, probabilities(c, &a, scale), a.v);
    onnx_result(c, 0, onnx_cast(c, given->type.rank == 3 ? onnx_merge_heads(c, y) : y, narrow));
}

// ------------------------------------------------------------------------------------------ rotary
// cos or sin of each row: [B or 1, 1, T, r/2]
static Node *angle_table(OnnxCall *c, int i, const Dim *rows) {
    Node *t = onnx_node(c, i);
    if (onnx_operand(c, 3)) t = onnx_take(c, t, onnx_node(c, 3), 0);
    const Dim *one = dim_const(c->graph, 1);
    int last = t->type.rank - 1;
    if (t->type.rank < 2 || t->type.rank > 3)
        onnx_fatal(c, "a table %s, expected 2 or 3 dimensions", type_text(&t->type));
    if (t->type.rank == 2) t = onnx_slice_at(c, t, 0, dim_const(c->graph, 0), rows);
    const Dim *dims[] = {t->type.rank == 3 ? t->type.dim[0] : one, one, t->type.dim[last - 1],
                         t->type.dim[last]};
    return onnx_shape_to(c, t, 4, dims);
}

// The halves a, b of each head (or its even and odd elements) become a cos - b sin, b cos + a sin.
Node *onnx_turned(OnnxCall *c, Node *x, Node *cosine, Node *sine, bool interleaved) {
    Graph *g = c->graph;
    int64_t width = onnx_extent(c, x, 3);
    const Dim *const *d = x->type.dim,
                     *pairs[] = {d[0], d[1], d[2], dim_const(g, width / 2), dim_const(g, 2)},
                     *one = dim_const(g, 1);
    Node *half[2], *apart = interleaved ? onnx_shape_to(c, x, 5, pairs) : NULL;
    for (int i = 0; i < 2; i++) {
        half[i] = interleaved ? onnx_slice_from(c, apart, 4, i, 1)
                              : onnx_slice_from(c, x, 3, i * width / 2, width / 2);
        if (interleaved) half[i] = onnx_shape_to(c, half[i], 4, pairs);
    }
    const OnnxArgument arguments[] = {
        {.node = half[0]}, {.node = half[1]}, {.node = cosine}, {.node = sine}, {0}};
    Node *y[ONNX_MOST_OF_BLOCK];
    onnx_blocks(c, "turned", arguments, y);
    for (int i = 0; i < 2; i++) y[i] = onnx_cast(c, y[i], x->type.dtype);
    if (!interleaved) return onnx_join(c, y, 2, 3);
    const Dim *single[] = {d[0], d[1], d[2], pairs[3], one};
    for (int i = 0; i < 2; i++) y[i] = onnx_shape_to(c, y[i], 5, single);
    return onnx_shape_to(c, onnx_join(c, y, 2, 4), 4, d);
}

void onnx_rotary_op(OnnxCall *c, int argument) {
    (void)argument;
    Node *given = onnx_node(c, 0), *x = onnx_split_heads(c, given, onnx_int(c, "num_heads", 0));
    int64_t width = onnx_extent(c, x, 3), part = onnx_int(c, "rotary_embedding_dim", 0);
    if (!part) part = width;
    if (part < 2 || part % 2 || part > width)
        onnx_fatal(c, "turns %lld of the %lld elements of a head, expected an even number of them",
                   (long long)part, (long long)width);
    Node *cosine = angle_table(c, 1, x->type.dim[2]), *sine = angle_table(c, 2, x->type.dim[2]);
    Node *y[] = {onnx_turned(c, onnx_slice_from(c, x, 3, 0, part), cosine, sine,
                             onnx_int(c, "interleaved", 0)),
                 NULL};
    if (part < width) y[1] = onnx_slice_from(c, x, 3, part, width - part);
    Node *whole = onnx_join(c, y, part < width ? 2 : 1, 3);
    onnx_result(c, 0, given->type.rank == 3 ? onnx_merge_heads(c, whole) : whole);
}

// ------------------------------------------------------------------------------------------ caches
// Row s of the update to row (index[b] + s) of the cache, modulo its length when circular.
void onnx_tensor_scatter(OnnxCall *c, int argument) {
    (void)argument;
    Node *cache = onnx_node(c, 0), *update = onnx_node(c, 1);
    int axis = onnx_axis(c, onnx_int(c, "axis", -2), cache->type.rank);
    Node *row = onnx_cast(c, onnx_index_along(c, &update->type, axis), DT_i64);
    if (onnx_operand(c, 2)) {
        const Dim *dims[MAX_RANK];
        for (int i = 0; i < cache->type.rank; i++)
            dims[i] = i ? dim_const(c->graph, 1) : cache->type.dim[0];
        row = ONNX_BINARY(
            c, OP_add, row,
            onnx_shape_to(c, onnx_cast(c, onnx_node(c, 2), DT_i64), cache->type.rank, dims));
    }
    if (!strcmp(onnx_string(c, "mode", "linear"), "circular"))
        row = ONNX_BINARY(c, OP_mod, row,
                          onnx_scalar(c, DT_i64, (double)onnx_extent(c, cache, axis)));
    Node *n = onnx_emit_make(c, OP_scatter_elements, 3, (Node *[]){cache, row, update});
    attr_set_int(n, "axis", axis);
    onnx_result(c, 0, onnx_finish(c, n));
}

// A causal convolution of each channel; the last k - 1 inputs are the state of the next call.
void onnx_causal_conv(OnnxCall *c, int argument) {
    (void)argument;
    Graph *g = c->graph;
    Node *given = onnx_node(c, 0),
         *weights = onnx_cast(c, onnx_node(c, 1), onnx_wide(given->type.dtype));
    int64_t taps = onnx_extent(c, weights, 2);
    Type past = given->type;
    past.dim[2] = dim_const(g, taps - 1);
    Node *before = onnx_operand(c, 3)
                       ? onnx_node(c, 3)
                       : onnx_expand_to(c, onnx_scalar(c, given->type.dtype, 0), &past);
    Node *all = onnx_join(c, (Node *[]){before, given}, 2, 2),
         *n = onnx_emit_make(c, OP_windows, 1, (Node *[]){onnx_cast(c, all, weights->type.dtype)});
    attr_set_ints(n, "kernel", &taps, 1);
    const Dim *dims[] = {weights->type.dim[0], dim_const(g, 1), weights->type.dim[2]};
    Node *products = ONNX_BINARY(c, OP_mul, onnx_finish(c, n), onnx_shape_to(c, weights, 3, dims));
    Node *y = onnx_reduce_axis(c, OP_reduce_sum, products, 3, false);
    if (onnx_operand(c, 2))
        y = ONNX_BINARY(c, OP_add, y,
                        onnx_shape_to(c, onnx_cast(c, onnx_node(c, 2), y->type.dtype), 2, dims));
    const char *activation = onnx_string(c, "activation", "none");
    if (!strcmp(activation, "silu") || !strcmp(activation, "swish"))
        y = ONNX_BLOCK(c, "Swish", {.node = y});
    onnx_result(c, 0, onnx_cast(c, y, given->type.dtype));
    const Dim *rows = all->type.dim[2], *kept = dim_const(g, taps - 1);
    onnx_result(c, 1, onnx_slice_at(c, all, 2, dim_sub(g, rows, kept), kept));
}

// com.microsoft's takes more forms.
void onnx_ms_causal_conv(OnnxCall *c, int argument) {
    static const char *const forms[] = {"channels_last", "input_channel_offset",
                                        "state_channels_last", "state_update_capacity"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (onnx_int(c, forms[i], 0) > 0) onnx_fatal(c, "%s is not supported", forms[i]);
    if (onnx_int(c, "dilation", 1) > 1 || onnx_int(c, "ndim", 1) > 1)
        onnx_fatal(c, "only one axis without dilation is supported");
    onnx_causal_conv(c, argument);
}

// -------------------------------------------------------------------------------- linear attention
// [B, T, H * d] or [B, T, H] to [B, H, T, d]
static Node *step_of(OnnxCall *c, Node *x, int64_t t) {
    return x ? onnx_slice_from(c, x, 2, t, 1) : NULL;
}

static Node *optional_heads(OnnxCall *c, int i, int64_t heads, DType wide) {
    if (!onnx_operand(c, i)) return NULL;
    Node *x = onnx_cast(c, onnx_node(c, i), wide);
    return x->type.rank == 3 ? onnx_split_heads(c, x, onnx_extent(c, x, 2) == 1 ? 1 : heads) : x;
}

enum { MOST_STEPS = 65536 };

// S <- decay S + beta k (v - decay S^T k)^T, o = scale q^T S, token by token.
void onnx_linear_attention(OnnxCall *c, int argument) {
    (void)argument;
    Node *given = onnx_node(c, 0);
    DType narrow = given->type.dtype, wide = onnx_wide(narrow);
    int64_t heads = onnx_int(c, "q_num_heads", 0), groups = onnx_int(c, "kv_num_heads", 0);
    const char *rule = onnx_string(c, "update_rule", "gated_delta");
    bool gated = strstr(rule, "gated"), delta = strstr(rule, "delta");
    Node *q = onnx_split_heads(c, onnx_cast(c, given, wide), heads),
         *k = onnx_split_heads(c, onnx_cast(c, onnx_node(c, 1), wide), groups);
    Node *v = onnx_split_heads(c, onnx_cast(c, onnx_node(c, 2), wide), groups);
    Node *decay = gated ? optional_heads(c, 4, groups, wide) : NULL,
         *beta = delta ? optional_heads(c, 5, groups, wide) : NULL;
    Type shape = {.dtype = wide,
                  .rank = 4,
                  .dim = {q->type.dim[0], k->type.dim[1], k->type.dim[3], v->type.dim[3]}};
    Node *state = onnx_operand(c, 3) ? onnx_cast(c, onnx_node(c, 3), wide)
                                     : onnx_expand_to(c, onnx_scalar(c, wide, 0), &shape);
    int64_t steps = onnx_extent(c, q, 2);
    if (steps > MOST_STEPS)
        onnx_fatal(c,
                   "%lld steps, at most %d are written out\nhint: shorten the sequence with --dim",
                   (long long)steps, MOST_STEPS);
    double scale = onnx_float(c, "scale", 0);
    if (scale == 0) scale = 1 / sqrt((double)onnx_extent(c, q, 3));
    Node **y = ARENA_ARRAY(c->graph->arena, Node *, steps + 1);
    for (int64_t t = 0; t < steps; t++) {
        Node *key = onnx_swap(c, step_of(c, k, t), 2, 3), *value = step_of(c, v, t);
        if (decay)
            state = ONNX_BINARY(c, OP_mul, state,
                                onnx_swap(c, ONNX_UNARY(c, OP_exp, step_of(c, decay, t)), 2, 3));
        if (delta)
            value =
                ONNX_BINARY(c, OP_sub, value, ONNX_BINARY(c, OP_matmul, step_of(c, k, t), state));
        if (beta) value = ONNX_BINARY(c, OP_mul, value, step_of(c, beta, t));
        state = ONNX_BINARY(c, OP_add, state, ONNX_BINARY(c, OP_mul, key, value));
        Node *query = ONNX_FORMULA(c, step_of(c, q, t), "mul($0, %a)", scale);
        y[t] = ONNX_BINARY(c, OP_matmul, query, onnx_repeat_heads(c, state, heads / groups));
    }
    onnx_result(c, 0, onnx_cast(c, onnx_merge_heads(c, onnx_join(c, y, (int)steps, 2)), narrow));
    onnx_result(c, 1,
                onnx_cast(c, state, onnx_operand(c, 3) ? onnx_node(c, 3)->type.dtype : narrow));
}
