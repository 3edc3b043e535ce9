// Normal forms of formulas: products, sums and polynomials, and small edits. See match.h.
#include "passes/match.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/convert.h"
#include "kernels/plain.h"

// --------------------------------------------------------------------------------------- constants
bool match_scalar(const Node *n, double *value) {
    enum { LARGEST = 1 << 20 };
    while (n->op == OP_cast || n->op == OP_reshape || n->op == OP_expand) n = n->in[0];
    if (n->op != OP_constant || !n->value || !n->value->data || !dtype_bits(n->type.dtype))
        return false;
    const Tensor *t = n->value;
    int64_t count = tensor_count(t);
    if (count < 1 || count > LARGEST) return false;
    *value = dtype_load(t->dtype, t->data, 0);
    for (int64_t i = 1; i < count; i++) {
        if (dtype_load(t->dtype, t->data, i) != *value) return false;
    }
    return true;
}

double match_shortest(double v) {
    char text[32];
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if ((float)strtod(text, NULL) == (float)v) return strtod(text, NULL);
    }
    return v;
}

bool match_near(double a, double b) {
    bool of_f16 = a == b || fabs(a - b) <= 6e-4 * fabs(b);
    return of_f16 || fabs(a - sf_from_bf16(bf16_from_real(b))) <= 1e-6 * fabs(b);
}

bool match_is(const Node *n, double value) {
    double v;
    return match_scalar(n, &v) && match_near(v, value);
}

bool is_rounding(const Node *n) { return n->op == OP_round_f16 || n->op == OP_round_bf16; }

bool is_implied(const Node *n) { return is_rounding(n) && attr_int(n, "implied", 0); }

Node *before_rounding(Node *n) {
    while (is_implied(n)) n = n->in[0];
    return n;
}

Node *behind_rounding(Node *n) {
    Node *user = node_only_user(n);
    return user && is_implied(user) ? user : n;
}

Node *rounded_before(Node *before, Node *x, const Node *like) {
    Node *n = build_unary(cursor(before), like->op, x);
    attr_copy(n, like);
    return n;
}

// ---------------------------------------------------------------------------------------- products
static bool add_factor(Product *p, Node *n, int halves) {
    double v;
    if (halves % 2 == 0 && match_scalar(n, &v)) {
        p->scale *= pow(v, halves / 2);
        return true;
    }
    for (int i = 0; i < p->n; i++) {
        if (p->factor[i].node == n && p->factor[i].halves % 2 == 0 && halves % 2 == 0) {
            p->factor[i].halves += halves;
            return true;
        }
    }
    if (p->n == MATCH_MAX) return false;
    p->factor[p->n++] = (Factor){n, halves};
    return true;
}

static bool add_product(Product *p, Node *n, int halves, bool root);

// A power by a constant: a whole power of a product is a product; a half power is of one factor.
static bool add_power(Product *p, Node *n, int halves) {
    double e;
    if (!match_scalar(n->in[1], &e) || e * 2 != floor(e * 2) || fabs(e) > 8)
        return add_factor(p, n, halves);
    int twice = (int)(e * 2);
    if (twice % 2 == 0) return add_product(p, n->in[0], halves * (twice / 2), false);
    return halves % 2 ? add_factor(p, n, halves) : add_factor(p, n->in[0], halves / 2 * twice);
}

static bool add_product(Product *p, Node *n, int halves, bool root) {
    if (!root && node_uses(n) > 1 && n->op != OP_sqrt) return add_factor(p, n, halves);
    if (is_implied(n)) return add_product(p, n->in[0], halves, false);
    switch (n->op) {
        case OP_mul:
            return add_product(p, n->in[0], halves, false) &&
                   add_product(p, n->in[1], halves, false);
        case OP_div:
            return add_product(p, n->in[0], halves, false) &&
                   add_product(p, n->in[1], -halves, false);
        case OP_reciprocal:
            return add_product(p, n->in[0], -halves, false);
        case OP_neg:
            p->scale = halves / 2 % 2 ? -p->scale : p->scale;
            return add_product(p, n->in[0], halves, false);
        case OP_sqrt:
            return halves % 2 ? add_factor(p, n, halves) : add_factor(p, n->in[0], halves / 2);
        case OP_pow:
            return add_power(p, n, halves);
        default:
            return add_factor(p, n, halves);
    }
}

bool match_product(Node *root, Product *p) {
    *p = (Product){.scale = 1};
    return add_product(p, root, 2, true);
}

Factor *product_find(Product *p, const Node *n, int halves) {
    for (int i = 0; i < p->n; i++) {
        if (p->factor[i].halves == halves && match_same(p->factor[i].node, n)) return &p->factor[i];
    }
    return NULL;
}

Factor *product_find_power(Product *p, int halves) {
    for (int i = 0; i < p->n; i++) {
        if (p->factor[i].halves == halves) return &p->factor[i];
    }
    return NULL;
}

void product_drop(Product *p, Factor *f) { *f = p->factor[--p->n]; }

// -------------------------------------------------------------------------------------------- sums
static bool add_term(Sum *s, Node *n, double coefficient) {
    double v;
    if (match_scalar(n, &v)) {
        s->constant += coefficient * v;
        return true;
    }
    for (int i = 0; i < s->n; i++) {
        if (s->term[i].node == n) {
            s->term[i].coefficient += coefficient;
            return true;
        }
    }
    if (s->n == MATCH_MAX) return false;
    s->term[s->n].node = n;
    s->term[s->n++].coefficient = coefficient;
    return true;
}

static bool add_sum(Sum *s, Node *n, double k, bool root) {
    double v;
    if (!root && node_uses(n) > 1) return add_term(s, n, k);
    if (is_implied(n)) return add_sum(s, n->in[0], k, false);
    switch (n->op) {
        case OP_add:
            return add_sum(s, n->in[0], k, false) && add_sum(s, n->in[1], k, false);
        case OP_sub:
            return add_sum(s, n->in[0], k, false) && add_sum(s, n->in[1], -k, false);
        case OP_neg:
            return add_sum(s, n->in[0], -k, false);
        case OP_mul:
            if (match_scalar(n->in[1], &v)) return add_sum(s, n->in[0], k * v, false);
            if (match_scalar(n->in[0], &v)) return add_sum(s, n->in[1], k * v, false);
            return add_term(s, n, k);
        case OP_div:
            return match_scalar(n->in[1], &v) && v != 0 ? add_sum(s, n->in[0], k / v, false)
                                                        : add_term(s, n, k);
        default:
            return add_term(s, n, k);
    }
}

bool match_sum(Node *root, Sum *s) {
    *s = (Sum){0};
    return add_sum(s, root, 1, true);
}

// ------------------------------------------------------------------------------------- polynomials
static Polynomial polynomial_scaled(Polynomial p, double by) {
    for (int i = 0; i < 4; i++) p.c[i] *= by;
    return p;
}

static Polynomial polynomial_plus(Polynomial p, Polynomial q, double sign) {
    for (int i = 0; i < 4; i++) p.c[i] += sign * q.c[i];
    return p;
}

static bool polynomial_times(Polynomial p, Polynomial q, Polynomial *r) {
    *r = (Polynomial){0};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            double v = p.c[i] * q.c[j];
            if (v != 0 && i + j > 3) return false;
            if (v != 0) r->c[i + j] += v;
        }
    }
    return true;
}

static bool polynomial_power(Polynomial base, double e, Polynomial *r) {
    if (e != 1 && e != 2 && e != 3) return false;
    *r = base;
    for (int i = 1; i < (int)e; i++) {
        Polynomial so_far = *r;
        if (!polynomial_times(so_far, base, r)) return false;
    }
    return true;
}

static bool polynomial_at(const Node *n, const Node *x, Polynomial *r, int depth) {
    Polynomial a, b;
    double v;
    if (n == x || (depth < 3 && match_same(n, x))) return *r = (Polynomial){{0, 1}}, true;
    if (match_scalar(n, &v)) return *r = (Polynomial){{v}}, true;
    if (depth > 12 || n->n_in < 1 || !op_is_elementwise(n->op) ||
        !polynomial_at(n->in[0], x, &a, depth + 1))
        return false;
    if (n->op == OP_neg) return *r = polynomial_scaled(a, -1), true;
    if (is_implied(n)) return *r = a, true;
    if (n->n_in < 2) return false;
    if (n->op == OP_pow) return match_scalar(n->in[1], &v) && polynomial_power(a, v, r);
    if (n->op == OP_div)
        return match_scalar(n->in[1], &v) && v != 0 && (*r = polynomial_scaled(a, 1 / v), true);
    if (!polynomial_at(n->in[1], x, &b, depth + 1)) return false;
    if (n->op == OP_mul) return polynomial_times(a, b, r);
    if (n->op == OP_add || n->op == OP_sub)
        return *r = polynomial_plus(a, b, n->op == OP_add ? 1 : -1), true;
    return false;
}

bool match_polynomial(const Node *root, const Node *x, Polynomial *p) {
    return polynomial_at(root, x, p, 0);
}

// ---------------------------------------------------------------------------------- small patterns
bool match_last_mean(Node *n, double coefficient, Node **of) {
    Product p;
    int64_t count;
    if (!match_product(n, &p) || p.n != 1 || p.factor[0].halves != 2) return false;
    Node *reduce = p.factor[0].node;
    if ((reduce->op != OP_reduce_mean && reduce->op != OP_reduce_sum) ||
        !reduces_last_axis_only(reduce))
        return false;
    if (!attr_int(reduce, "keepdims", 1) || !dim_is_const(width_dim(reduce->in[0]), &count))
        return false;
    *of = reduce->in[0];
    return match_near(coefficient * p.scale * (reduce->op == OP_reduce_sum ? (double)count : 1), 1);
}

static Node *behind_scalar(Node *n, Op op) {
    double v;
    if (n->op != op) return NULL;
    return match_scalar(n->in[1], &v)                                   ? n->in[0]
           : match_scalar(n->in[0], &v) && op != OP_div && op != OP_sub ? n->in[1]
                                                                        : NULL;
}

static Node *behind_scalar_if(Node *n, Op op) {
    Node *x = behind_scalar(n, op);
    return x ? x : n;
}

// (clamp(round(x / s) + z) - z) s
Node *match_quantized(Node *n) {
    Node *x = behind_scalar(n, OP_mul);
    if (x) x = behind_scalar_if(behind_scalar_if(x, OP_sub), OP_add);
    if (!x || x->op != OP_cast || x->in[0]->op != OP_cast || dtype_is_float(x->in[0]->type.dtype))
        return NULL;
    x = x->in[0]->in[0];
    x = behind_scalar(x, OP_min) ? behind_scalar(x, OP_min) : x;
    x = behind_scalar_if(behind_scalar_if(x, OP_max), OP_add);
    x = behind_scalar_if(x, OP_sub);
    if (x->op != OP_round) return NULL;
    return behind_scalar(x->in[0], behind_scalar(x->in[0], OP_div) ? OP_div : OP_mul);
}

bool match_square(Node *n, Node **of) {
    Product p;
    if (!match_product(n, &p) || p.scale != 1 || p.n != 1 || p.factor[0].halves != 4) return false;
    *of = p.factor[0].node;
    return true;
}

static bool same_attr(const Attr *a, const Attr *b) {
    static const size_t size[] = {
        [ATTR_INTS] = sizeof(int64_t), [ATTR_FLOATS] = sizeof(double), [ATTR_DIMS] = sizeof(Dim *)};
    if (strcmp(a->name, b->name) || a->kind != b->kind || a->n != b->n) return false;
    switch (a->kind) {
        case ATTR_INTS:
        case ATTR_FLOATS:
        case ATTR_DIMS:
            return !a->n || !memcmp(a->ints, b->ints, size[a->kind] * (size_t)a->n);
        case ATTR_STRING:
            return !strcmp(a->s, b->s);
        case ATTR_EXPR:
            return expr_equal(a->expr, b->expr);
        case ATTR_FLOAT:
            return !memcmp(&a->f, &b->f, sizeof a->f);
        case ATTR_DTYPE:
            return a->dtype == b->dtype;
        case ATTR_STRINGS:
            return a->strings == b->strings;
        default:
            return a->i == b->i;
    }
}

bool same_attrs(const Node *n, const Node *m) {
    const Attr *a = n->attrs, *b = m->attrs;
    while (a && b && same_attr(a, b)) {
        a = a->next;
        b = b->next;
    }
    return !a && !b;
}

static bool same_at(const Node *a, const Node *b, int depth) {
    if (a == b) return true;
    if (depth > 8 || !a || !b || a->op != b->op || a->n_in != b->n_in ||
        !type_equal(&a->type, &b->type) || !a->n_in)
        return false;
    if (op_info[a->op].rows == ROWS_STATE || !same_attrs(a, b)) return false;
    bool swapped = (a->op == OP_mul || a->op == OP_add) && same_at(a->in[0], b->in[1], depth + 1) &&
                   same_at(a->in[1], b->in[0], depth + 1);
    for (int i = 0; !swapped && i < a->n_in; i++) {
        if (!same_at(a->in[i], b->in[i], depth + 1)) return false;
    }
    return true;
}

bool match_same(const Node *a, const Node *b) { return same_at(a, b, 0); }

bool match_is_vector(const Node *n, int64_t count) {
    for (int i = 0; i + 1 < n->type.rank; i++) {
        if (!dim_is(n->type.dim[i], 1)) return false;
    }
    return n->type.rank >= 1 && dim_is(width_dim(n), count);
}

// ------------------------------------------------------------------------------------------ shapes
const Dim *width_dim(const Node *n) { return n->type.dim[n->type.rank - 1]; }

bool reduces_last_axis_only(const Node *n) {
    const Attr *a = attr_find(n, "axes");
    return n->in[0]->type.rank > 0 && a && a->kind == ATTR_INTS && a->n == 1 &&
           a->ints[0] == n->in[0]->type.rank - 1;
}

bool is_view(Op op) {
    return op == OP_reshape || op == OP_transpose || op == OP_slice || op == OP_expand;
}

bool is_weight(const Node *n) {
    while (n->op == OP_cast || is_view(n->op)) n = n->in[0];
    return n->op == OP_constant;
}

// A name such as "add.12" says nothing: the value takes the better one of the node it replaces.
static bool has_own_name(const Node *n) {
    size_t length = strlen(op_info[n->op].name);
    return strncmp(n->name, op_info[n->op].name, length) ||
           (n->name[length] && n->name[length] != '.');
}

void node_become(Node *old, Node *by) {
    node_replace(old, by);
    if (has_own_name(by) || (!has_own_name(old) && old->op != by->op) || old->op == OP_constant ||
        old->op == OP_input)
        return;
    char *name = arena_strdup(old->graph->arena, old->name);
    node_set_name(old, "dead");
    node_set_name(by, name);
}
