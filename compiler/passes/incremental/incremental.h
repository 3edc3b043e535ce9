// Common declarations of incremental/.
#ifndef BURIN_PASSES_INCREMENTAL_H
#define BURIN_PASSES_INCREMENTAL_H
#include "passes/axes.h"
#include "passes/pass.h"
#include "passes/row_trace.h"
#include "passes/simplify/simplify.h"

typedef struct RowInputs {
    Node *token, *slot, *position, *logit_rows;
    const Dim *rows;  // the symbol R
    int64_t context;
} RowInputs;

// Each says whether it changed anything.
bool find_shift_rows(Graph *, const Dim *rows);  // shifted_rows.c
bool keep_shift_rows(Graph *, const RowInputs *);
Node *new_row_state(const RowInputs *, const Dim *width, Node *before);
Node *new_last_state(const RowInputs *, const Dim *width,
                     Node *before);  // of which a program keeps the last row
// rows to keep, the current row included, plus a margin
void keep_window(Node *state, int64_t window, const RowInputs *);

bool turn_sums_into_loops(Graph *, const Dim *rows);  // prefix_sums.c

bool has_loop_over(const Graph *, const Dim *rows);  // loop.c
void rename_rows_in_body(Node *loop, const Dim *from, const Dim *to);
bool carry_states(Graph *, const RowInputs *);

bool fold_position_tables(Graph *, const Dim *rows, int64_t context);  // tables.c; after trace_rows
bool bias_over_keys(Node *attention, const Dim *positions,
                    int64_t context);                // bias.c; where it has such a form
bool gather_logit_rows(Graph *, const RowInputs *);  // logit_rows.c
#endif
