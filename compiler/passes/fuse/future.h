// The number that a value over queries and keys has at all keys after the query, if it is one.
//
//   where(less_or_equal(k, q), s, -inf)   ->   -inf        softmax of that, over keys   ->   0
//
// So weights that an unknown formula computes are proved to be causal: they are 0 after the query.
#ifndef BURIN_PASSES_FUSE_FUTURE_H
#define BURIN_PASSES_FUSE_FUTURE_H
#include "passes/distance.h"

// Axes of a value; of an operand that broadcasts, `query` may be negative or an axis of one
// element. key < 0: it does not vary along keys.
typedef struct KeyAxes {
    int query, key;
} KeyAxes;

KeyAxes axes_of_operand(const Node *n, int operand, KeyAxes);  // that broadcasts to n
bool axes_before_view(const Node *view, KeyAxes *);            // of its operand; false: unknown

// Very negative numbers are minus infinity, where every query sees its own key.
bool future_value(const Node *, KeyAxes, double *value);
#endif
