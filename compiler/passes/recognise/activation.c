// Activations:
//
//   silu(x)       x * sigmoid(x), x / (1 + exp(-x))            anchors: sigmoid, exp
//   gelu(x)       x * (1 + erf(x / sqrt 2)) / 2                anchor: erf
//   gelu_tanh(x)  x * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2    anchor: tanh
//
//   before   %e = exp(neg(%x))                                   after   %y = silu(%x)
//            %y = div(%x, add(1, %e))
//
// Further factors of the product (the up projection of a gated unit) are multiplied afterwards.
#include <math.h>

#include "passes/recognise/recognise.h"

// The product form of a recognised activation: x * (gate)^power * scale.
typedef struct Shape {
    Op op;
    Node *x;
    const Node *gate;  // the transcendental node
    double constant;   // the factor is constant + gate; NAN: the gate itself is the factor
    int halves;        // the power of that factor
    double scale;
} Shape;

// The factor that holds the gate; *scale is what its normal form, constant + gate, was multiplied
// by.
static Factor *find_gate(Product *p, const Shape *s, double *scale) {
    *scale = 1;
    if (isnan(s->constant)) return product_find(p, s->gate, s->halves);
    for (int i = 0; i < p->n; i++) {
        Sum sum;
        if (p->factor[i].halves != s->halves || !match_sum(p->factor[i].node, &sum) || sum.n != 1)
            continue;
        if (sum.term[0].node != s->gate ||
            !match_near(sum.constant, s->constant * sum.term[0].coefficient))
            continue;
        *scale = s->halves > 0 ? sum.term[0].coefficient : 1 / sum.term[0].coefficient;
        return &p->factor[i];
    }
    return NULL;
}

// Multiplies the factors that are left to the activation.
static Node *emit_activation(Node *root, const Shape *s, const Product *rest) {
    Node *by = build_unary(cursor(root), s->op, s->x);
    for (int i = 0; i < rest->n; i++)
        by = build_binary(cursor(root), OP_mul, by, rest->factor[i].node);
    if (type_equal(&by->type, &root->type)) return by;
    return NULL;
}

static bool match_at(Node *root, const Shape *s, Attempt *a) {
    Product p;
    double scale;
    if (!match_product(root, &p)) return false;
    Factor *gate = find_gate(&p, s, &scale);
    if (!gate) return false;
    product_drop(&p, gate);
    Factor *x = product_find(&p, s->x, 2);
    if (!x)
        return attempt_fails(a, root,
                             "does not multiply the value that the activation is taken of");
    product_drop(&p, x);
    if (!match_near(p.scale * scale, s->scale))
        return attempt_fails(a, root, "has another constant factor");
    for (int i = 0; i < p.n; i++) {
        if (p.factor[i].halves != 2)
            return attempt_fails(a, p.factor[i].node, "is a further factor with a power");
    }
    a->by = emit_activation(root, s, &p);
    a->root = root;
    return a->by != NULL;
}

// The only user, when a constant is added or it belongs to a product.
static Node *climb(const Node *n) {
    double v;
    Node *user = node_only_user(n);
    bool adds = user && (user->op == OP_add || user->op == OP_sub) &&
                match_scalar(user->in[user->in[0] == n], &v);
    return adds ? user : climb_product(n);
}

static bool match_shape(Node *anchor, const Shape *s, Attempt *a) {
    Node *last = anchor;
    a->pattern = op_info[s->op].name;
    for (Node *root = anchor; root; root = climb(root)) {
        last = root;
        if (!match_at(root, s, a)) continue;
        a->broke = NULL;
        return true;
    }
    return a->broke ? true : attempt_broke(a, last, "is not the product of the value and its gate");
}

static bool recognise_gelu(Node *erf, Attempt *a) {
    Product p;
    a->pattern = "gelu";
    if (!match_product(erf->in[0], &p) || p.n != 1 || p.factor[0].halves != 2 ||
        !match_near(p.scale, sqrt(0.5)))
        return attempt_broke(a, erf->in[0], "is not x / sqrt(2)");
    Shape s = {OP_gelu, p.factor[0].node, erf, 1, 2, 0.5};
    return match_shape(erf, &s, a);
}

// The unknown of a polynomial a c1 x + c3 x^3 under the tanh: some node below it.
static Node *find_unknown(Node *root, Node *n, int depth, Polynomial *p) {
    if (n != root && match_polynomial(root, n, p) && p->c[0] == 0 && p->c[2] == 0 && p->c[1] != 0 &&
        p->c[3] != 0)
        return n;
    for (int i = 0; depth && op_is_elementwise(n->op) && i < n->n_in; i++) {
        Node *x = find_unknown(root, n->in[i], depth - 1, p);
        if (x) return x;
    }
    return NULL;
}

static bool recognise_gelu_tanh(Node *tanh_node, Attempt *a) {
    Polynomial p;
    Node *x = find_unknown(tanh_node->in[0], tanh_node->in[0], 6, &p);
    if (!x) return false;
    a->pattern = "gelu_tanh";
    double k = sqrt(2 / M_PI);
    if (!match_near(p.c[1], k) || !match_near(p.c[3] / p.c[1], 0.044715))
        return attempt_broke(a, tanh_node->in[0], "is not sqrt(2 / pi) (x + 0.044715 x^3)");
    Shape s = {OP_gelu_tanh, x, tanh_node, 1, 2, 0.5};
    return match_shape(tanh_node, &s, a);
}

// A sigmoid that does not multiply its own operand is a gate of its own: no site.
static bool recognise_silu(Node *sigmoid, Attempt *a) {
    Shape s = {OP_silu, sigmoid->in[0], sigmoid, NAN, 2, 1};
    return match_shape(sigmoid, &s, a) && !a->broke;
}

// 1 / (1 + exp(-x)): with x as a factor SiLU, else a sigmoid.
static bool recognise_logistic(Node *e, Attempt *a) {
    Sum s;
    if (!match_sum(e->in[0], &s) || s.n != 1 || s.constant != 0 || s.term[0].coefficient != -1)
        return false;
    Shape shape = {OP_silu, s.term[0].node, e, 1, -2, 1};
    return match_shape(e, &shape, a) && !a->broke;
}

bool recognise_activation(Node *n, Attempt *a) {
    switch (n->op) {
        case OP_erf:
            return recognise_gelu(n, a);
        case OP_tanh:
            return recognise_gelu_tanh(n, a);
        case OP_sigmoid:
            return recognise_silu(n, a);
        case OP_exp:
            return recognise_logistic(n, a);
        default:
            return false;
    }
}
