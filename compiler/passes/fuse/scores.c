// The computation between the product of queries and keys and the softmax: masks, biases, a soft
// cap and factors, read from the softmax upwards. A mask is read as a set of distances
// (distance.h), a mask that is an input as padding.
#include "passes/fuse/scores.h"

#include <math.h>

static void intersect(Interval *a, Interval b) {
    if (b.from > a->from) a->from = b.from;
    if (b.to < a->to) a->to = b.to;
}

static bool is_very_negative(const Node *n) {
    double v;
    return match_scalar(n, &v) && v <= VERY_NEGATIVE;
}

static void negate(Distance *d) {
    for (int i = 0; i < d->n; i++) d->piece[i].c = d->piece[i].c == 0;
}

Node *scaled_before(Node *x, double by, Node *before) {
    return by == 1
               ? x
               : build_binary(cursor(before), OP_mul, x,
                              node_scalar(before->graph, x->type.dtype, by, before->loc, before));
}

bool scores_add_bias(Node *bias, double scale, Scores *s, Node *at, Attempt *a) {
    if (s->n_biases == MAX_BIASES) return attempt_fails(a, at, "is one bias too many");
    s->bias[s->n_biases++] = (Bias){bias, scale, &at->type};
    return true;
}

static bool add_bias(Node *bias, Scores *s, Node *at, Attempt *a) {
    if (!bias->type.rank) return attempt_fails(a, at, "adds one number to all scores");
    return scores_add_bias(bias, s->scale, s, at, a);
}

// A value that is the same for every query and key but for an input, a mask of keys: for elements 0
// and 1 of it.
static bool read_by_mask(const Node *n, const Node **mask, double value[2]) {
    for (int element = 0; element < 2; element++) {
        Distance d;
        if (!distance_with_mask(n, element, mask, &d) || !*mask || d.n != 1 ||
            !distance_is_condition(&d))
            return false;
        value[element] = d.piece[0].c;
    }
    return true;
}

// Its own sequence for each of the scores', or the same for all.
static bool has_axes_of_scores(const Node *mask, const Node *term, const Node *scores) {
    bool own = mask->type.rank == 2 && !dim_is(mask->type.dim[0], 1);
    return mask->type.rank <= 2 && (!own || (term->type.rank == scores->type.rank &&
                                             mask->type.dim[0] == scores->type.dim[0]));
}

static bool add_padding(Padding padding, const Node *term, const Node *scores, Scores *s) {
    if (s->padding.mask || s->softcap != 0 || s->scale <= 0 ||
        !has_axes_of_scores(padding.mask, term, scores))
        return false;
    if (!(padding.hidden <= VERY_NEGATIVE)) return false;
    s->padding = padding;
    s->padding.scale = s->scale;
    return true;
}

// A mask that depends on the inputs is added: 0 where it allows, minus infinity where it does not.
// A finite `hidden` stays finite and far below all scores: they vanish beside it, so that a query
// whose keys are all hidden weighs them alike.
static Node *added_mask(Node *select, int kept, double hidden) {
    DType type = select->type.dtype;
    double far = hidden == -INFINITY ? hidden : type == DT_f16 ? fmin(hidden, -65504) : -0x1p100;
    Node *zero = node_scalar(select->graph, type, 0, select->loc, select);
    Node *least = node_scalar(select->graph, type, far, select->loc, select);
    Node *in[] = {select->in[0], kept == 1 ? zero : least, kept == 1 ? least : zero};
    return build_op(cursor_at(select, select->loc), OP_where, 3, in);
}

// A select by a mask that depends on the inputs.
static bool read_input_mask(Node *n, int kept, Scores *s, Attempt *a) {
    const Node *mask;
    double keeps[2];
    Padding p = {0};
    match_scalar(n->in[3 - kept], &p.hidden);
    p.added = added_mask(n, kept, p.hidden);
    bool hides = read_by_mask(n->in[0], &mask, keeps) && (keeps[1] != 0) == (kept == 1) &&
                 (keeps[0] != 0) == (kept == 2);
    p.mask = hides ? (Node *)mask : NULL;
    return (hides && add_padding(p, n->in[0], n, s)) || add_bias(p.added, s, n, a);
}

// The operand of where(mask, kept, -inf), or of the other way round, that is kept; 0 when neither
// is minus infinity.
static int kept_by_select(const Node *n) {
    return is_very_negative(n->in[2]) ? 1 : is_very_negative(n->in[1]) ? 2 : 0;
}

// A mask that is a condition on distances restricts the allowed distances.
static bool read_condition(const Node *select, int kept, Scores *s) {
    Distance d;
    Interval allowed = s->allowed;
    if (!distance_of(select->in[0], &d) || !distance_is_condition(&d)) return false;
    if (kept == 2) negate(&d);
    if (!distance_allows(&d, false, &allowed)) return false;
    intersect(&s->allowed, allowed);
    return true;
}

// scores * m, where m is 1 for every key that the mask around it allows: GPT-1 writes scores * m -
// 1e4 * (1 - m).
static bool is_one_where_allowed(const Node *m, const Scores *s) {
    Distance d;
    if (!distance_of(m, &d) || !distance_is_condition(&d)) return false;
    for (int i = 0; i < d.n; i++) {
        int64_t from = d.piece[i].from, to = i + 1 < d.n ? d.piece[i + 1].from - 1 : INT64_MAX;
        if (d.piece[i].c != 1 && from <= s->allowed.to && to >= s->allowed.from) return false;
    }
    return true;
}

// A mask after the softmax, on probabilities that the scores' mask already selects: it hides
// nothing more.
bool hides_nothing_more(const Node *n, const Node *p, const Scores *s) {
    Scores more = *s;
    double v;
    if (n->op == OP_mul) return is_one_where_allowed(n->in[n->in[0] == p], s);
    if (n->op != OP_where || n->in[0] == p) return false;
    int kept = n->in[1] == p ? 1 : 2;
    bool zero = n->in[kept] == p && match_scalar(n->in[3 - kept], &v) && v == 0;
    return zero && read_condition(n, kept, &more) && more.allowed.from == s->allowed.from &&
           more.allowed.to == s->allowed.to;
}

static bool read_select(Node *n, Scores *s, Attempt *a) {
    Distance d;
    int kept = kept_by_select(n);
    if (!kept)
        return attempt_fails(a, n,
                             "selects between scores and something that is not minus infinity");
    if (!read_condition(n, kept, s)) {
        if (distance_of(n->in[0], &d))
            return attempt_fails(a, n->in[0], "does not allow one range of distances");
        if (!read_input_mask(n, kept, s, a)) return false;
    }
    return scores_read(n->in[kept], s, a);
}

// Towards the product of two values that both depend on the inputs.
bool leads_to_scores(const Node *n, int depth) {
    const Node *exact = match_quantized((Node *)n);
    if (exact && depth) return leads_to_scores(exact, depth - 1);
    if (n->op == OP_matmul) return !is_weight(n->in[1]);
    if (!depth || n->op == OP_softmax ||
        (!op_is_elementwise(n->op) && n->op != OP_cast && !is_view(n->op)))
        return false;
    for (int i = 0; i < n->n_in; i++) {
        if (leads_to_scores(n->in[i], depth - 1)) return true;
    }
    return false;
}

// A reshape that only puts axes of extent 1 in front, or takes them away.
static bool changes_ones(const Node *n) {
    const Type *a = &n->type, *b = &n->in[0]->type;
    for (int i = 1; i <= a->rank || i <= b->rank; i++) {
        const Dim *x = i <= a->rank ? a->dim[a->rank - i] : NULL,
                  *y = i <= b->rank ? b->dim[b->rank - i] : NULL;
        if (x != y && !((!x || dim_is(x, 1)) && (!y || dim_is(y, 1)))) return false;
    }
    return true;
}

bool sees_both_sides(Interval w) { return w.from != INT64_MIN && w.from != 0; }
static bool is_bias(const Scores *s, Interval w) {
    return s->windows_are_biases && sees_both_sides(w);
}

// The addend of the scores: a mask, a bias, a sum of them (T5 adds the mask to its bias first), or
// a bias where a mask allows it (Falcon's ALiBi).
static bool read_term(Node *term, Scores *s, Node *at, Attempt *a) {
    Distance d;
    Interval allowed = s->allowed, before = s->allowed;
    term = before_rounding(term);
    if (distance_of(term, &d) && distance_is_condition(&d) && distance_allows(&d, true, &allowed) &&
        !is_bias(s, allowed)) {
        intersect(&s->allowed, allowed);
        return true;
    }
    bool joined =
        term->op == OP_reshape && (term->in[0]->op == OP_add || term->in[0]->op == OP_where);
    if (joined && changes_ones(term)) term = term->in[0];
    int kept = term->op == OP_where ? kept_by_select(term) : 0;
    if (kept && read_condition(term, kept, s)) {
        if (!is_bias(s, s->allowed)) return read_term(term->in[kept], s, at, a);
        s->allowed = before;
    }
    if (term->op == OP_add)
        return read_term(term->in[0], s, at, a) && read_term(term->in[1], s, at, a);
    const Node *mask;
    double adds[2];
    if (read_by_mask(term, &mask, adds) && adds[1] == 0 &&
        add_padding((Padding){.mask = (Node *)mask, .hidden = adds[0], .added = term}, term, at, s))
        return true;
    return add_bias(term, s, at, a);
}

static bool read_added(Node *n, Scores *s, Attempt *a) {
    int side = leads_to_scores(n->in[0], 8) ? 0 : 1;
    return read_term(n->in[!side], s, n, a) && scores_read(n->in[side], s, a);
}

static bool has_dims_of(const Node *x, const Node *other) {
    Type type = x->type;
    type.dtype = other->type.dtype;
    return type_equal(&type, &other->type);
}

// Scores by the rows and columns of an image: reshape(reshape(scores) + by_rows + by_columns) is
// scores + reshape(both).
static bool read_unfolded(Node *n, Scores *s, Attempt *a) {
    enum { MOST_TERMS = 4 };
    Node *x = before_rounding(n->in[0]), *term[MOST_TERMS];
    int terms = 0;
    for (; x->op == OP_add && terms < MOST_TERMS; terms++) {
        int side = leads_to_scores(x->in[0], 8) ? 0 : 1;
        term[terms] = x->in[!side];
        if (!has_dims_of(x->in[side], n->in[0]))
            return attempt_fails(a, x, "adds scores that broadcast");
        x = before_rounding(x->in[side]);
    }
    if (x->op != OP_reshape || !has_dims_of(x->in[0], n))
        return attempt_fails(a, n, "is not the product of queries and keys, scaled and masked");
    for (int i = 0; i < terms; i++) {
        Node *all = build_expand(cursor(n), term[i], n->in[0]->type.rank, n->in[0]->type.dim);
        if (!scores_add_bias(build_reshape(cursor(n), all, n->type.rank, n->type.dim), s->scale, s,
                             n, a))
            return false;
    }
    return scores_read(x->in[0], s, a);
}

// A clamp that only keeps minus infinity finite.
static bool read_clamp(Node *n, Scores *s, Attempt *a) {
    for (int side = 0; side < 2; side++) {
        if (is_very_negative(n->in[!side])) return scores_read(n->in[side], s, a);
    }
    return attempt_fails(a, n, "clamps scores");
}

// scores - max(scores): softmax does as much (CogView's form takes the maximum between two
// factors). Else a mask.
static bool read_difference(Node *n, Scores *s, Attempt *a) {
    Node *most = n->in[1];
    bool of_rows = most->op == OP_reduce_max && reduces_last_axis_only(most) &&
                   match_same(most->in[0], n->in[0]);
    if (of_rows) return scores_read(n->in[0], s, a);
    Distance d;
    if (!distance_of(most, &d)) return attempt_fails(a, n, "subtracts from scores");
    return read_term(build_unary(cursor(n), OP_neg, most), s, n, a) && scores_read(n->in[0], s, a);
}

// A factor of its own for each head (Swin 2 learns them) is one of the queries: f * (q k^T) is (f *
// q) k^T.
static bool is_of_heads(const Type *factor, const Type *queries) {
    int more = queries->rank - factor->rank;
    if (factor->rank < 3 || more < 0) return false;
    for (int i = 0; i < factor->rank; i++) {
        bool head = i + 2 < factor->rank && factor->dim[i] == queries->dim[more + i];
        if (!head && !dim_is(factor->dim[i], 1)) return false;
    }
    return true;
}

static Node *factor_moved_to_queries(Node *n) {
    for (int side = 0; n->op == OP_mul && side < 2; side++) {
        Node *product = before_rounding(n->in[side]), *factor = n->in[!side];
        if (product->op != OP_matmul || !is_of_heads(&factor->type, &product->in[0]->type))
            continue;
        factor = build_cast(cursor(n), factor, product->in[0]->type.dtype);
        Node *in[] = {build_binary(cursor(n), OP_mul, product->in[0], factor), product->in[1]};
        return build_op(cursor(n), OP_matmul, 2, in);
    }
    return NULL;
}

static bool read_factor(Node *n, Scores *s, Attempt *a) {
    double v;
    Node *moved = factor_moved_to_queries(n);
    if (moved) return scores_read(moved, s, a);
    for (int side = 0; n->op == OP_mul && side < 2; side++) {
        if (leads_to_scores(n->in[side], 8) && is_one_where_allowed(n->in[!side], s))
            return scores_read(n->in[side], s, a);
    }
    int side = n->op == OP_mul && match_scalar(n->in[0], &v) ? 1 : 0;
    if (!match_scalar(n->in[!side], &v))
        return attempt_fails(a, n, "scales scores by more than a constant");
    s->scale *= n->op == OP_div ? 1 / v : v;
    return scores_read(n->in[side], s, a);
}

// cap * tanh(x / cap): the factors outside are the cap, those inside the scale divided by it.
static bool read_softcap(Node *n, Scores *s, Attempt *a) {
    if (s->softcap != 0 || s->scale <= 0) return attempt_fails(a, n, "is no soft cap");
    s->softcap = s->scale;
    return scores_read(n->in[0], s, a);
}

bool keeps_last_two(const Node *n) {
    const Type *a = &n->type, *b = &n->in[0]->type;
    return a->rank >= 2 && b->rank >= 2 && a->dim[a->rank - 1] == b->dim[b->rank - 1] &&
           a->dim[a->rank - 2] == b->dim[b->rank - 2];
}

bool is_text(const Graph *g) {
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == INPUT_TOKENS) return true;
    return false;
}

// Calibrated over a mask of large numbers, one step of the bytes is larger than any score.
static bool rounds_coarsely(const Node *n) {
    static const double STEP = 1e3;
    double step;
    return (match_scalar(n->in[0], &step) || match_scalar(n->in[1], &step)) && step > STEP;
}

bool scores_read(Node *n, Scores *s, Attempt *a) {
    Node *exact = is_text(n->graph) ? match_quantized(n) : NULL;
    if (exact && rounds_coarsely(n))
        return attempt_fails(a, n, "rounds scores together with what masks them: they are gone");
    if (exact) return a->of_bytes = true, scores_read(exact, s, a);
    if (s->softcap != 0 && (n->op == OP_where || n->op == OP_add))
        return attempt_fails(a, n, "is masked before the soft cap");
    switch (n->op) {
        case OP_matmul:
            s->product = n;
            return true;
        case OP_where:
            return read_select(n, s, a);
        case OP_add:
            return read_added(n, s, a);
        case OP_sub:
            return read_difference(n, s, a);
        case OP_mul:
        case OP_div:
            return read_factor(n, s, a);
        case OP_max:
            return read_clamp(n, s, a);
        case OP_tanh:
            return read_softcap(n, s, a);
        case OP_cast:
        case OP_round_f16:
        case OP_round_bf16:
            return scores_read(n->in[0], s, a);
        case OP_reshape:
        case OP_expand:
            if (keeps_last_two(n)) return scores_read(n->in[0], s, a);
            if (n->op == OP_reshape) return read_unfolded(n, s, a);
            break;
        default:
            break;
    }
    return attempt_fails(a, n, "is not the product of queries and keys, scaled and masked");
}

bool check_scores(const Scores *s, Attempt *a, const Node *softmax) {
    Interval w = s->allowed;
    if (sees_both_sides(w))
        return attempt_fails(a, softmax->in[0],
                             "is masked, but not causally: keys start at another distance than 0");
    if (w.from == INT64_MIN && w.to != INT64_MAX)
        return attempt_fails(a, softmax->in[0], "has a window without a causal mask");
    if (w.to < 0) return attempt_fails(a, softmax->in[0], "masks every key");
    return true;
}
