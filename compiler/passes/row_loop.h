// Loops over the rows of a graph.
#ifndef BURIN_PASSES_ROW_LOOP_H
#define BURIN_PASSES_ROW_LOOP_H
#include "ir.h"

// Returns NULL if a step needs its row and the states alone; else why not.
const char *steps_over_rows(const Node *loop, const Dim *rows);
#endif
