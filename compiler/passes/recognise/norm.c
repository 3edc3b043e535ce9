// RMSNorm and LayerNorm:
//
//   x * (mean(x^2) + epsilon)^-1/2 * weight
//   c * (mean(c^2) + epsilon)^-1/2 * weight + bias      with c = x - mean(x); or mean(x^2) - mean(x)^2 for the variance
//
//   before   %m = reduce_mean(mul(%x, %x)) {axes=[1]}            after   %y = rms_normalization(%x, %w) {epsilon=1e-06}
//            %y = mul(mul(%x, reciprocal(sqrt(add(%m, 1e-06)))), %w)
//
// The anchor is the root.
#include "passes/fault.h"
#include "passes/recognise/recognise.h"

typedef struct Norm {
    Node *x;        // the normalized value
    Node *centred;  // the factor x - mean(x) of LayerNorm; x itself for RMSNorm
    Node *weight, *bias;
    double epsilon;
    bool layer;
} Norm;

// c = x - mean(x)
static bool match_centred(Node *c, Node **x) {
    Sum s;
    Node *of;
    if (!match_sum(c, &s) || s.n != 2 || s.constant != 0) return false;
    for (int i = 0; i < 2; i++) {
        double mean = s.term[1 - i].coefficient;
        if (s.term[i].coefficient != 1 || !match_last_mean(s.term[1 - i].node, -mean, &of) ||
            of != s.term[i].node)
            continue;
        *x = of;
        return true;
    }
    return false;
}

// mean(x^2) - mean(x)^2
static bool match_variance_of_squares(Sum *s, Norm *norm) {
    for (int i = 0; i < 2; i++) {
        Node *squares, *x, *mean, *of;
        if (!match_last_mean(s->term[i].node, s->term[i].coefficient, &squares) ||
            !match_square(squares, &x))
            continue;
        if (s->term[1 - i].coefficient != -1 || !match_square(s->term[1 - i].node, &mean)) continue;
        if (!match_last_mean(mean, 1, &of) || of != x) continue;
        *norm = (Norm){.x = x, .epsilon = s->constant, .layer = true};
        return true;
    }
    return false;
}

static bool match_variance(Node *v, Norm *norm) {
    Sum s;
    Node *squares, *c;
    if (!match_sum(v, &s) || s.constant < 0) return false;
    if (s.n == 2) return match_variance_of_squares(&s, norm);
    if (s.n != 1 || !match_last_mean(s.term[0].node, s.term[0].coefficient, &squares) ||
        !match_square(squares, &c))
        return false;
    *norm = (Norm){.x = c, .centred = c, .epsilon = s.constant};
    norm->layer = match_centred(c, &norm->x);
    return true;
}

static Factor *find_normalised(Product *p, const Norm *norm) {
    if (norm->centred) return product_find(p, norm->centred, 2);
    for (int i = 0; i < p->n; i++) {
        Node *x;
        if (p->factor[i].halves == 2 && match_centred(p->factor[i].node, &x) && x == norm->x)
            return &p->factor[i];
    }
    return NULL;
}

static int64_t width_of(const Norm *norm) {
    int64_t width = 0;
    dim_is_const(width_dim(norm->x), &width);
    return width;
}

// root = x / sqrt(v), times nothing else or a weight.
static bool match_normalised(Node *root, Norm *norm, Attempt *a) {
    Product p;
    if (!match_product(root, &p)) return false;
    Factor *inverse = product_find_power(&p, -1);
    if (!inverse || !match_variance(inverse->node, norm)) return false;
    product_drop(&p, inverse);
    Factor *x = find_normalised(&p, norm);
    if (!x) {
        attempt_broke(a, root, "does not multiply the value whose mean square is under the root");
        return false;
    }
    product_drop(&p, x);
    if (!match_near(p.scale, 1)) return attempt_fails(a, root, "has a further constant factor");
    if (p.n == 0) return true;
    if (p.n > 1 || p.factor[0].halves != 2 || !match_is_vector(p.factor[0].node, width_of(norm)))
        return attempt_broke(
                   a, p.factor[0].node,
                   "is a further factor that is not one weight for each element of the last axis"),
               false;
    norm->weight = p.factor[0].node;
    return true;
}

// The only user applies `op` to the value and a vector over the last axis: the vector, and root
// moves on to the user.
static Node *absorb_vector(Node **root, Op op, int64_t width) {
    Node *value = behind_rounding(*root), *user = node_only_user(value);
    if (!user || user->op != op || !type_equal(&user->type, &(*root)->type)) return NULL;
    Node *other = user->in[user->in[0] == value];
    if (!match_is_vector(other, width)) return NULL;
    *root = user;
    return other;
}

static Node *as_vector(Node *before, Node *w) {
    return build_reshape(cursor(before), w, 1, &w->type.dim[w->type.rank - 1]);
}

// A transpose that keeps the last axis may as well come after the norm: then it can cancel with the
// views that follow.
static Node *behind_transpose(Node *x) {
    int count;
    const int64_t *perm = x->op == OP_transpose ? attr_ints(x, "perm", &count) : NULL;
    return perm && perm[count - 1] == count - 1 ? x->in[0] : x;
}

static Node *emit_norm(Node *root, Norm *norm) {
    Node *weight = norm->weight ? as_vector(root, norm->weight)
                                : build_filled(cursor_at(root, root->loc), norm->x->type.dtype, 1,
                                               1, (const Dim *const[]){width_dim(norm->x)});
    Node *x = behind_transpose(norm->x),
         *in[] = {x, weight, norm->bias ? as_vector(root, norm->bias) : NULL};
    Op op = norm->layer ? OP_layer_normalization : OP_rms_normalization;
    Node *n = node_make(root->graph, op, root->loc, norm->bias ? 3 : 2, in, root);
    attr_set_float(n, "epsilon", match_shortest(norm->epsilon) + FAULT_NORM_EPSILON);
    inferred(n);
    int count;
    return x == norm->x ? n : build_transpose(cursor(root), n, attr_ints(norm->x, "perm", &count));
}

static bool finish_norm(Node *root, Norm *norm, Attempt *a) {
    int64_t width = width_of(norm);
    if (!type_equal(&root->type, &norm->x->type))
        return attempt_broke(a, root, "has another type than the value normalised");
    if (norm->x->type.dtype != DT_f32)
        return attempt_broke(a, norm->x, "is not f32, which the norm kernels read");
    if (!width)
        return attempt_broke(a, norm->x, "has no constant number of elements in its last axis");
    if (!norm->weight) norm->weight = absorb_vector(&root, OP_mul, width);
    if (norm->layer) norm->bias = absorb_vector(&root, OP_add, width);
    a->pattern = norm->layer ? "layer_normalization" : "rms_normalization";
    a->root = root;
    a->by = emit_norm(root, norm);
    a->broke = NULL;
    return true;
}

// Two norms of one value share its normalization (parallel branches): each takes its own weight
// into a norm of its own.
static Node *weighted_norm(Node *product, int side) {
    Node *n = before_rounding(product->in[side]), *weight = product->in[!side];
    int64_t width;
    bool is_norm = n->op == OP_rms_normalization || n->op == OP_layer_normalization;
    if (!is_norm || n->n_in != 2 || !match_is(n->in[1], 1) || !type_equal(&n->type, &product->type))
        return NULL;
    if (!dim_is_const(width_dim(n), &width) || !match_is_vector(weight, width)) return NULL;
    Norm norm = {.x = n->in[0],
                 .weight = weight,
                 .epsilon = attr_float(n, "epsilon", 0),
                 .layer = n->op == OP_layer_normalization};
    Node *root = product;
    if (norm.layer) norm.bias = absorb_vector(&root, OP_add, width);
    Node *by = emit_norm(root, &norm);
    node_become(root, by);
    return by;
}

bool weigh_shared_norms(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) {
        if (n->op == OP_mul && node_uses(n) && (weighted_norm(n, 0) || weighted_norm(n, 1)))
            changed = true;
    }
    return changed;
}

// Returns true if a mean, or a divided sum, is under this root, a few nodes down. (A plain sum of
// squares is a length; a mean over a run-time number of values, pixels or samples, is no norm of a
// row.)
static bool has_mean(const Node *n, int depth) {
    if (is_implied(n)) n = n->in[0];
    if (n->op == OP_reduce_mean) return dim_is_const(width_dim(n->in[0]), NULL);
    if (!depth || !op_is_elementwise(n->op)) return false;
    for (int i = 0; i < n->n_in; i++) {
        bool scaled_sum =
            (n->op == OP_mul || n->op == OP_div) && before_rounding(n->in[i])->op == OP_reduce_sum;
        if (scaled_sum || has_mean(n->in[i], depth - 1)) return true;
    }
    return false;
}

static bool is_root(const Node *n) {
    double e;
    if (n->op == OP_sqrt) return true;
    return n->op == OP_pow && match_scalar(n->in[1], &e) && (e == 0.5 || e == -0.5);
}

bool recognise_norm(Node *anchor, Attempt *a) {
    Norm norm = {0};
    Sum under;
    a->pattern = "norm";
    if (!is_root(anchor) || !has_mean(anchor->in[0], 3)) return false;
    Node *user = node_only_user(behind_rounding(anchor)), *last = anchor;
    if (user && user->op == OP_add && match_sum(user, &under) && under.n == 1)
        return attempt_broke(a, user, "adds epsilon outside of the root");
    if (!match_variance(anchor->in[0], &norm))
        return attempt_broke(a, anchor->in[0],
                             "is not epsilon plus a mean of squares over the last axis");
    for (Node *root = anchor; root; root = climb_product(root)) {
        last = root;
        if (match_normalised(root, &norm, a)) return finish_norm(root, &norm, a);
    }
    return a->broke ? true : attempt_broke(a, last, "is not x / sqrt(mean(x^2) + epsilon)");
}
