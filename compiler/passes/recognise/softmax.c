// Softmax, however it is spelled:
//
//   exp(x) / sum(exp(x)), exp(x - c) with one c for each sum, (exp(x) @ v) / sum(exp(x))
//   exp(x - log(sum(exp(x))))
//   exp(x) / (1 + sum(exp(x))), exp(x - c) / (exp(-c) + sum(exp(x - c)))      one more score, 0, besides x
//   m * exp(x) / sum(m * exp(x)), where m is 0 or 1                           softmax(where(m, x, -inf))
//   m * softmax(x) / sum(m * softmax(x))                                      softmax(where(m, x, -inf))
//
//   before   %e = exp(sub(%x, reduce_max(%x) {axes=[1]}))         after   %p = softmax(%x) {axis=1}
//            %p = div(%e, reduce_sum(%e) {axes=[1]})
//
// The anchor is the sum. Values of 16 bits are read through their roundings (match.h). Scores whose
// axes are in another order than [..., queries, keys] get that order (order_scores):
//
//   softmax(k q^T) {axis=-2}, times v      softmax(q k^T) {axis=-1}, times v
#include <math.h>

#include "ir/convert.h"
#include "passes/recognise/recognise.h"

enum { CHAIN = 16 };  // nodes between a softmax and its product

typedef struct Weights {
    // the summed value; the sum, with the axis kept as 1: both as their readers see them, rounded
    Node *weights, *sum;
    Node *x;      // softmax(x) is weights / sum
    Node *shift;  // c, or NULL
    int axis;
    bool one_more;  // the sum has one more term, exp(0 - c)
} Weights;

// ------------------------------------------------------------------------------------------- masks
static bool holds_zeros_and_ones(const Tensor *t) {
    enum { LARGEST = 1 << 22 };
    if (!t || !t->data || !dtype_bits(t->dtype) || tensor_count(t) > LARGEST) return false;
    for (int64_t i = 0; i < tensor_count(t); i++) {
        double v = dtype_load(t->dtype, t->data, i);
        if (v != 0 && v != 1) return false;
    }
    return true;
}

// Returns true if every element is 0 or 1.
static bool is_truth(const Node *n) {
    if (n->type.dtype == DT_bool) return true;
    switch (n->op) {
        case OP_constant:
            return holds_zeros_and_ones(n->value);
        case OP_cast:
        case OP_reshape:
        case OP_transpose:
        case OP_expand:
        case OP_slice:
        case OP_round_f16:
        case OP_round_bf16:
            return is_truth(n->in[0]);
        case OP_where:
            return is_truth(n->in[1]) && is_truth(n->in[2]);
        case OP_mul:
            return is_truth(n->in[0]) && is_truth(n->in[1]);
        case OP_sub:
            return match_is(n->in[0], 1) && is_truth(n->in[1]);
        default:
            return false;
    }
}

static Node *hidden(Node *x, Node *condition, bool keeps, Node *before) {
    Node *none = node_scalar(x->graph, x->type.dtype, -INFINITY, before->loc, before);
    Node *in[] = {condition, keeps ? x : none, keeps ? none : x};
    return build_op(cursor_at(before, before->loc), OP_where, 3, in);
}

static Node *hidden_by_factor(Node *x, Node *mask, Node *before) {
    Node *of = mask->op == OP_cast ? mask->in[0] : mask;
    if (of->type.dtype == DT_bool) return hidden(x, of, true, before);
    Node *zero = node_scalar(x->graph, mask->type.dtype, 0, before->loc, before);
    return hidden(x, build_binary(cursor(before), OP_equal, mask, zero), false, before);
}

// ------------------------------------------------------------------------------------- the weights
static bool is_one_along(const Node *n, int rank, int axis) {
    int own = axis - (rank - n->type.rank);
    return own < 0 || dim_is(n->type.dim[own], 1);
}

// exp(x), exp(x - c), or softmax(x) along the axis.
static bool read_exponential(Node *n, Weights *w) {
    Node *x = before_rounding(n->in[0]);
    w->x = n->in[0];
    if (n->op == OP_softmax) return node_axis(n) == w->axis;
    if (x->op == OP_sub && is_one_along(x->in[1], n->type.rank, w->axis) &&
        type_equal(&x->in[0]->type, &n->type))
        w->shift = x->in[1], w->x = x->in[0];
    return true;
}

static Node *exponential(Node *n) {
    n = before_rounding(n);
    return n->op == OP_exp || n->op == OP_softmax ? n : NULL;
}

// The factors of the weights: one exponential, all others masks.
static Node *find_exponential(Node *n, Product *masks) {
    *masks = (Product){.scale = 1};
    if (exponential(n)) return exponential(n);
    if (!match_product(n, masks) || masks->scale != 1) return NULL;
    Node *found = NULL;
    for (int i = 0; i < masks->n; i++) {
        Factor *f = &masks->factor[i];
        if (f->halves != 2) return NULL;
        if (exponential(f->node)) {
            if (found) return NULL;
            found = exponential(f->node);
            product_drop(masks, f), i--;
        } else if (!is_truth(f->node)) {
            return NULL;
        }
    }
    return found;
}

// where(c, e, 0) or where(c, 0, e): which side is e; 0: neither.
static int side_of_select(const Node *n) {
    double v;
    for (int i = 1; n->op == OP_where && i <= 2; i++)
        if (match_scalar(n->in[3 - i], &v) && v == 0) return i;
    return 0;
}

// False without a mask around a softmax: its sum is 1, and dividing by that is no formula of
// softmax.
static bool read_weights(Node *before, Weights *w) {
    Node *n = w->weights;
    Product masks;
    int side = side_of_select(n);
    Node *e = find_exponential(side ? n->in[side] : n, &masks);
    if (!e || !type_equal(&e->type, &n->type) || !read_exponential(e, w)) return false;
    if (e->op == OP_softmax && !side && !masks.n) return false;
    for (int i = 0; i < masks.n; i++) w->x = hidden_by_factor(w->x, masks.factor[i].node, before);
    if (side) w->x = hidden(w->x, n->in[0], side == 1, before);
    return true;
}

// -------------------------------------------------------------------------------------- the result
static Node *one_more_score(const Weights *w, Node *before) {
    const Dim *dims[MAX_RANK];
    const Type *t = &w->x->type;
    for (int i = 0; i < t->rank; i++)
        dims[i] = i == w->axis ? dim_const(before->graph, 1) : t->dim[i];
    Node *zero =
        build_expand(cursor(before), node_scalar(before->graph, t->dtype, 0, before->loc, before),
                     t->rank, dims);
    return build_concat(cursor_at(before, before->loc), 2, (Node *[]){w->x, zero}, w->axis);
}

static Node *emit_softmax(const Weights *w, Node *before) {
    Node *x = w->one_more ? one_more_score(w, before) : w->x;
    Node *n = build_softmax(cursor_at(before, before->loc), x, w->axis);
    const Dim *extent = w->x->type.dim[w->axis];
    return w->one_more ? build_slice(cursor(before), n,
                                     (Slice){w->axis, dim_const(before->graph, 0), extent, 1})
                       : n;
}

// A value of one use is a factor before its rounding, one of several uses after it.
static Factor *find_value(Product *p, Node *n, int halves) {
    Factor *f = product_find(p, n, halves);
    return f ? f : product_find(p, before_rounding(n), halves);
}

// weights @ v, each row of which is then divided.
static Factor *find_weighted(Product *p, const Weights *w) {
    for (int i = 0; i < p->n; i++) {
        const Node *n = before_rounding(p->factor[i].node);
        bool by_rows =
            n->op == OP_matmul && n->in[0] == w->weights && w->axis == n->in[0]->type.rank - 1;
        if (by_rows && p->factor[i].halves == 2 && n->type.rank == w->weights->type.rank)
            return &p->factor[i];
    }
    return NULL;
}

// root = weights / sum, or weights @ v / sum, times the remaining factors.
static bool match_root(Node *root, Node *sum, const Weights *w, Attempt *a) {
    Product p;
    if (!match_product(root, &p)) return false;
    Factor *below = find_value(&p, sum, -2);
    if (!below) return false;
    product_drop(&p, below);
    Factor *above = find_value(&p, w->weights, 2), *weighted = above ? NULL : find_weighted(&p, w);
    if (!above && !weighted) return false;
    Node *values = weighted ? before_rounding(weighted->node)->in[1] : NULL;
    product_drop(&p, above ? above : weighted);
    for (int i = 0; i < p.n; i++)
        if (p.factor[i].halves != 2) return false;
    Node *by = emit_softmax(w, root);
    if (values) by = build_binary(cursor(root), OP_matmul, by, values);
    for (int i = 0; i < p.n; i++) by = build_binary(cursor(root), OP_mul, by, p.factor[i].node);
    if (p.scale != 1)
        by = build_binary(cursor(root), OP_mul, by,
                          node_scalar(root->graph, by->type.dtype, p.scale, root->loc, root));
    a->by = by, a->root = root;
    return type_equal(&by->type, &root->type);
}

static bool match_quotient(Node *sum, const Weights *w, Attempt *a) {
    sum = behind_rounding(sum);
    for (int i = 0; i < sum->n_users; i++)
        for (Node *root = sum->users[i]; root; root = climb_product(root))
            if (match_root(root, sum, w, a)) return true;
    return false;
}

// sum + 1, sum + exp(-c): the weight of a score that is 0.
static bool adds_one_more(const Node *n, const Weights *w) {
    double v;
    if (n->op != OP_add) return false;
    const Node *other = before_rounding(n->in[n->in[0] == w->sum]);
    if (!w->shift) return match_scalar(other, &v) && v == 1;
    return other->op == OP_exp && other->in[0]->op == OP_neg &&
           match_same(other->in[0]->in[0], w->shift);
}

// exp(x - log(sum)) with the shift of the weights, if any, on one side or the other.
static bool match_logarithm(Node *root, const Weights *w, const Node *log, Attempt *a) {
    Sum all, own;
    Node *of = before_rounding(w->weights)->in[0];
    if (root->op != OP_exp || !match_sum(root->in[0], &all) || !match_sum(of, &own)) return false;
    if (all.n == 2)
        own = (Sum){.n = 1, .term = {{of, 1}}};  // a value of several uses is a term of its own
    if (all.n != own.n + 1 || all.constant != own.constant) return false;
    for (int i = 0; i < all.n; i++) {
        bool found = before_rounding(all.term[i].node) == log && all.term[i].coefficient == -1;
        for (int j = 0; j < own.n && !found; j++)
            found = all.term[i].node == own.term[j].node &&
                    all.term[i].coefficient == own.term[j].coefficient;
        if (!found) return false;
    }
    a->root = root, a->by = emit_softmax(w, root);
    return true;
}

// The exponentials of a logarithm that is subtracted from their own arguments.
static bool find_logarithm(Node *n, const Weights *w, const Node *log, Attempt *a, int depth) {
    n = behind_rounding(n);
    for (int i = 0; i < n->n_users; i++) {
        Node *user = n->users[i];
        if (match_logarithm(user, w, log, a)) return true;
        bool adds = user->op == OP_sub || user->op == OP_add || user->op == OP_neg;
        if (adds && depth && find_logarithm(user, w, log, a, depth - 1)) return true;
    }
    return false;
}

// The sum itself, or a reshape of it that gives the axis back.
static Node *kept_axis(Node *sum, int axis, const Type *of) {
    sum = behind_rounding(sum);
    if (sum->type.rank == of->rank) return sum;
    for (int i = 0; i < sum->n_users; i++) {
        Node *n = sum->users[i];
        bool kept = n->op == OP_reshape && n->type.rank == of->rank && dim_is(n->type.dim[axis], 1);
        for (int j = 0; j < of->rank && kept; j++) kept = j == axis || n->type.dim[j] == of->dim[j];
        if (kept) return n;
    }
    return NULL;
}

// -------------------------------------------------------------------------------------------- axes
typedef struct Order {
    int64_t perm[MAX_RANK];  // axis i is axis perm[i] of the reordered value
    int rank;
    Node *before;
} Order;

static Node *in_order(Node *x, const Order *o);

// The axes of a broadcast operand, counted from the end, are those of the whole.
static Node *operand_in_order(Node *x, const Order *o) {
    int own = x->type.rank, missing = o->rank - own;
    const Dim *dims[MAX_RANK];
    if (own == 0) return x;
    for (int i = 0; i < o->rank; i++)
        dims[i] = i < missing ? dim_const(x->graph, 1) : x->type.dim[i - missing];
    return in_order(build_reshape(cursor(o->before), x, o->rank, dims), o);
}

static Order behind_transpose(const Node *n, const Order *o) {
    int count;
    const int64_t *perm = attr_ints(n, "perm", &count);
    Order r = *o;
    for (int i = 0; i < o->rank; i++) r.perm[i] = perm[o->perm[i]];
    return r;
}

// (k q^T)^T is q k^T. NULL when other axes are exchanged than the last two.
static Node *product_in_order(Node *x, const Order *o) {
    int rank = x->type.rank;
    if (x->in[0]->type.rank != rank || x->in[1]->type.rank != rank) return NULL;
    for (int i = 0; i < rank; i++)
        if (o->perm[i] != (i < rank - 2 ? i : 2 * rank - 3 - i)) return NULL;
    return build_binary(cursor(o->before), OP_matmul,
                        build_transpose(cursor(o->before), x->in[1], o->perm),
                        build_transpose(cursor(o->before), x->in[0], o->perm));
}

static Node *in_order(Node *x, const Order *o) {
    if (x->op == OP_transpose) {
        Order inner = behind_transpose(x, o);
        return in_order(x->in[0], &inner);
    }
    Node *by = x->op == OP_matmul ? product_in_order(x, o) : NULL;
    if (by) return by;
    if (!op_is_elementwise(x->op)) return build_transpose(cursor(o->before), x, o->perm);
    Node *in[3];
    for (int i = 0; i < x->n_in; i++) in[i] = operand_in_order(x->in[i], o);
    return inferred(node_again(x, x->op, x->n_in, in, o->before));
}

// The product of two values below elementwise nodes; `o` becomes where its axes are.
static bool find_product(Node *x, Order *o, int depth) {
    Order here = *o;
    if (x->op == OP_matmul) return !is_weight(x->in[0]) && !is_weight(x->in[1]);
    if (!depth) return false;
    if (x->op == OP_transpose) {
        here = behind_transpose(x, o);
        if (!find_product(x->in[0], &here, depth - 1)) return false;
        *o = here;
        return true;
    }
    for (int i = 0; op_is_elementwise(x->op) && i < x->n_in; i++) {
        here = *o;
        if (x->in[i]->type.rank != o->rank || !find_product(x->in[i], &here, depth - 1)) continue;
        *o = here;
        return true;
    }
    return false;
}

// ------------------------------------------------------------------------------------- the anchors
bool recognise_softmax(Node *n, Attempt *a) {
    int count;
    const int64_t *axes = n->op == OP_reduce_sum ? attr_ints(n, "axes", &count) : NULL;
    if (!axes || count != 1 || !dtype_is_float(n->type.dtype)) return false;
    Weights w = {.weights = n->in[0], .axis = (int)axes[0]};
    w.sum = kept_axis(n, w.axis, &w.weights->type);
    if (!w.sum || !w.sum->next || !read_weights(w.sum->next, &w)) return false;
    a->pattern = "softmax";
    if (match_quotient(w.sum, &w, a)) return true;
    for (int i = 0; i < w.sum->n_users; i++) {
        Node *user = w.sum->users[i];
        w.one_more = adds_one_more(user, &w);
        if (w.one_more && match_quotient(user, &w, a)) return true;
        w.one_more = false;
        if (user->op == OP_log && before_rounding(w.weights)->op == OP_exp &&
            find_logarithm(user, &w, user, a, 3))
            return true;
    }
    Order of = {.rank = n->in[0]->type.rank};
    for (int i = 0; i < of.rank; i++) of.perm[i] = i;
    return find_product(w.x, &of, CHAIN) &&
           attempt_broke(a, n, "is a sum of exponentials that divides them in no known form");
}

// A softmax over keys, wherever the scores have their axes, as one over the last axis of scores in
// the order of their product, or of its transpose. NULL: it is, or the axis is neither that of the
// queries nor of the keys.
static Node *softmax_along_keys(Node *softmax) {
    Order of = {.rank = softmax->type.rank, .before = softmax}, to = of, back = of;
    int rank = of.rank, axis = node_axis(softmax);
    bool same = axis == rank - 1;
    for (int i = 0; i < rank; i++) of.perm[i] = i;
    if (rank < 2 || !find_product(softmax->in[0], &of, CHAIN)) return NULL;
    if (of.perm[axis] < rank - 2) return NULL;
    bool turned = of.perm[axis] == rank - 2;
    const Node *user = turned ? node_only_user(behind_rounding(softmax)) : NULL;
    if (turned && (!user || user->op != OP_transpose)) return NULL;  // it sums over the queries
    for (int i = 0; i < rank; i++) {
        int place =
            turned && of.perm[i] >= rank - 2 ? (int)(2 * rank - 3 - of.perm[i]) : (int)of.perm[i];
        to.perm[place] = i, back.perm[i] = place;
        same &= place == i;
    }
    if (same) return NULL;
    Node *x = in_order(softmax->in[0], &to);
    Node *n = build_softmax(cursor_at(softmax, softmax->loc), x, rank - 1);
    return build_transpose(cursor(softmax), n, back.perm);
}

bool order_scores(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) {
        Node *by = n->op == OP_softmax && node_uses(n) ? softmax_along_keys(n) : NULL;
        if (!by) continue;
        node_become(n, by);
        changed = true;
    }
    return changed;
}
