// Integer tensors as expressions of their index.
//
// The value of an integer (or truth) tensor at (i, j, ...) is often an expression of i, j and the
// graph's dimensions alone, whatever nodes compute it: Concat(r - 1, r) sliced, subtracted,
// compared and summed up is 0 everywhere. Such a value is written as a dimension (dim.c keeps it
// canonical) over the graph's symbols and one symbol for each axis:
//
//   %a = iota {dims=[T], axis=0}                          i0
//   %b = slice(concat(sub(0, 1), %a)) {start=1}           i0            (the part before 1 is never read)
//   %c = equal(sub(%b, slice(concat(-1, %a))), 1)         1
#ifndef BURIN_IR_INDEX_H
#define BURIN_IR_INDEX_H
#include "ir/builder.h"

// The symbol of an axis: from 0 to extent - 1; 0 itself for an extent of 1.
const Dim *index_symbol(Graph *, int axis, const Dim *extent);

// The element of `n` at `at` (one dimension an axis), or NULL when it is no such expression. Truths
// are 0 and 1.
const Dim *index_value(Node *n, const Dim *const *at);

// The same at the symbols of n's axes, which are stored in `symbols`.
const Dim *index_expression(Node *n, const Dim **symbols);

// Whether a scatter_nd replaces every element: its indices count through the whole of the axes that
// they index.
bool index_covers(Node *scatter);

// Nodes that compute `value` (over `symbols`) in the given type; NULL when it has no such nodes
// (truths that vary).
typedef struct IndexTarget {
    Type type;
    const Dim *const *symbols;
    Builder at;
} IndexTarget;
Node *index_emit(const Dim *value, const IndexTarget *);
int index_cost(const Dim *value);  // how many nodes that would be
#endif
