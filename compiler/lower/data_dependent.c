// Ops whose values decide how many results there are. Their kernels also return that number; after
// them threads wait, and each sets the number's symbol, which sizes later values. Memory is for the
// largest number.
//
//   %n = nonzero(%x) {extent=count} : i64[2, count]     ->   kernel writes [count, 2] and count; the value is a view of it
//
// One thread does all of the work.
#include <string.h>

#include "ir/operands.h"
#include "lower/lowering.h"

static void add_symbol(Program *p, const Dim *symbol) {
    p->data_dependent[p->n_data_dependent++] = symbol;
}

static View whole_operand(Lowering *l, Node *n) {
    View v = view_operand(l, n);
    return v.base == BASE_SCALAR && v.type.rank == 0 ? v : adjacent_operand(l, n);
}

// The number of results, after the other results.
static void give_number(Lowering *l, Kernel *k, const Node *n) {
    Type one = {.dtype = DT_i64};
    View number = view_contiguous(l, &one);
    number.base = BASE_BUFFER, number.buffer = buffer_new(l, &one, false);
    k->defines = attr_dim(n, "extent");
    kernel_give(l, k, k->n_out, NULL, number);
    add_symbol(l->program, k->defines);
}

static Kernel *kernel_of_one(Lowering *l, const Node *n, View *in, int n_in) {
    Kernel *k = kernel_new(l, FAMILY_NEST, n, n_in);
    k->share = (Share){SHARE_OUTER, dim_const(l->graph, 1)};
    memcpy(k->in, in, (size_t)n_in * sizeof *in);
    return k;
}

// A result in memory of its own; an output of the graph is copied when its size is known.
static View place_for(Lowering *l, const Type *type) {
    View v = view_contiguous(l, type);
    v.base = BASE_BUFFER, v.buffer = buffer_new(l, type, false);
    return v;
}

static void show(Lowering *l, Node *n, View v) {
    set_view(l, n, v);
    if (output_index(l->graph, n) >= 0) copy_to_output(l, n, v);
}

// Position by position: the value shows it with its axes swapped.
void select_nonzero(Lowering *l, Node *n) {
    View x = memory_operand(l, n->in[0]);
    Kernel *k = kernel_of_one(l, n, &x, 1);
    Type rows = n->type;
    rows.dim[0] = n->type.dim[1], rows.dim[1] = n->type.dim[0];
    View found = place_for(l, &rows), shown = found;
    kernel_give(l, k, 0, NULL, found);
    give_number(l, k, n);
    shown.type = n->type, shown.stride[0] = found.stride[1], shown.stride[1] = found.stride[0];
    show(l, n, shown);
}

void select_suppression(Lowering *l, Node *n) {
    View in[SUPPRESSION_OPERANDS] = {{0}};
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i]) in[i] = whole_operand(l, n->in[i]);
    Kernel *k = kernel_of_one(l, n, in, n->n_in);
    View found = place_for(l, &n->type);
    kernel_give(l, k, 0, NULL, found);
    give_number(l, k, n);
    show(l, n, found);
}

// The unique slices are gathered by the indices of their first occurrence, so result 0 is unused
// here.
void select_unique(Lowering *l, Node *n) {
    View x = whole_operand(l, n->in[0]), found[3];
    Kernel *k = kernel_of_one(l, n, &x, 1);
    for (int i = 0; i < 3; i++)
        kernel_give(l, k, i, NULL, found[i] = place_for(l, &n->items[i + 1]));
    give_number(l, k, n);
    for (int i = 0; i < 3; i++) {
        Node *item = item_of(n, i + 1);
        if (item) show(l, item, found[i]);
    }
}
