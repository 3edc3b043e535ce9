// Shared by the files that print loop nests: nest.c (loops, pointwise ops), nest_reduce.c,
// nest_move.c.
#ifndef BURIN_CODEGEN_NEST_H
#define BURIN_CODEGEN_NEST_H
#include <stdio.h>

#include "codegen/parameters.h"

// An index into the result: names of its first `end` components, "0" where an axis has one element.
typedef struct NestIndex {
    int rank, end;
    const char *index[MAX_RANK];
} NestIndex;

// Sixteen elements along the last axis
typedef struct NestVector {
    bool whole, one, parted;  // a multiple of sixteen; at most sixteen: no loop; the thread's part
                              // is of this axis
    const char *j, *lane, *n, *end;  // " + j", "j", "n" (how many are left), where the loop ends
} NestVector;

NestVector nest_vector(const Program *, const Kernel *);
int nest_open_vector(Text *, const NestVector *, int depth);  // its loop, if any: the depth inside
const char *nest_pointer(const Program *, const Kernel *,
                         int operand);                     // a0, or p0 of nest_pointers
const char *nest_result(const Program *, const Kernel *);  // y, or q
NestIndex nest_index(const Type *, int end);
NestIndex nest_index_by(const Type *,
                        const char *const names[MAX_RANK]);  // all of its axes by these names
void nest_indent(Text *, int depth);
// "n < 1 ? 0 : ": the index on an axis of extent 0
void nest_unless_empty(Text *, const Program *, const Dim *extent);
int nest_parted(const Program *,
                const Kernel *);  // how many leading axes a thread's part runs over
int nest_open(Text *, const Program *, const Kernel *,
              int end);  // loops over axes before `end`: the depth inside
int nest_loop(Text *, const Program *, const char *index, const Dim *extent,
              int depth);            // one; none to 1: the depth inside
void nest_close(Text *, int depth);  // all loops
void nest_pointers(Text *, const Program *, const Kernel *, int depth);
void nest_address(Text *, const Program *, const View *, const char *base,
                  NestIndex at);  // a0 + (ptrdiff_t)i0 * 32 + i1
void nest_element(Text *, const Program *, const View *, const char *base,
                  NestIndex at);  // a0[(ptrdiff_t)i0 * 32 + i1]
void nest_offset(Text *, const Program *, const View *, NestIndex at);  // (ptrdiff_t)i0 * 32 + i1

bool nest_in_vectors(DType);  // do vectors hold such elements?

// nest_plain.c: one element at a time
typedef struct PlainReduction {
    const bool *reduced;  // axes of the operand
    NestIndex at;         // its index
    const Dim *count;     // elements of one result
    int depth;            // of the loops around
} PlainReduction;
void nest_plain_load(Text *, const Program *, const View *, int i, NestIndex at);  // in its lane
void nest_plain_convert(Text *, DType from, DType to,
                        const char **closing);  // opens the conversion to the stored form
void nest_plain_check(const Kernel *, DType);   // ends the run for types without code
bool nest_is_plain(const Kernel *, const Expr *);
void write_plain(Text *, const Program *, const Kernel *, const Expr *);
void write_plain_matmul(Text *, const Program *, const Kernel *);
void write_plain_reduce(Text *, const Program *, const Kernel *, const PlainReduction *);

void write_reduce(Text *, const Program *, const Kernel *);
void write_softmax(Text *, const Program *, const Kernel *);
void write_activation_matmul(Text *, const Program *, const Kernel *);
void write_copy(Text *, const Program *, const Kernel *);
void write_gather(Text *, const Program *, const Kernel *);
void write_pad(Text *, const Program *, const Kernel *);
void write_bit_cast(Text *, const Program *, const Kernel *);
void write_gather_elements(Text *, const Program *, const Kernel *);
void write_gather_nd(Text *, const Program *, const Kernel *);
void write_scatter(Text *, const Program *, const Kernel *);
void write_arg_reduce(Text *, const Program *, const Kernel *);
void write_cumulate(Text *, const Program *, const Kernel *);
void write_top_k(Text *, const Program *, const Kernel *);
void write_nonzero(Text *, const Program *, const Kernel *);  // nest_data_dependent.c
void write_unique(Text *, const Program *, const Kernel *);
void write_suppression(Text *, const Program *, const Kernel *);
void write_concat(Text *, const Program *, const Kernel *);
#endif
