// Shared by the files that print loop nests: nest.c (loops, pointwise ops), nest_reduce.c, nest_move.c.
#ifndef BURIN_CODEGEN_NEST_H
#define BURIN_CODEGEN_NEST_H
#include <stdio.h>

#include "codegen/emit.h"

// An index into the result: names of its first `end` components.
typedef struct NestIndex {
    int rank, end;
    const char *index[MAX_RANK];
} NestIndex;

NestIndex nest_index(const Type *, int end);
int nest_parted(const Program *, const Kernel *);  // how many leading axes a thread's part runs over
void nest_open_function(Text *, const Kernel *, const char *name);
int nest_open(Text *, const Program *, const Kernel *, int end);  // loops over axes before `end`: the depth inside
void nest_close(Text *, int depth);                               // them and the function
void nest_pointers(Text *, const Program *, const Kernel *, int depth);
void nest_address(Text *, const Program *, const View *, const char *base, NestIndex at);

bool nest_in_vectors(DType);  // do vectors hold such elements?

// nest_plain.c: one element at a time
typedef struct PlainReduction {
    const bool *reduced;  // axes of the operand
    NestIndex at;         // its index
    const Dim *count;     // elements of one result
    int depth;            // of the loops around
} PlainReduction;
void nest_plain_load(Text *, const Program *, const View *, int i, NestIndex at);  // in its lane
void nest_plain_convert(Text *, DType from, DType to, const char **closing);       // opens the conversion to the stored form
void nest_plain_check(const Kernel *, DType);                                      // ends the run for types without code
bool nest_is_plain(const Kernel *, const Expr *);
void write_plain(Text *, const Program *, const Kernel *, const char *name, const Expr *);
void write_plain_matmul(Text *, const Program *, const Kernel *, const char *name);
void write_plain_reduce(Text *, const Program *, const Kernel *, const PlainReduction *);

void write_reduce(Text *, const Program *, const Kernel *, const char *name);
void write_softmax(Text *, const Program *, const Kernel *, const char *name);
void write_activation_matmul(Text *, const Program *, const Kernel *, const char *name);
void write_copy(Text *, const Program *, const Kernel *, const char *name);
void write_gather(Text *, const Program *, const Kernel *, const char *name);
void write_pad(Text *, const Program *, const Kernel *, const char *name);
void write_bit_cast(Text *, const Program *, const Kernel *, const char *name);
void write_gather_elements(Text *, const Program *, const Kernel *, const char *name);
void write_gather_nd(Text *, const Program *, const Kernel *, const char *name);
void write_scatter(Text *, const Program *, const Kernel *, const char *name);
void write_arg_reduce(Text *, const Program *, const Kernel *, const char *name);
void write_cumulate(Text *, const Program *, const Kernel *, const char *name);
void write_top_k(Text *, const Program *, const Kernel *, const char *name);
void write_nonzero(Text *, const Program *, const Kernel *, const char *name);  // nest_decided.c
void write_unique(Text *, const Program *, const Kernel *, const char *name);
void write_suppression(Text *, const Program *, const Kernel *, const char *name);
void write_concat(Text *, const Program *, const Kernel *, const char *name);
#endif
