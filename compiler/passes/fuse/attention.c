// Attention: softmax(mask(scale * q k^T)) v becomes one op over rows with their heads folded,
// whatever views surround it.
//
//   before   %s = matmul(%q, transpose(%k)) : f32[H, T, T]        after   %o = attention(%q', %k', %v') {causal=1,
//            %p = softmax(where(%causal, mul(%s, 0.125), -inf))                 num_heads=H, num_kv_heads=G, scale=0.125}
//            %o = matmul(%p, %v) : f32[H, T, d]                                 : f32[T, H * d]
//
// Scores are read from the softmax upwards (scores.c), up to the product of queries and keys. The
// operands are read as index maps (views.h): which axes hold the heads, which the positions, and
// which heads of the keys are repeated. A batch stays outside: its sequences are stored one after
// the other in the rows, [batch * T, H d]. Sinks may join the scores, one more score for each head,
// whose probability is dropped after the softmax: softmax(concat(scores, sinks))[.., 0 : keys] v.
#include "ir/operands.h"
#include "passes/fuse/scores.h"

typedef struct Operand {
    ViewMap map;
    AtomList batch,
        leading;         // pieces of the axes before the last two: of the batch, and of the heads
    int heads, repeats;  // heads of its own; how many queries share one
    bool tiled;          // the heads are repeated one after the other: 0 1 0 1, not 0 0 1 1
} Operand;

// ---------------------------------------------------------------------------------------- operands
// Axes of the operand that the product broadcasts become broadcast atoms, so that every operand has
// the product's batch axes.
static bool widen_batch(ViewMap *v, const Type *product) {
    int added = product->rank - v->rank;
    AtomList axis[MAX_RANK] = {0};
    for (int i = 0; i < product->rank; i++) {
        if (i >= added) axis[i] = v->axis[i - added];
        if (i + 2 >= product->rank || axis[i].n || dim_is(product->dim[i], 1)) continue;
        if (v->n_atoms == MAX_ATOMS) return false;
        v->extent[v->n_atoms] = product->dim[i];
        v->broadcast[v->n_atoms] = true;
        axis[i] = (AtomList){1, {v->n_atoms++}};
    }
    v->rank = product->rank;
    for (int i = 0; i < v->rank; i++) v->axis[i] = axis[i];
    return true;
}

static int constant_extent(const ViewMap *v, int atom) {
    int64_t extent;
    return dim_is_const(v->extent[atom], &extent) && extent <= 1 << 20 ? (int)extent : 0;
}

// Distinct heads, outermost, then the repeats of each; or all heads, repeated as a whole (tiled).
// Repeats on both sides are no grouping.
static bool count_heads(Operand *o) {
    o->heads = o->repeats = 1;
    o->tiled = false;
    for (int i = 0; i < o->leading.n; i++) {
        int atom = o->leading.atom[i], extent = constant_extent(&o->map, atom);
        bool repeats = o->map.broadcast[atom];
        if (!extent || (repeats && o->tiled && o->heads > 1)) return false;
        if (!repeats && o->repeats > 1) {
            if (o->heads > 1 && !o->tiled) return false;
            o->tiled = true;
        }
        *(repeats ? &o->repeats : &o->heads) *= extent;
    }
    return true;
}

static bool read_operand(Node *n, const Type *product, double *scale, Operand *o) {
    if (!view_map_scaled(n, &o->map, scale) || !widen_batch(&o->map, product)) return false;
    for (int i = 0; i + 2 < o->map.rank; i++)
        for (int j = 0; j < o->map.axis[i].n; j++)
            o->leading.atom[o->leading.n++] = o->map.axis[i].atom[j];
    return true;
}

// The number of sequences of the queries: the leading axes up to the last one whose extent only the
// run knows, or that is outside of the positions, provided that heads are inside of them. (A value
// [heads, T, d] is one sequence.)
static const Dim *count_sequences(const Operand *q) {
    const ViewMap *v = &q->map;
    const AtomList *rows = &v->axis[v->rank - 2];
    int position = rows->n ? view_place(&v->source, rows->atom[0]) : -1, outside = 0, unknown = 0;
    bool heads_inside = false;
    for (int i = 0; i < q->leading.n; i++) {
        int place = view_place(&v->source, q->leading.atom[i]);
        if (!dim_is_const(v->extent[q->leading.atom[i]], NULL)) unknown = i + 1;
        if (place >= 0 && place < position) outside = i + 1;
        heads_inside = heads_inside || place > position;
    }
    const Dim *count = dim_const(v->graph, 1);
    int n = heads_inside && outside > unknown ? outside : unknown;
    for (int i = 0; i < n; i++)
        count = dim_binary(v->graph, DIM_MUL, count, v->extent[q->leading.atom[i]]);
    return count;
}

// Parts the leading axes into those of the batch and those of the heads.
static bool part_batch(Operand *o, const Dim *batch) {
    AtomList all = o->leading;
    int at = 0;
    if (!view_take(&o->map, &all, &at, batch, &o->batch)) return false;
    o->leading.n = 0;
    for (; at < all.n; at++) o->leading.atom[o->leading.n++] = all.atom[at];
    return count_heads(o);
}

// The operand as rows [batch * positions, heads * width]: `rows` and `width` are axes counted from
// the end.
static Node *emit_rows(Operand *o, int rows, int width, Node *before) {
    ViewMap *v = &o->map;
    AtomList columns = {0}, positions = o->batch;
    const AtomList *of_rows = &v->axis[v->rank - rows], *last = &v->axis[v->rank - width];
    for (int j = 0; j < of_rows->n; j++) positions.atom[positions.n++] = of_rows->atom[j];
    for (int j = 0; j < o->leading.n; j++)
        if (!v->broadcast[o->leading.atom[j]]) columns.atom[columns.n++] = o->leading.atom[j];
    for (int j = 0; j < last->n; j++) columns.atom[columns.n++] = last->atom[j];
    v->rank = 2;
    v->axis[0] = positions;
    v->axis[1] = columns;
    return view_emit(v, before);
}

// ---------------------------------------------------------------------------------------- emission
typedef struct Attention {
    Scores scores;
    Operand q, k, v;
    const Dim *batch;
    Node *result;     // p v, which attention replaces
    Node *sinks;      // one number for each head, or NULL ...
    const Dim *keys;  // ... then how many keys there are beside them
} Attention;

static void set_attributes(Node *n, const Attention *t) {
    attr_set_int(n, "num_heads", t->q.heads);
    attr_set_int(n, "num_kv_heads", t->k.heads);
    attr_set_float(n, "scale", match_shortest(t->scores.scale));
    if (t->scores.allowed.from == 0) attr_set_int(n, "causal", 1);
    if (t->scores.allowed.to != INT64_MAX) attr_set_int(n, "window", t->scores.allowed.to + 1);
    if (t->scores.softcap != 0) attr_set_float(n, "softcap", match_shortest(t->scores.softcap));
    if (!dim_is(t->batch, 1)) attr_set_dims(n, "batch", &t->batch, 1);
}

// Queries whose keys are tiled, with those beside each other that share keys.
static bool group_queries(Attention *t) {
    AtomList all = t->q.leading, repeats, heads;
    Graph *g = t->q.map.graph;
    int at = 0;
    if (!view_take(&t->q.map, &all, &at, dim_const(g, t->k.repeats), &repeats)) return false;
    if (!view_take(&t->q.map, &all, &at, dim_const(g, t->k.heads), &heads)) return false;
    t->q.leading = heads;
    for (int i = 0; i < repeats.n; i++) t->q.leading.atom[t->q.leading.n++] = repeats.atom[i];
    return true;
}

// [batch * T, H * e], the queries of one head of keys beside each other, as [leading axes ..., T,
// e] with these apart.
static Node *unfold_tiled(Node *attention, const Attention *a) {
    Node *result = a->result;
    const Type *t = &result->type;
    Graph *g = result->graph;
    const Dim *dims[] = {a->batch, t->dim[t->rank - 2], dim_const(g, a->k.heads),
                         dim_const(g, a->k.repeats), t->dim[t->rank - 1]};
    Node *heads = build_transpose(cursor(result), build_reshape(cursor(result), attention, 5, dims),
                                  (int64_t[]){0, 3, 2, 1, 4});
    return build_reshape(cursor(result), heads, t->rank, t->dim);
}

// The heads unfolded again, for the views that follow: [batch * T, H * e] to [leading axes ..., T,
// e].
static Node *unfold(Node *attention, const Attention *a) {
    if (a->k.tiled) return unfold_tiled(attention, a);
    Node *result = a->result;
    const Type *t = &result->type;
    const Dim *dims[] = {a->batch, t->dim[t->rank - 2], dim_const(result->graph, a->q.heads),
                         t->dim[t->rank - 1]};
    Node *heads = build_transpose(cursor(result), build_reshape(cursor(result), attention, 4, dims),
                                  (int64_t[]){0, 2, 1, 3});
    return build_reshape(cursor(result), heads, t->rank, t->dim);
}

// One for all, or the last two axes before the rows are the sequences and the heads (which are
// parted in results of three such axes).
static bool broadcasts_by_heads(const Node *bias, const Attention *a) {
    int own = bias->type.rank - 2;
    bool ones = true;
    for (int i = 0; i < own; i++) ones = ones && dim_is(bias->type.dim[i], 1);
    if (ones || own > 2 || a->result->type.rank > 4) return ones;
    const Dim *heads = bias->type.dim[own - 1];
    bool of_heads = dim_is(heads, 1) || dim_is(heads, a->q.heads);
    return of_heads && (own == 1 || dim_is(bias->type.dim[0], 1) || bias->type.dim[0] == a->batch);
}

static Node *parted(Node *bias, const Attention *a, const Dim *const *last_two) {
    Graph *g = bias->graph;
    const Dim *dims[] = {a->batch, dim_const(g, a->q.heads), last_two[0], last_two[1]};
    bool one = dim_is(a->batch, 1);
    Type shape = type_of(bias->type.dtype, one ? 3 : 4, dims + one);
    if (type_count(g, &shape) != type_count(g, &bias->type)) return NULL;
    return build_reshape(cursor(a->result), bias, shape.rank, shape.dim);
}

// The bias as [batch, heads, rows, keys], unless it broadcasts to that. A window's mask has one
// more axis, of windows, in front of the heads: the scores that it was added to had it as well.
static Node *by_heads(const Bias *b, const Attention *a) {
    Node *bias = b->node;
    const Type *result = &a->result->type;
    int leading = result->rank - 2, own = bias->type.rank - 2;
    const Dim *shape[MAX_RANK];
    if (own < 1 || broadcasts_by_heads(bias, a)) return bias;
    if (own > leading && b->whole->rank != bias->type.rank) return NULL;
    for (int i = 0; i < leading; i++) shape[i] = result->dim[i];
    if (own > leading) leading = own;
    for (int i = 0; i < leading && own > result->rank - 2; i++) shape[i] = b->whole->dim[i];
    for (int i = 0; i < 2; i++) shape[leading + i] = bias->type.dim[own + i];
    return parted(build_expand(cursor(a->result), bias, leading + 2, shape), a, shape + leading);
}

// Attention over [batch, T] with keys [batch, S] takes the mask as [batch, S]; any other mask is
// one more bias.
static bool takes_mask(const Attention *t) {
    const Type *product = &t->scores.product->type, *mask = &t->scores.padding.mask->type;
    const Dim *sequences = mask->rank == 2 ? mask->dim[0] : dim_const(t->result->graph, 1);
    bool parted = dim_is(sequences, 1) || (product->rank >= 3 && product->dim[0] == sequences);
    return parted && sequences == t->batch &&
           mask->dim[mask->rank - 1] == product->dim[product->rank - 1];
}

static Node *emit_mask(Attention *t) {
    Node *at = t->result, *mask = t->scores.padding.mask;
    const Dim *dims[] = {t->batch, width_dim(mask)};
    mask = build_reshape(cursor(at), mask, 2, dims);
    Node *hidden = mask->type.dtype == DT_bool
                       ? build_unary(cursor(at), OP_not, mask)
                       : build_binary(cursor(at), OP_equal, mask,
                                      node_scalar(at->graph, mask->type.dtype, 0, at->loc, at));
    Node *added = node_scalar(at->graph, DT_f32, t->scores.padding.hidden * t->scores.padding.scale,
                              at->loc, at);
    Node *in[] = {hidden, added, node_scalar(at->graph, DT_f32, 0, at->loc, at)};
    return build_op(cursor_at(at, at->loc), OP_where, 3, in);
}

// The kernel reads a bias for each key, also where it is one for all keys of a row.
static Node *of_each_key(Node *bias, const Attention *a) {
    const Dim *dims[MAX_RANK];
    int rank = bias->type.rank;
    for (int i = 0; i < rank; i++) dims[i] = bias->type.dim[i];
    dims[rank - 1] = width_dim(a->scores.product);
    return build_expand(cursor(a->result), bias, rank, dims);
}

// Several biases are one, their sum.
static bool emit_bias(const Attention *a, Node **sum) {
    const Scores *s = &a->scores;
    *sum = NULL;
    for (int i = 0; i < s->n_biases; i++) {
        Node *bias = by_heads(&s->bias[i], a);
        if (!bias) return false;
        bias = of_each_key(scaled_before(bias, s->bias[i].scale, a->result), a);
        *sum = *sum ? build_binary(cursor(a->result), OP_add, bias, *sum) : bias;
    }
    return true;
}

// The match looks through casts to f32: narrower operands are cast here.
static Node *in_f32(Node *x, Node *before) { return build_cast(cursor(before), x, DT_f32); }

static Node *emit_sinks(const Attention *t) {
    const Dim *heads = dim_const(t->result->graph, t->q.heads),
              *one = dim_const(t->result->graph, 1);
    bool shared = dim_is(type_count(t->result->graph, &t->sinks->type), 1);
    Node *n = build_reshape(cursor(t->result), t->sinks, 1, shared ? &one : &heads);
    return build_expand(cursor(t->result), n, 1, &heads);
}

static Node *emit_attention(Attention *t) {
    Node *at = t->result;
    if (at->type.dtype != DT_f32) return NULL;
    Node *q = emit_rows(&t->q, 2, 1, at), *k = emit_rows(&t->k, 1, 2, at),
         *v = emit_rows(&t->v, 2, 1, at);
    if (!q || !k || !v) return NULL;
    Node *in[ATTENTION_OPERANDS] = {in_f32(q, at), in_f32(k, at), in_f32(v, at)};
    if (!emit_bias(t, &in[ATTENTION_BIAS])) return NULL;
    if (t->scores.padding.mask) in[ATTENTION_MASK] = emit_mask(t);
    if (t->sinks) in[ATTENTION_SINKS] = in_f32(emit_sinks(t), at);
    Node *n = node_make(at->graph, OP_attention, at->loc, operands_present(in, ATTENTION_OPERANDS),
                        in, at);
    set_attributes(n, t);
    inferred(n);
    return unfold(n, t);
}

// where(p == p, p, 0): probabilities of a row without any key, which attention defines as zeros.
static Node *nan_guard(const Node *p) {
    Node *select = NULL;
    for (int i = 0; i < p->n_users; i++) {
        Node *user = p->users[i];
        if (user->op == OP_equal && user->in[0] == user->in[1]) continue;
        if (user->op != OP_where || user->in[1] != p || select) return NULL;
        select = user;
    }
    double other;
    if (!select || select->in[0]->op != OP_equal || select->in[0]->in[0] != p ||
        node_only_user(select->in[0]) != select)
        return NULL;
    return node_uses(p) == p->n_users && match_scalar(select->in[2], &other) && other == 0 ? select
                                                                                           : NULL;
}

// softmax(x - max(x)) is softmax(x).
static Node *softmax_operand(const Node *softmax) {
    Node *x = before_rounding(softmax->in[0]), *most = x->op == OP_sub ? x->in[1] : NULL;
    bool less = most && most->op == OP_reduce_max && reduces_last_axis_only(most) &&
                match_same(most->in[0], x->in[0]);
    return less ? x->in[0] : x;
}

static bool joins_last(const Node *n) {
    return n->op == OP_concat && n->n_in == 2 && node_axis(n) == n->type.rank - 1;
}

// The sinks, concatenated after the scores: one number for each head, the same for all queries.
static bool read_sinks(const Node *joined, Attention *t, Attempt *a) {
    Node *sinks = joined->in[1];
    while (sinks->op == OP_expand || sinks->op == OP_reshape || sinks->op == OP_cast)
        sinks = sinks->in[0];
    t->sinks = sinks;
    t->keys = width_dim(joined->in[0]);
    return is_weight(sinks) ||
           attempt_fails(a, joined, "joins scores with what is no sink for each head");
}

// The keys' part of the probabilities, which the sinks' follows.
static bool leaves_sinks(const Node *n, const Attention *t) {
    return n->op == OP_slice && node_axis(n) == n->type.rank - 1 &&
           dim_is(attr_dim(n, "start"), 0) && width_dim(n) == t->keys;
}

// The weights that were quantized and come back, a few users on.
static Node *behind_quantization(Node *p, Attempt *a) {
    enum { LONGEST = 10 };
    Node *n = is_text(p->graph) ? node_only_user(p) : NULL;
    for (int i = 0; n && i < LONGEST; i++, n = node_only_user(n))
        if (match_quantized(n) == p) return a->of_bytes = true, n;
    return p;
}

static Node *behind_masks(Node *p, const Attention *t) {
    Node *user;
    while ((user = node_only_user(p)) && hides_nothing_more(user, p, &t->scores)) p = user;
    return p;
}

// From the probabilities to their product with the values.
static Node *find_result(Node *softmax, const Attention *t, Attempt *a) {
    Node *weights = behind_rounding(softmax), *p = nan_guard(weights);
    if (!p) p = weights;
    p = behind_quantization(p, a);
    if (t->sinks) {
        p = node_only_user(p);
        if (!p || !leaves_sinks(p, t))
            return attempt_fails(a, softmax, "keeps the shares of sinks"), NULL;
    }
    for (;;) {
        p = behind_masks(p, t);
        Node *user = node_only_user(p);
        if (!user)
            return attempt_fails(a, p, "has other uses than the product with the values"), NULL;
        if (user->op == OP_matmul && user->in[0] == p) return user;
        if (user->op != OP_cast && !is_rounding(user) &&
            !(user->op == OP_reshape && keeps_last_two(user)))
            return attempt_fails(a, user, "is not the product with the values"), NULL;
        p = user;
    }
}

static bool read_operands(Attention *t, Attempt *a) {
    Node *product = t->scores.product, *result = t->result;
    double *scale = &t->scores.scale;
    if (!read_operand(product->in[0], &product->type, scale, &t->q))
        return attempt_fails(a, product->in[0], "does not hold queries of whole heads");
    t->batch = count_sequences(&t->q);
    if (!part_batch(&t->q, t->batch) || t->q.repeats > 1)
        return attempt_fails(a, product->in[0], "does not hold one query for each head");
    if (!read_operand(product->in[1], &product->type, scale, &t->k) || !part_batch(&t->k, t->batch))
        return attempt_fails(a, product->in[1], "does not hold keys of whole heads");
    if (!read_operand(result->in[1], &result->type, NULL, &t->v) || !part_batch(&t->v, t->batch))
        return attempt_fails(a, result->in[1], "does not hold values of whole heads");
    if (t->k.heads != t->v.heads || t->k.heads * t->k.repeats != t->q.heads ||
        t->k.tiled != t->v.tiled)
        return attempt_fails(a, result->in[1], "has other heads than the keys");
    if (!t->k.tiled) return true;
    if (t->sinks || t->scores.n_biases)
        return attempt_fails(a, product->in[1],
                             "repeats heads in an order that biases and sinks do not have");
    return group_queries(t) ||
           attempt_fails(a, product->in[0], "does not hold one query for each head");
}

static bool read_attention(Node *softmax, Attention *t, Attempt *a) {
    Scores *s = &t->scores;
    const Scores nothing = {.scale = 1, .allowed = {INT64_MIN, INT64_MAX}};
    *s = nothing;
    int rank = softmax->type.rank;
    if (rank < 2 || node_axis(softmax) != rank - 1)
        return attempt_fails(a, softmax, "is not over the last axis of scores");
    Node *scores = softmax_operand(softmax);
    if (joins_last(scores)) {
        if (!read_sinks(scores, t, a)) return false;
        scores = scores->in[0];
    }
    if (!scores_read(scores, s, a)) return false;
    if (sees_both_sides(s->allowed)) {
        *s = nothing, s->windows_are_biases = true;
        if (!scores_read(scores, s, a)) return false;
    }
    if (!check_scores(s, a, softmax)) return false;
    t->result = find_result(softmax, t, a);
    if (!t->result) return false;
    if (s->product->type.rank < 2 || t->result->type.rank < 2)
        return attempt_fails(a, s->product, "is not a product of matrices");
    if (!dim_is_const(width_dim(s->product->in[0]), NULL) ||
        !dim_is_const(width_dim(t->result), NULL))
        return attempt_fails(a, s->product, "has heads as long as the run decides");
    if (!read_operands(t, a)) return false;
    const Dim *sinks = t->sinks ? type_count(softmax->graph, &t->sinks->type) : NULL;
    if (sinks && !dim_is(sinks, 1) && !dim_is(sinks, t->q.heads))
        return attempt_fails(a, t->sinks, "is not one number for each head");
    if (!s->padding.mask || takes_mask(t)) return true;
    s->padding.mask = NULL;
    return scores_add_bias(s->padding.added, s->padding.scale, s, t->result, a);
}

// Returns true if the value is computed from a product of two values that both depend on the
// inputs: these are scores.
static bool comes_from_scores(const Node *n, int *steps) {
    if (!n || !n->n_in || --*steps < 0) return false;
    if (n->op == OP_matmul) return !is_weight(n->in[0]) && !is_weight(n->in[1]);
    if (n->op == OP_softmax || op_info[n->op].rows == ROWS_STATE) return false;
    for (int i = 0; i < n->n_in; i++)
        if (comes_from_scores(n->in[i], steps)) return true;
    return false;
}

bool fuse_attention(Node *softmax, Attempt *a) {
    Attention t = {0};
    enum { CHAIN = 16, MOST_STEPS = 400 };
    int steps = MOST_STEPS;
    if (softmax->op != OP_softmax) return false;
    const Node *scores = softmax_operand(softmax);
    a->pattern = "attention";
    if (!nan_guard(softmax) && !leads_to_scores(joins_last(scores) ? scores->in[0] : scores, CHAIN))
        return comes_from_scores(scores, &steps) &&
               attempt_broke(a, scores, "is more than scaled and masked scores");
    if (!read_attention(softmax, &t, a)) return true;
    a->also = t.scores.padding.mask ? "padding" : NULL;
    a->root = t.result;
    a->by = emit_attention(&t);
    return a->by ? true : attempt_broke(a, t.result, "has too many axes");
}
