// `burin check`: what a compiled program computed, node by node, against the interpreter in f64 on the same operands, with the
// bound of each op (eval_bound). A node is judged by the operands that the program itself had, so an error shows where it is
// made and not in everything after it. What the program does not materialise (views, values inside a fused kernel) is computed
// in f32.
//
//     Check *check = check_new(arena, graph);
//     for each step:  check_record for the results of kernels; then check_step with the step's inputs
//     check_report
#ifndef BURIN_IR_CHECK_H
#define BURIN_IR_CHECK_H
#include "ir.h"

typedef struct Check Check;

Check *check_new(Arena *, const Graph *);
void check_free(Check *);
// The value of a node (of a tuple: of its item) in this step: rows of `columns` floats, `stride` floats apart. Copied.
void check_record(Check *, const Node *, int item, const float *data, int64_t rows, int64_t columns, int64_t stride);
void check_step(Check *, const Tensor *const *inputs);
// One line for each op and the first node outside its bound; true when there is none.
bool check_report(const Check *, Text *);
#endif
