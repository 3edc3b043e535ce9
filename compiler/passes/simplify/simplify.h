// Common declarations of simplify/. A rule returns the value that replaces the node, or NULL if it
// does not apply.
#ifndef BURIN_PASSES_SIMPLIFY_H
#define BURIN_PASSES_SIMPLIFY_H
#include "passes/match.h"

Node *simplify_algebra(Node *);   // algebra.c
Node *simplify_view(Node *);      // views.c
Node *simplify_index(Node *);     // index.c
Node *simplify_empty(Node *);     // empty.c: values of no elements
Node *narrow_integers(Node *);    // int64_to_int32.c
Node *tabulate_index(Node *);     // table.c
Node *simplify_lookup(Node *);    // lookup.c
Node *drop_unit_axis(Node *);     // leading_ones.c
Node *merge_row_axes(Node *);     // rows.c
Node *fold_node(Node *);          // fold.c: the constant that the node always is
bool merge_equal_nodes(Graph *);  // equal.c
bool simplify_control(Graph *);   // control.c: loops and branches

bool simplify_graph(Graph *);  // all of the above until nothing changes: what later passes end with
#endif
