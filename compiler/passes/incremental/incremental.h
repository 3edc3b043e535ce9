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
    Node *token, *slot, *position, *logit_rows;
    const Dim *rows;  // the symbol R
    int64_t context;
} RowInputs;

// views.c
typedef struct Along {
    int axis;
    const Dim *extent;
} Along;
int same_axis(Graph *, const Type *from, int axis, const Type *to);   // with as many elements before it; -1: none
Node *with_extent(Node *, Node *const *in, const char *attr, Along);  // again, and so many in its attribute of dimensions
bool varies_along(const Node *, int axis);                            // it has that axis, and of more than one element

// Each says whether it changed anything.
bool find_shift_rows(Graph *, const Dim *rows);  // shifted_rows.c
bool keep_shift_rows(Graph *, const RowInputs *);
Node *new_row_state(const RowInputs *, const Dim *width, Node *before);
Node *new_last_state(const RowInputs *, const Dim *width, Node *before);  // of which a program keeps the last row
void keep_window(Node *state, int64_t window, const RowInputs *);         // so many rows, the own included, and some more

bool turn_sums_into_loops(Graph *, const Dim *rows);  // prefix_sums.c

bool has_loop_over(const Graph *, const Dim *rows);              // loop.c
const char *steps_over_rows(const Node *loop, const Dim *rows);  // NULL: a step needs its row and the states; or why not
void rename_rows_in_body(Node *loop, const Dim *from, const Dim *to);
bool carry_states(Graph *, const RowInputs *);

bool fold_position_tables(Graph *, const Dim *rows, int64_t context);         // tables.c; after trace_rows
bool bias_over_keys(Node *attention, const Dim *positions, int64_t context);  // bias.c; where it has such a form
bool gather_logit_rows(Graph *, const RowInputs *);                           // logit_rows.c
#endif
