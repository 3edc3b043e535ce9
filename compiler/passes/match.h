// A small language for recognising formulas however they are spelled.
//
// A formula is not matched node by node. A value is first brought into a normal form, and the
// formula is read off it:
//
//   product     scale * a^p * b^q ...      mul, div, reciprocal, sqrt, neg and pow by a constant all become factors with powers
//   sum         constant + c * a + d * b   add, sub, neg and scaling all become terms
//   polynomial  in one unknown             c0 + c1 x + c2 x^2 + c3 x^3
//
// so that x * (1 / sqrt(v)), x / sqrt(v), w * (x * v^-0.5) are one and the same to a recogniser.
#ifndef BURIN_PASSES_MATCH_H
#define BURIN_PASSES_MATCH_H
#include "ir/builder.h"

enum { MATCH_MAX = 8 };

typedef struct Factor {
    Node *node;
    int halves;  // the power, in halves: -1 is 1 / sqrt(node)
} Factor;

typedef struct Product {
    double scale;
    int n;
    Factor factor[MATCH_MAX];
} Product;

typedef struct Sum {
    double constant;
    int n;
    struct {
        Node *node;
        double coefficient;
    } term[MATCH_MAX];
} Sum;

typedef struct Polynomial {
    double c[4];
} Polynomial;

bool match_scalar(const Node *, double *value);  // a constant whose elements are all one number
bool match_is(const Node *, double value);       // such a constant, near `value`
double match_shortest(
    double);  // the shortest decimal with the same f32: for attributes read off f32 constants
bool match_near(double a, double b);  // within what f16 constants lose, or as bf16 has it

// The end of a 16-bit op (pass widen): a recognised formula is one op, which rounds once, so
// formulas are read through it.
bool is_rounding(const Node *);  // that, or a cast, which nothing looks through
bool is_implied(const Node *);
Node *before_rounding(Node *);  // the rounded value
Node *behind_rounding(Node *);  // the rounding that is the only user, or the node itself
Node *rounded_before(Node *before, Node *x, const Node *like);

// Values that others use too are taken apart as well, except the factors themselves: only `root`
// and single-use values are.
bool match_product(Node *root, Product *);
bool match_sum(Node *root, Sum *);
bool match_polynomial(const Node *root, const Node *x,
                      Polynomial *);  // root as a polynomial in x alone, of degree 3 at most

Factor *product_find(Product *, const Node *, int halves);  // NULL when absent
Factor *product_find_power(Product *, int halves);          // the first with this power
void product_drop(Product *, Factor *);

bool match_last_mean(Node *, double coefficient,
                     Node **of);  // coefficient * node is the mean over the last axis, kept as 1
bool match_square(Node *, Node **of);  // x^2 in any spelling
// the value before rounding to integers of one scale, and back; or NULL
Node *match_quantized(Node *);
bool match_same(const Node *,
                const Node *);  // the same value: one node, or equal formulas over the same nodes
bool same_attrs(const Node *, const Node *);
bool match_is_vector(const Node *, int64_t n);  // [n] or [1, ..., n]: the same for every row

// Shapes.
const Dim *width_dim(const Node *);
bool reduces_last_axis_only(const Node *);
bool is_view(Op);              // reshape, transpose, slice, expand
bool is_weight(const Node *);  // a constant, possibly cast or seen through views
void node_become(
    Node *old,
    Node *by);  // every use of `old` names `by`, which takes its name when it has none of its own
#endif
