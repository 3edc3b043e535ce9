// Common declarations of ir/.
#ifndef BURIN_IR_INTERNAL_H
#define BURIN_IR_INTERNAL_H
#include "ir.h"

struct DimTable *dim_table_new(Arena *);  // dim.c
void dim_each_symbol(const Graph *, void (*visit)(const Dim *, void *user),
                     void *user);                        // in order of creation
Graph *graph_clone_nested(Graph *outer, const Graph *);  // graph.c

// print.c
enum { MAX_INLINE = 16 };  // elements of a constant that are printed in place
bool tensor_is_inline(const Tensor *);
uint64_t tensor_hash(const Tensor *);  // of its bytes; never 0

// parse.c: one graph from *offset on, which moves after it and the following blanks and comments;
// NULL after diag_error
Graph *graph_parse_at(const Source *, size_t *offset, const struct ConstantFile *);
#endif
