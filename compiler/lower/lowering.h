// Shared by the files of lower/: the state while one graph is lowered.
#ifndef BURIN_LOWERING_H
#define BURIN_LOWERING_H
#include "lower/lower.h"

typedef struct Lowering {
    Program *program;
    Arena *arena;
    Graph *graph;
    const LowerOptions *options;
    int *last_use;  // by node number (Node.mark): the number of the last node that reads its
                    // memory, through views too
    bool *borders;  // by node number: pads that convolutions read through (select_windows.c)
    // in a body: offsets of its outputs, BASE_NONE for free ones; NULL outside of bodies
    const View *places;
} Lowering;

// lower/view.c: index maps. A view is attached to every node that has memory (Node.scratch).
View *view_of(const Node *);                          // NULL for a tuple
View view_contiguous(Lowering *, const Type *);       // strides of a row-major value; no base yet
bool view_is_contiguous(Graph *, const View *);       // row-major, offset 0
bool view_same_place(const View *, const View *);     // the same elements of the same memory
View view_broadcast(Lowering *, View, const Type *);  // to a type that it broadcasts to
bool view_derive(Lowering *, const Node *, const View *from,
                 View *result);  // of a view op; false: only a copy can give it
Buffer *buffer_new(Lowering *, const Type *, bool per_thread);
uint64_t type_row_bytes(const Lowering *, const Type *);  // bytes for each row of the program

// lower/select.c: every node becomes a view or a kernel
void select_kernels(Lowering *);
// Kernels of a body; the lowering state before it, to resume with.
Lowering body_begin(Lowering *, Graph *body, const View *inputs, const View *places);

// lower/kernel.c: kernels, their operands and results (select.h has more, for the files that
// select) operand of a kernel; a constant gets its offset with the first kernel that reads it
View view_operand(Lowering *, Node *);
View memory_operand(
    Lowering *, Node *);  // the same where a kernel reads no numbers from its text: never a scalar
View adjacent_operand(
    Lowering *, Node *);  // elements that follow each other in memory: a copy where they do not
// destination of a kernel: a buffer, or an output's memory
View view_result(Lowering *, const Node *, const Type *, bool per_thread);
View view_copy(Lowering *, const Node *, View from);  // of a row-major copy
void copy_view(Lowering *, const Node *, View from, View to);
void copy_to_output(Lowering *, Node *, View from);
Kernel *kernel_new(Lowering *, KernelFamily, const Node *, int n_in);
void kernel_give(Lowering *, Kernel *, int result, Node *,
                 View);  // a result, and the value it is (or NULL)
void set_view(Lowering *, Node *, View);
Node *item_of(const Node *tuple, int index);  // NULL: unused
int output_index(const Graph *,
                 const Node *);  // the output that a value is, or that is the same memory in
                                 // another shape; or -1

// lower/control.c: loops and branches
void select_loop(Lowering *, Node *);
void select_if(Lowering *, Node *);
int count_places(
    const Graph *);  // at least as many kernels, buffers and weights as the graph can need

// lower/scan.c: a loop over rows as one kernel; false: its body does not act lane by lane
bool select_scan(Lowering *, Node *);

// lower/data_dependent.c: sizes that depend on values
void select_nonzero(Lowering *, Node *);
void select_suppression(Lowering *, Node *);
void select_unique(Lowering *, Node *);

// lower/types.c: checks the selected kernels against kernels.def; ends the run at a type without
// code
void check_kernel_types(const Program *);

// lower/kernel_identity.c: identity and names of buffers and fields
void group_identical_kernels(Program *);  // of kernels: one for each distinct key
void name_buffers(Program *);             // after the values they first hold
const char *field_name(Arena *, const PackedWeight *);

// lower/roll.c: identical layers become a loop; their buffers become one
void roll_layers(Lowering *);

// lower/plan.c: offsets
void find_live_ranges(Program *);
bool live_overlap(const Buffer *, const Buffer *);
void plan_buffers(Program *);
void plan_states(Lowering *);
void adopt_states(Program *encoder, const Program *decoder);  // the same places in a slot

// lower/ranks.c: what ranks share
void share_over_ranks(Program *);

// lower/sequences.c: encoders of one text take several
void batch_sequences(Program *);

// lower/tile_fusion.c: kernels fused into producers by tiles
void fuse_consumers(Program *);

// lower/schedule.c: barriers
void place_barriers(Program *);
bool share_memory(const View *, const View *,
                  bool one_row);  // their buffers' places overlap, or they are one state or output

// lower/weights.c
PackedWeight *packed_weight(
    Lowering *, const Node *);  // the piece of a pack or constant node, made when first asked for
void place_weights(Program *);
void share_weights(Program *decoder);  // constants that the encoder has too are stored once
#endif
