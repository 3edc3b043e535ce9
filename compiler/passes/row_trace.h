// Which axis of each value has the rows of a graph.
#ifndef BURIN_PASSES_ROW_TRACE_H
#define BURIN_PASSES_ROW_TRACE_H
#include "passes/match.h"

// Where rows are in each value, after trace_rows: node->mark is 1 + the axis of the rows, 0 without
// rows.
typedef struct RowTrace {
    const Dim *rows;  // the symbol T
    const Node
        *broke;  // the first node that mixes rows, and why; NULL when every node acts row by row
    const char *why;
} RowTrace;

bool trace_rows(Graph *, RowTrace *);
int trace_node(const Node *,
               RowTrace *);  // its mark, from those of its operands; `why` when it mixes rows
static inline int row_axis(const Node *n) { return n->mark - 1; }
static inline bool has_rows(const Node *n) { return n->mark > 0; }
#endif
