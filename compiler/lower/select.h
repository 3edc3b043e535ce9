// Shared by the files that select kernels.
#ifndef BURIN_SELECT_H
#define BURIN_SELECT_H
#include <stdlib.h>
#include <string.h>

#include "lower/lowering.h"

typedef void SelectFunction(Lowering *, Node *);

// select_rows.c, select_attention.c, select_nest.c
SelectFunction select_gather, select_cast, select_norm, select_skip_norm, select_quantize,
    select_gather_rows;
SelectFunction select_matmul_packed, select_expert_matmul, select_rotary, select_append,
    select_shift_rows, select_kept_keys, select_attention, select_nest, select_top_k;

// axis_order.c: the axes of a value from the outermost in memory to the innermost
typedef struct AxisOrder {
    int rank, axis[MAX_RANK];
} AxisOrder;
AxisOrder order_with_last(int rank, int axis);
AxisOrder order_of(const View *);
bool order_is_plain(const AxisOrder *);
Type type_in_order(const Type *, const AxisOrder *);
View view_in_order(const View *, const AxisOrder *);
View view_out_of_order(const View *, const AxisOrder *);  // the inverse
// strides of a dense value that is stored in this order
View view_in_memory_order(Lowering *, const Type *, const AxisOrder *);
// Copies a value, whose view becomes that of the copy.
void copy_in_order(Lowering *, Node *, View from, const AxisOrder *);
// The same for the operand of a view that no strides express, if the copy can keep the innermost
// axis in memory.
bool copy_for_view(Lowering *, Node *, View *from);

// select_windows.c: convolutions
bool is_border(Lowering *, const Node *pad);  // zeros that convolutions put around its operand
SelectFunction select_pad;
bool leave_to_products(Lowering *, Node *rows);  // rows of windows that products read in place
View windows_operand(Lowering *, Node *rows, int *row_axes, const Node **border);
SelectFunction select_matmul;  // depthwise convolutions; other products of two values are nests
// Computes an elementwise node where the depthwise convolution before it ends, if it can.
bool join_depthwise(Lowering *, Node *, const View *ordered, const AxisOrder *);

// kernel.c: how threads share a kernel
Share share_by(ShareKind, const Dim *count);
Share share_rows(Lowering *, const Type *);
const Dim *count_before(Lowering *, const Type *,
                        int64_t axis);         // the product of the extents before an axis
bool is_rows(const Lowering *, const Type *);  // is axis 0 the rows of the program?
void make_row_wise(Lowering *, Kernel *, const Type *result);

// kernel.c: operands and their memory
void read_operands(Lowering *, Kernel *, Node *);
View matrix_operand(Lowering *, Node *);  // rows of adjacent elements: a copy where it is not that
// a view broadcast to the shape of a node of its element type
View matrix_like(Lowering *, Node *, const Node *of);
bool shares_memory(const Node *view);                // with its operand
bool reads_through(const Lowering *, const Node *);  // a view, or a border of zeros
bool dies_here(const Lowering *, const Node *value, const Node *at);
// the same for an operand as the kernel sees it
bool may_overwrite_view(const Lowering *, const Node *operand, const View *, const Kernel *,
                        const Type *result);
bool may_overwrite(const Lowering *, const Node *operand, const Kernel *, const Type *result);
#endif
