// What the files of incremental share.
#ifndef BURIN_PASSES_INCREMENTAL_H
#define BURIN_PASSES_INCREMENTAL_H
#include "passes/recognise.h"

// Where rows are in each value, after trace_rows: node->mark is 1 + the axis of the rows, 0 without rows.
typedef struct RowTrace {
    const Dim *rows;    // the symbol T
    const Node *broke;  // the first node that mixes rows, and why; NULL when every node acts row by row
    const char *why;
} RowTrace;

bool trace_rows(Graph *, RowTrace *);  // incremental_rows.c
static inline int row_axis(const Node *n) { return n->mark - 1; }
static inline bool has_rows(const Node *n) { return n->mark > 0; }

typedef struct RowInputs {
    Node *token, *slot, *position, *wanted;
    const Dim *rows;   // the symbol R
    const Dim *slots;  // the symbol S
    int64_t context;
} RowInputs;

bool fold_position_tables(Graph *, const RowTrace *, RowInputs *);            // incremental_tables.c
void bias_over_keys(Node *attention, const Dim *positions, int64_t context);  // incremental_bias.c; where it has such a form
void select_wanted_rows(Graph *, RowInputs *);                                // incremental_select.c
#endif
