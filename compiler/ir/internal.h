// What the files of ir/ share among themselves.
#ifndef BURIN_IR_INTERNAL_H
#define BURIN_IR_INTERNAL_H
#include "ir.h"

struct DimTable *dim_table_new(Arena *);                                                  // dim.c
void dim_each_symbol(const Graph *, void (*visit)(const Dim *, void *user), void *user);  // in order of creation
Expr *expr_new(Arena *, ExprKind);                                                        // expr.c
#endif
