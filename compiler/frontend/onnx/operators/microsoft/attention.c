// Attention and rotary embedding of com.microsoft: packed projections, caches [B, heads, past, d],
// masks of several forms. All become the formula that fuse looks for: q k^T, scale, mask, softmax,
// v.
//
// Caches count at their full length: the past inputs are valid, and the new keys follow. Only
// GroupQueryAttention has a length of the past for each sequence; a text has one sequence, whose
// past is all valid.
#include <math.h>
#include <string.h>

#include "frontend/onnx/operators/compose.h"
#include "ir/convert.h"

typedef struct HeadsOf {
    Node *q, *k, *v;  // [B, H, T, d]
    Node *past_key;   // or NULL
    // [B, 1, 1, 1]: keys before the first row of each sequence; NULL: the length of the past
    Node *before;
    Node *last;   // [B, 1, 1, 1]: the last visible key of each sequence; NULL: all are visible
    Node *bias;   // added to the scores, or NULL
    Node *sinks;  // [H]: of each head one more score, which no value belongs to; or NULL
    double scale, softcap;
    Node **shown;         // is set to the scores as the softmax takes them; or NULL
    Node **unhidden;      // is set to them with 0 for hidden keys; or NULL
    Node **shares;        // set to the softmax's result; or NULL
    const Dim *key_rows;  // number of keys of the step, or NULL: one for each row
    int64_t window;       // keys that a row sees, its own included; -1: all
    bool causal;
    DType dtype;  // of the result
} HeadsOf;

// ------------------------------------------------------------------------------------- the formula
static const Dim *past_length(OnnxCall *c, const HeadsOf *a) {
    return a->past_key ? a->past_key->type.dim[2] : dim_const(c->graph, 0);
}

// Keys from another sequence: the last row sees all of them.
static Node *last_sees_all(OnnxCall *c, Node *row, const Dim *const *dims) {
    Node *last = onnx_number_of(c, dim_sub(c->graph, dims[0], dim_const(c->graph, 1)), DT_i32);
    Node *keys = onnx_number_of(c, dims[1], DT_i32);
    return onnx_emit(c, OP_where, 3, (Node *[]){ONNX_BINARY(c, OP_less, row, last), row, keys});
}

static Node *only_before(OnnxCall *c, const HeadsOf *a, Node *scores) {
    Type shape = {.rank = 2, .dim = {a->q->type.dim[2], a->k->type.dim[2]}};
    Node *in[] = {onnx_index_along(c, &shape, 0), onnx_index_along(c, &shape, 1)};
    if (a->key_rows && a->key_rows != shape.dim[0]) in[0] = last_sees_all(c, in[0], shape.dim);
    if (a->before)
        in[0] = ONNX_BINARY(c, OP_add, in[0], a->before);
    else if (a->past_key)
        in[0] = ONNX_BINARY(c, OP_add, in[0], onnx_number_of(c, past_length(c, a), DT_i32));
    return ONNX_BLOCK(c, "within", {.node = scores}, {.node = in[0]}, {.node = in[1]},
                      ONNX_INTEGER("causal", a->causal), ONNX_INTEGER("window", a->window));
}

static Node *hide_behind_last(OnnxCall *c, const HeadsOf *a, Node *scores) {
    Type keys = {.rank = 1, .dim = {a->k->type.dim[2]}};
    return ONNX_BLOCK(c, "within", {.node = scores}, {.node = a->last},
                      {.node = onnx_index_along(c, &keys, 0)}, ONNX_INTEGER("causal", 1));
}

static Node *hide_keys(OnnxCall *c, const HeadsOf *a, Node *scores) {
    if (a->causal || a->window >= 0) scores = only_before(c, a, scores);
    return a->last && !a->causal ? hide_behind_last(c, a, scores) : scores;
}

static Node *zero_where_hidden(OnnxCall *c, const HeadsOf *a, Node *scores) {
    Node *zero = onnx_scalar(c, scores->type.dtype, 0);
    Node *hidden =
        ONNX_BINARY(c, OP_less, hide_keys(c, a, onnx_expand_to(c, zero, &scores->type)), zero);
    return onnx_cast(c, onnx_emit(c, OP_where, 3, (Node *[]){hidden, zero, scores}), a->dtype);
}

static Node *attend(OnnxCall *c, HeadsOf *a) {
    DType wide = onnx_wide(a->dtype);
    int64_t heads = onnx_extent(c, a->q, 1), groups = onnx_extent(c, a->k, 1);
    if (groups < 1 || heads % groups)
        onnx_fatal(c, "%lld heads over %lld key heads, expected a multiple", (long long)heads,
                   (long long)groups);
    Node *k = onnx_repeat_heads(c, onnx_cast(c, a->k, wide), heads / groups);
    Node *v = onnx_repeat_heads(c, onnx_cast(c, a->v, wide), heads / groups);
    double scale = a->scale != 0 ? a->scale : 1 / sqrt((double)onnx_extent(c, a->q, 3));
    Node *made[ONNX_MOST_OF_BLOCK];
    onnx_scores(c, onnx_cast(c, a->q, wide), k, scale, a->softcap, made);
    Node *scores = made[1];
    if (a->bias) scores = ONNX_BINARY(c, OP_add, scores, onnx_cast(c, a->bias, wide));
    if (a->unhidden) *a->unhidden = zero_where_hidden(c, a, scores);
    scores = hide_keys(c, a, scores);
    if (a->shown) *a->shown = onnx_cast(c, scores, a->dtype);
    Node *p = a->sinks ? ONNX_BLOCK(c, "softmax_with_sinks", {.node = scores},
                                    {.node = onnx_cast(c, a->sinks, wide)})
                       : onnx_softmax_axis(c, scores, 3);
    if (a->shares) *a->shares = onnx_cast(c, p, a->dtype);
    return onnx_cast(c, onnx_merge_heads(c, ONNX_BINARY(c, OP_matmul, p, v)), a->dtype);
}

// Past keys and values before the new ones; both are results too.
static void append_past(OnnxCall *c, HeadsOf *a, Node *past_key, Node *past_value) {
    a->past_key = past_key;
    if (!past_key) return;
    if (past_key->type.rank != 4 || past_value->type.rank != 4)
        onnx_fatal(c, "the past is %s, expected [B, H, T, d]", type_text(&past_key->type));
    a->k = onnx_join(c, (Node *[]){past_key, a->k}, 2, 2);
    a->v = onnx_join(c, (Node *[]){past_value, a->v}, 2, 2);
}

static Node *summed(OnnxCall *c, Node *a, Node *b) {
    return !a ? b : !b ? a : ONNX_BINARY(c, OP_add, a, b);
}

// ------------------------------------------------------------------------------------------- masks
static Node *some_each(OnnxCall *c, Node *x, const Dim *from, const Dim *n) {
    const Dim *one = dim_const(c->graph, 1);
    return onnx_shape_to(c, onnx_cast(c, onnx_slice_at(c, x, 0, from, n), DT_i32), 4,
                         (const Dim *[]){n, one, one, one});
}

// The end of each sequence's keys, [B]; followed by their begin, [2 B]; or the ends and the offsets
// of rows in a batch without padding, [3 B + 2].
static Node *seen_by_ends(OnnxCall *c, Node *mask, const Dim *batch, const Dim *keys) {
    Graph *g = c->graph;
    const Dim *n = mask->type.dim[0], *two = dim_binary(g, DIM_MUL, batch, dim_const(g, 2)),
              *zero = dim_const(g, 0);
    const Dim *more = dim_binary(g, DIM_ADD, dim_binary(g, DIM_ADD, two, batch), dim_const(g, 2));
    bool with_starts = n == two, longer = with_starts || n == more;
    if (!longer && n != batch && dim_is_const(n, NULL) && dim_is_const(batch, NULL))
        onnx_fatal(c, "a mask %s for %lld sequences, expected [B], [2 B] or [3 B + 2]",
                   type_text(&mask->type), (long long)dim_upper(batch));
    Node *key = onnx_index_along(c, &(Type){.rank = 1, .dim = {keys}}, 0);
    Node *seen = ONNX_BINARY(c, OP_less, key, some_each(c, mask, zero, longer ? batch : n));
    if (!with_starts) return seen;
    Node *before = ONNX_BINARY(c, OP_less, key, some_each(c, mask, batch, batch));
    return ONNX_BINARY(c, OP_and, seen, ONNX_UNARY(c, OP_not, before));
}

// A mask of integers, 0 for hidden keys, [B, T] or [B, S, T], or the ends of keys, as an addend of
// the scores.
static Node *mask_bias(OnnxCall *c, Node *mask, const HeadsOf *a) {
    Graph *g = c->graph;
    const Dim *one = dim_const(g, 1), *const *d = mask->type.dim;
    DType wide = onnx_wide(a->dtype);
    Node *seen;
    if (mask->type.rank == 1) {
        seen = seen_by_ends(c, mask, a->q->type.dim[0], a->k->type.dim[2]);
    } else {
        if (mask->type.rank < 1 || mask->type.rank > 3)
            onnx_fatal(c, "a mask %s, expected [B], [B, T] or [B, S, T]", type_text(&mask->type));
        const Dim *flat[] = {d[0], one, one, d[1]},
                  *square[] = {d[0], one, d[1], mask->type.rank == 3 ? d[2] : one};
        seen =
            onnx_cast(c, onnx_shape_to(c, mask, 4, mask->type.rank == 2 ? flat : square), DT_bool);
    }
    Node *hidden = onnx_scalar(c, wide, onnx_float(c, "mask_filter_value", -10000.0));
    return onnx_emit(c, OP_where, 3, (Node *[]){seen, onnx_scalar(c, wide, 0), hidden});
}

// ------------------------------------------------------------------------------------------ rotary
// Which of a token's three positions (time, height, width) each column of the tables goes by: one
// section after the other, or (layout 1) every third column of a section's share, time where that
// ends.
static Node *column_is_of(OnnxCall *c, int64_t columns, int which) {
    int n;
    int64_t share[3], first = 0;
    const int64_t *section = onnx_ints(c, "mrope_section", &n);
    for (int i = 0; i < 3; i++) first += share[i] = n == 3 ? section[i] : -1;
    if (n != 3 || first != columns || share[0] < 0 || share[1] < 0 || share[2] < 0)
        onnx_fatal(c, "mrope_section must be 3 sizes that add up to the %lld columns of the tables",
                   (long long)columns);
    double *is = ARENA_ARRAY(c->graph->arena, double, columns);
    bool in_turns = onnx_int(c, "mrope_layout", 0);
    for (int64_t i = 0; i < columns; i++) {
        int64_t of = i < share[0] ? 0 : i < share[0] + share[1] ? 1 : 2;
        if (in_turns) of = i < 3 * share[i % 3] ? i % 3 : 0;
        is[i] = of == which;
    }
    return onnx_numbers(c, DT_bool, 1, &columns, is);
}

// Rows of the tables by three positions a token: positions [3, B, T] to [B, T, r/2]
static Node *three_angles(OnnxCall *c, Node *table, Node *positions) {
    Node *all = NULL;
    for (int i = 0; i < 3; i++) {
        Node *at =
            onnx_shape_to(c, onnx_slice_from(c, positions, 0, i, 1), 2, positions->type.dim + 1);
        Node *t = onnx_take(c, table, at, 0);
        all = i ? onnx_emit(c, OP_where, 3,
                            (Node *[]){column_is_of(c, onnx_extent(c, table, 1), i), t, all})
                : t;
    }
    return all;
}

// Row t of the tables for token t: [B or 1, 1, T, r/2]
static Node *angles(OnnxCall *c, Node *table, Node *positions, const Dim *batch, const Dim *rows) {
    const Dim *one = dim_const(c->graph, 1);
    bool each = positions->type.rank >= 2;
    Node *t = positions->type.rank == 3 ? three_angles(c, table, positions)
                                        : onnx_take(c, table, positions, 0);
    return onnx_shape_to(c, t, 4,
                         (const Dim *[]){each ? batch : one, one, rows, table->type.dim[1]});
}

// first, first + 1, ...
static Node *counted(OnnxCall *c, Node *first, const Dim *rows) {
    Type row = {.rank = 1, .dim = {rows}};
    Node *index = onnx_cast(c, onnx_index_along(c, &row, 0), DT_i64);
    return first ? ONNX_BINARY(c, OP_add, index, onnx_cast(c, first, DT_i64)) : index;
}

typedef struct Tables {
    Node *cosine, *sine, *positions;
    bool interleaved;
} Tables;

static Node *rotated(OnnxCall *c, Node *x, const Tables *t) {
    const Dim *batch = x->type.dim[0], *rows = x->type.dim[2];
    if (t->cosine->type.rank != 2 || t->sine->type.rank != 2)
        onnx_fatal(c, "the tables must be matrices, not %s and %s", type_text(&t->cosine->type),
                   type_text(&t->sine->type));
    int64_t width = onnx_extent(c, x, 3), part = 2 * onnx_extent(c, t->cosine, 1);
    if (part < 2 || part > width)
        onnx_fatal(c, "the tables turn %lld of the %lld elements of a head", (long long)part,
                   (long long)width);
    Node *cosine = angles(c, t->cosine, t->positions, batch, rows),
         *sine = angles(c, t->sine, t->positions, batch, rows);
    Node *y[] = {onnx_turned(c, onnx_slice_from(c, x, 3, 0, part), cosine, sine, t->interleaved),
                 NULL};
    if (part < width) y[1] = onnx_slice_from(c, x, 3, part, width - part);
    return onnx_join(c, y, part < width ? 2 : 1, 3);
}

// (x, position ids [1] or [B, T], or (MRotaryEmbedding) [3, B, T], cos, sin)
void onnx_ms_rotary(OnnxCall *c, int argument) {
    (void)argument;
    Node *given = onnx_node(c, 0), *positions = onnx_node(c, 1);
    Tables t = {.cosine = onnx_node(c, 2),
                .sine = onnx_node(c, 3),
                .interleaved = onnx_int(c, "interleaved", 0)};
    int64_t heads = onnx_int(c, "num_heads", 0);
    if (onnx_int(c, "is_packed_batching", 0)) onnx_fatal(c, "packed batches are not supported");
    if (given->type.rank == 3 && !heads) {
        int64_t half = t.cosine->type.rank == 2 ? onnx_extent(c, t.cosine, 1) : 0;
        heads = half ? onnx_extent(c, given, 2) / (2 * half) : 0;
    }
    Node *x = onnx_split_heads(c, given, heads);
    bool offset = positions->type.rank < 2;
    t.positions = offset ? counted(c, positions, x->type.dim[2]) : positions;
    Node *y = rotated(c, x, &t);
    onnx_result(c, 0, given->type.rank == 3 ? onnx_merge_heads(c, y) : y);
}

// ----------------------------------------------------------------------------- GroupQueryAttention
static Node *last_axis(OnnxCall *c, Node *x, int64_t start, int64_t extent) {
    return onnx_slice_from(c, x, x->type.rank - 1, start, extent);
}

// The positions of a step's rows in each sequence.
typedef struct StepRows {
    Node *past;           // or NULL: this is the first step
    const Dim *rows;      // of the step
    const Dim *length;    // of the cache after it
    Node *before, *last;  // as in HeadsOf
    bool keeps;           // elements after the last key stay
} StepRows;

static Node *one_each(OnnxCall *c, Node *x) {
    const Dim *one = dim_const(c->graph, 1);
    return onnx_shape_to(c, onnx_cast(c, x, DT_i32), 4,
                         (const Dim *[]){x->type.dim[0], one, one, one});
}

// Operand 6, where it does not take the run to know it.
static const Dim *longest_sequence(OnnxCall *c) {
    const Dim *const *total;
    int n;
    if (onnx_elements(c, 6, &total, &n)) return n == 1 ? total[0] : NULL;
    const Tensor *t = onnx_known(c, 6);
    return t && tensor_count(t) == 1
               ? dim_const(c->graph, (int64_t)dtype_load(t->dtype, t->data, 0))
               : NULL;
}

// The cache is as long as the longest sequence, or longer where it is a buffer for steps to come.
static const Dim *length_of_cache(OnnxCall *c, const StepRows *r) {
    Graph *g = c->graph;
    const Dim *total = longest_sequence(c), *before = r->past->type.dim[2], *more = r->rows;
    if (total) more = dim_binary(g, DIM_MAX, dim_sub(g, total, before), dim_const(g, 0));
    return dim_binary(g, DIM_ADD, before, more);
}

static bool is_full(OnnxCall *c, const StepRows *r) {
    const Dim *const *last, *full = dim_binary(c->graph, DIM_ADD, r->past->type.dim[2], r->rows);
    int n;
    if (r->length != full || !onnx_elements(c, 5, &last, &n)) return false;
    for (int i = 0; i < n; i++)
        if (last[i] != dim_sub(c->graph, full, dim_const(c->graph, 1))) return false;
    return n > 0;
}

// Operand 5 is the last position of each sequence after the step. Later rows are padding: their
// results are undefined.
static StepRows group_rows(OnnxCall *c, Node *past, const Dim *rows) {
    StepRows r = {.past = past, .rows = rows, .length = rows};
    if (c->import->text) return r;
    Node *last = onnx_node(c, 5);
    if (last->type.rank < 1)
        onnx_fatal(c, "seqlens_k is %s, expected one of each sequence", type_text(&last->type));
    if (!past) {
        r.last = one_each(c, last);
        return r;
    }
    if (past->type.rank != 4)
        onnx_fatal(c, "the past is %s, expected [B, H, T, d]", type_text(&past->type));
    r.length = length_of_cache(c, &r);
    if (is_full(c, &r) && !onnx_operand(c, 16)) return r;
    r.last = one_each(c, last);
    Node *step =
        onnx_operand(c, 16) ? one_each(c, onnx_node(c, 16)) : onnx_number_of(c, rows, DT_i32);
    Node *end = ONNX_BINARY(c, OP_add, r.last, onnx_scalar(c, DT_i32, 1));
    r.before = ONNX_BINARY(c, OP_max, ONNX_BINARY(c, OP_sub, end, step), onnx_scalar(c, DT_i32, 0));
    return r;
}

// Of a first step only the first of the given positions counts.
static Node *given_positions(OnnxCall *c, const StepRows *r, Node *given) {
    if (c->import->text || given->type.rank != 2) return given;
    Node *first = onnx_slice_from(c, onnx_slice_from(c, given, 0, 0, 1), 1, 0, 1);
    Node *all = ONNX_BINARY(c, OP_add, onnx_cast(c, first, DT_i64), counted(c, NULL, r->rows));
    all = onnx_expand_to(c, all, &given->type);
    if (!r->past) return all;
    const Dim *one = dim_const(c->graph, 1);
    Node *total =
        onnx_shape_to(c, onnx_cast(c, onnx_node(c, 6), DT_i64), 2, (const Dim *[]){one, one});
    Node *is_first = ONNX_BINARY(c, OP_equal, total, onnx_number_of(c, r->rows, DT_i64));
    return onnx_emit(c, OP_where, 3, (Node *[]){is_first, all, onnx_cast(c, given, DT_i64)});
}

static Node *group_positions(OnnxCall *c, const StepRows *r) {
    Node *given = onnx_optional_node(c, 9);
    if (given) return given_positions(c, r, given);
    if (!r->before)
        return counted(c, r->past ? onnx_number_of(c, r->past->type.dim[2], DT_i64) : NULL,
                       r->rows);
    Node *before = onnx_shape_to(c, r->before, 2, r->before->type.dim);
    return counted(c, before, r->rows);
}

static Tables group_tables(OnnxCall *c, const StepRows *r) {
    Tables t = {.cosine = onnx_optional_node(c, 7),
                .sine = onnx_optional_node(c, 8),
                .interleaved = onnx_int(c, "rotary_interleaved", 0)};
    if (!t.cosine || !t.sine) onnx_fatal(c, "do_rotary without cos and sin tables");
    t.positions = group_positions(c, r);
    return t;
}

// New rows at their position in each sequence; zeros after them where the past does not stay.
static Node *into_cache(OnnxCall *c, const StepRows *r, Node *past, Node *x) {
    Graph *g = c->graph;
    PadDims pads = {0};
    for (int i = 0; i < 4; i++) pads.low[i] = pads.high[i] = dim_const(g, 0);
    pads.high[2] = dim_sub(g, r->length, past->type.dim[2]);
    Node *zero = onnx_scalar(c, past->type.dtype, 0),
         *room = build_pad(onnx_builder(c), past, &pads, zero);
    const Dim *one = dim_const(g, 1);
    Type all = {.rank = 4, .dim = {one, one, r->length, one}},
         steps = {.rank = 4, .dim = {one, one, r->rows, one}};
    Node *is_past = ONNX_BINARY(c, OP_less, onnx_index_along(c, &all, 2), r->before);
    Node *kept = r->keeps ? room : onnx_emit(c, OP_where, 3, (Node *[]){is_past, room, zero});
    Node *place = onnx_expand_to(
        c, ONNX_BINARY(c, OP_add, onnx_index_along(c, &steps, 2), r->before), &x->type);
    Node *n =
        onnx_emit_make(c, OP_scatter_elements, 3, (Node *[]){kept, onnx_cast(c, place, DT_i64), x});
    attr_set_int(n, "axis", 2);
    return onnx_finish(c, n);
}

// A bias is as wide as the longest sequence; its last column again for keys that are hidden.
static Node *as_wide_as_cache(OnnxCall *c, Node *bias, const Dim *length) {
    int last = bias->type.rank - 1;
    if (last < 0 || bias->type.dim[last] == length) return bias;
    Type columns = {.rank = 1, .dim = {length}};
    Node *most =
        onnx_number_of(c, dim_sub(c->graph, bias->type.dim[last], dim_const(c->graph, 1)), DT_i32);
    return onnx_take(c, bias, ONNX_BINARY(c, OP_min, onnx_index_along(c, &columns, 0), most), last);
}

static void append_rows(OnnxCall *c, HeadsOf *a, const StepRows *r, Node *past_value) {
    if (!r->before) {
        append_past(c, a, r->past, past_value);
        return;
    }
    if (!past_value || past_value->type.rank != 4)
        onnx_fatal(c, "a past key without a past value [B, H, T, d]");
    a->before = r->before;
    a->k = into_cache(c, r, r->past, a->k), a->v = into_cache(c, r, past_value, a->v);
    if (a->bias) a->bias = as_wide_as_cache(c, a->bias, r->length);
}

// The operand, or scores of 0 where the attribute asks for them.
static Node *group_sinks(OnnxCall *c, int64_t heads) {
    Node *sinks = onnx_optional_node(c, 11);
    if (!sinks && onnx_int(c, "smooth_softmax", 0) > 0)
        sinks = build_filled(onnx_builder(c), DT_f32, 0, 1,
                             (const Dim *[]){dim_const(c->graph, heads)});
    if (sinks && (sinks->type.rank != 1 || onnx_extent(c, sinks, 0) != heads))
        onnx_fatal(c, "the sinks are %s, expected one for each of %lld heads",
                   type_text(&sinks->type), (long long)heads);
    return sinks;
}

// Each head by its RMS, before it is rotated.
static Node *head_norm(OnnxCall *c, Node *x, int operand, const char *own_epsilon) {
    Node *w = onnx_optional_node(c, operand);
    if (!w) return x;
    DType wide = onnx_wide(x->type.dtype);
    Node *y =
        ONNX_BLOCK(c, "head_norm", {.node = onnx_cast(c, x, wide)}, {.node = onnx_cast(c, w, wide)},
                   {.name = "epsilon",
                    .number = onnx_float(c, own_epsilon, onnx_float(c, "qk_norm_epsilon", 1e-6))});
    return onnx_cast(c, y, x->type.dtype);
}

static void refuse_group_caches(OnnxCall *c) {
    if (onnx_operand(c, 12) || onnx_operand(c, 13))
        onnx_fatal(c, "a quantized cache is not supported\nhint: export with a cache of floats");
    if (onnx_int(c, "sliding_window_cache", 0))
        onnx_fatal(c,
                   "a cache as long as the window is not supported\nhint: export with a cache of "
                   "all positions");
}

// query (or q, k, v packed), key, value, past key, past value, seqlens_k, total length, cos, sin,
// position ids, bias, sinks, scales of a quantized cache, norms of queries and keys
void onnx_ms_group_query_attention(OnnxCall *c, int argument) {
    (void)argument;
    Node *query = onnx_node(c, 0), *key = onnx_optional_node(c, 1),
         *value = onnx_optional_node(c, 2), *past = onnx_optional_node(c, 3);
    int64_t heads = onnx_int(c, "num_heads", 0), groups = onnx_int(c, "kv_num_heads", 0);
    if (heads < 1 || groups < 1 || query->type.rank != 3)
        onnx_fatal(c, "%lld heads of %s", (long long)heads, type_text(&query->type));
    if (!key) {
        int64_t d = onnx_extent(c, query, 2) / (heads + 2 * groups);
        key = last_axis(c, query, heads * d, groups * d),
        value = last_axis(c, query, (heads + groups) * d, groups * d);
        query = last_axis(c, query, 0, heads * d);
    }
    if (!value)
        onnx_fatal(c, "a key without a value\nhint: the file is damaged, or its exporter is wrong");
    refuse_group_caches(c);
    HeadsOf a = {.causal = onnx_int(c, "causal", 1),
                 .dtype = query->type.dtype,
                 .window = onnx_int(c, "local_window_size", -1)};
    a.scale = onnx_float(c, "scale", 0), a.softcap = onnx_float(c, "softcap", 0),
    a.bias = onnx_optional_node(c, 10);
    a.sinks = group_sinks(c, heads);
    a.q = onnx_split_heads(c, query, heads), a.k = onnx_split_heads(c, key, groups),
    a.v = onnx_split_heads(c, value, groups);
    a.q = head_norm(c, a.q, 14, "q_norm_epsilon"), a.k = head_norm(c, a.k, 15, "k_norm_epsilon");
    StepRows r = group_rows(c, past, a.q->type.dim[2]);
    a.last = r.last;
    if (onnx_int(c, "do_rotary", 0)) {
        Tables t = group_tables(c, &r);
        a.q = rotated(c, a.q, &t), a.k = rotated(c, a.k, &t);
    }
    append_rows(c, &a, &r, onnx_optional_node(c, 4));
    onnx_result(c, 1, a.k);
    onnx_result(c, 2, a.v);
    int64_t form = onnx_int(c, "qk_output", 0);
    Node *scores = NULL;
    if (form) *(form == 1 ? &a.unhidden : &a.shares) = &scores;
    onnx_result(c, 0, attend(c, &a));
    if (scores && c->proto->n_output > 3) onnx_result(c, 3, scores);
}

// ------------------------------------------------------------------------------ MultiHeadAttention
// The part of a bias [3 * D] that belongs to q, k or v.
static Node *with_bias(OnnxCall *c, Node *x, Node *bias, int64_t *at) {
    if (!bias || x->type.rank != 3) return x;
    int64_t n = onnx_extent(c, x, 2), start = *at;
    *at += n;
    if (bias->type.rank != 1 || start + n > onnx_extent(c, bias, 0))
        onnx_fatal(c, "the bias is %s, shorter than query, key and value together",
                   type_text(&bias->type));
    return ONNX_BINARY(c, OP_add, x, onnx_slice_from(c, bias, 0, start, n));
}

// Operand 8 is how much of the past, a buffer for steps to come, is valid.
static StepRows buffer_rows(OnnxCall *c, Node *past, const Dim *rows) {
    StepRows r = {.past = past, .rows = rows, .keeps = true};
    if (!past || !onnx_operand(c, 8)) return r;
    if (past->type.rank != 4)
        onnx_fatal(c, "the past is %s, expected [B, H, T, d]", type_text(&past->type));
    r.length = past->type.dim[2];
    r.before =
        one_each(c, onnx_shape_to(c, onnx_node(c, 8), 1, (const Dim *[]){dim_const(c->graph, 1)}));
    Node *more = onnx_number_of(c, dim_sub(c->graph, rows, dim_const(c->graph, 1)), DT_i32);
    r.last = ONNX_BINARY(c, OP_add, r.before, more);
    return r;
}

// query, key, value, bias, key padding mask, attention bias, past key, past value, past length
void onnx_ms_multi_head_attention(OnnxCall *c, int argument) {
    (void)argument;
    Node *query = onnx_node(c, 0), *key = onnx_optional_node(c, 1),
         *value = onnx_optional_node(c, 2), *bias = onnx_optional_node(c, 3);
    int64_t heads = onnx_int(c, "num_heads", 0), at = 0;
    if (!key || !value || query->type.rank != 3)
        onnx_fatal(c,
                   "packed query, key and value are not supported here\nhint: give them as three "
                   "operands [B, T, D]");
    HeadsOf a = {
        .causal = onnx_int(c, "unidirectional", 0), .dtype = query->type.dtype, .window = -1};
    a.scale = onnx_float(c, "scale", 0);
    a.q = onnx_split_heads(c, with_bias(c, query, bias, &at), heads);
    a.k = onnx_split_heads(c, with_bias(c, key, bias, &at), heads);
    a.v = onnx_split_heads(c, with_bias(c, value, bias, &at), heads);
    if (onnx_operand(c, 9))
        onnx_fatal(c, "beams that share a cache (cache_indirection) are not supported");
    a.key_rows = a.k->type.dim[2];
    Node *past = onnx_optional_node(c, 6);
    StepRows r = buffer_rows(c, past, a.key_rows);
    a.last = r.last;
    a.bias = onnx_optional_node(c, 5);
    append_rows(c, &a, &r, onnx_optional_node(c, 7));
    Node *mask = onnx_operand(c, 4) ? mask_bias(c, onnx_node(c, 4), &a) : NULL;
    if (mask && a.before) mask = as_wide_as_cache(c, mask, r.length);
    a.bias = summed(c, mask, a.bias);
    onnx_result(c, 1, a.k);
    onnx_result(c, 2, a.v);
    Node *shown;
    if (c->proto->n_output > 3 && !a.causal) a.shown = &shown;
    onnx_result(c, 0, attend(c, &a));
    if (a.shown) onnx_result(c, 3, shown);
}

// --------------------------------------------------------------------------------------- Attention
// [2, B, H, P, d] to keys or values
static Node *of_pair(OnnxCall *c, Node *pair, int which) {
    if (pair->type.rank != 5)
        onnx_fatal(c, "the past is %s, expected [2, B, H, T, d]", type_text(&pair->type));
    return onnx_shape_to(c, onnx_slice_from(c, pair, 0, which, 1), 4, pair->type.dim + 1);
}

static Node *as_pair(OnnxCall *c, Node *k, Node *v) {
    const Dim *dims[MAX_RANK] = {dim_const(c->graph, 1)};
    for (int i = 0; i < 4; i++) dims[i + 1] = k->type.dim[i];
    return onnx_join(c, (Node *[]){onnx_shape_to(c, k, 5, dims), onnx_shape_to(c, v, 5, dims)}, 2,
                     0);
}

// `all` is [B, T, query, key and value side by side]; the rest are operands, or -1.
static void attend_packed(OnnxCall *c, Node *all, int mask, int past, int bias) {
    int64_t heads = onnx_int(c, "num_heads", 0), sizes[3], start = 0;
    int n;
    if (onnx_int(c, "do_rotary", 0)) onnx_fatal(c, "do_rotary is not supported here");
    if (onnx_int(c, "past_present_share_buffer", 0))
        onnx_fatal(c,
                   "a past that is a buffer is not supported here\nhint: "
                   "past_present_share_buffer=0 has it as long as it is valid");
    const int64_t *given = onnx_ints(c, "qkv_hidden_sizes", &n);
    for (int i = 0; i < 3; i++) sizes[i] = n == 3 ? given[i] : onnx_extent(c, all, 2) / 3;
    Node *part[3], *before = onnx_optional_node(c, past);
    for (int i = 0; i < 3; start += sizes[i++])
        part[i] = onnx_split_heads(c, last_axis(c, all, start, sizes[i]), heads);
    HeadsOf a = {.q = part[0], .k = part[1], .v = part[2], .dtype = all->type.dtype, .window = -1};
    a.causal = onnx_int(c, "unidirectional", 0), a.scale = onnx_float(c, "scale", 0);
    append_past(c, &a, before ? of_pair(c, before, 0) : NULL,
                before ? of_pair(c, before, 1) : NULL);
    if (bias >= 0) a.bias = onnx_optional_node(c, bias);
    if (onnx_operand(c, mask)) a.bias = summed(c, mask_bias(c, onnx_node(c, mask), &a), a.bias);
    if (c->proto->n_output > 1) onnx_result(c, 1, as_pair(c, a.k, a.v));
    onnx_result(c, 0, attend(c, &a));
}

static void check_packed(const OnnxCall *c, const Node *x, const Node *weights) {
    if (x->type.rank != 3 || weights->type.rank != 2)
        onnx_fatal(c, "takes [B, T, D] and weights [D, 3 D], not %s and %s", type_text(&x->type),
                   type_text(&weights->type));
}

// input [B, T, D], weights [D, 3 D], bias, mask, past, attention bias
void onnx_ms_attention(OnnxCall *c, int argument) {
    (void)argument;
    check_packed(c, onnx_node(c, 0), onnx_node(c, 1));
    Node *all = ONNX_BINARY(c, OP_matmul, onnx_node(c, 0), onnx_node(c, 1));
    if (onnx_operand(c, 2)) all = ONNX_BINARY(c, OP_add, all, onnx_node(c, 2));
    attend_packed(c, all, 3, 4, 5);
}

// input in bytes, weights in bytes, bias, their scales, mask, their zero points, past
void onnx_ms_quantized_attention(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_centred(c, onnx_node(c, 0), onnx_optional_node(c, 6), false);
    Node *weights = onnx_centred(c, onnx_node(c, 1), onnx_optional_node(c, 7), false);
    check_packed(c, x, weights);
    Node *sums = ONNX_BINARY(c, OP_matmul, x, weights);
    attend_packed(c, onnx_scaled_sums(c, sums, onnx_node(c, 3), onnx_node(c, 4), onnx_node(c, 2)),
                  5, 8, -1);
}
