// What the files of incremental share.
#ifndef BURIN_PASSES_INCREMENTAL_H
#define BURIN_PASSES_INCREMENTAL_H
#include "passes/recognise/recognise.h"

// Where rows are in each value, after trace_rows: node->mark is 1 + the axis of the rows, 0 without rows.
typedef struct RowTrace {
    const Dim *rows;    // the symbol T
    const Node *broke;  // the first node that mixes rows, and why; NULL when every node acts row by row
    const char *why;
} RowTrace;

bool trace_rows(Graph *, RowTrace *);      // rows.c
int trace_node(const Node *, RowTrace *);  // its mark, from those of its operands; `why` when it mixes rows
static inline int row_axis(const Node *n) { return n->mark - 1; }
static inline bool has_rows(const Node *n) { return n->mark > 0; }

typedef struct RowInputs {
    Node *token, *slot, *position, *wanted;
    const Dim *rows;   // the symbol R
    const Dim *slots;  // the symbol S
    int64_t context;
    int64_t n_row_states;  // given so far
} RowInputs;

// views.c
typedef struct Along {
    int axis;
    const Dim *extent;
} Along;
int same_axis(Graph *, const Type *from, int axis, const Type *to);   // with as many elements before it; -1: none
Node *with_extent(Node *, Node *const *in, const char *attr, Along);  // again, and so many in its attribute of dimensions
bool varies_along(const Node *, int axis);                            // it has that axis, and of more than one element

bool find_earlier_rows(Graph *, const Dim *rows);  // earlier.c: is anything a fixed number of rows back?
void keep_earlier_rows(Graph *, RowInputs *);
Node *new_row_state(RowInputs *, const Dim *width, Node *before);

void turn_sums_into_loops(Graph *, const Dim *rows);  // sum.c

bool has_loop_over(const Graph *, const Dim *rows);              // loop.c
const char *steps_over_rows(const Node *loop, const Dim *rows);  // NULL: a step needs its row and the states; or why not
void rename_rows_in_body(Node *loop, const Dim *from, const Dim *to);
void carry_states(Graph *, RowInputs *);

bool fold_position_tables(Graph *, const RowTrace *, RowInputs *);            // tables.c
void bias_over_keys(Node *attention, const Dim *positions, int64_t context);  // bias.c; where it has such a form
void select_wanted_rows(Graph *, RowInputs *);                                // select.c
#endif
