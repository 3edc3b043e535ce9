// Common parts of kernel selection: operands and results, ranges of threads, results written over
// operands, and copies of operands that a kernel cannot read in place.
#include "ir/convert.h"
#include "lower/select.h"

// ----------------------------------------------------------------------------------------- kernels
Kernel *kernel_new(Lowering *l, KernelFamily family, const Node *node, int n_in) {
    Program *p = l->program;
    Kernel *k = ARENA_NEW(l->arena, Kernel);
    *k = (Kernel){.family = family,
                  .node = node,
                  .op = node->op,
                  .attrs = node->attrs,
                  .loc = node->loc,
                  .n_in = n_in,
                  .position = p->n_kernels};
    k->in = ARENA_ARRAY(l->arena, View, n_in);
    p->kernels[p->n_kernels++] = k;
    return k;
}

int64_t kernel_int(const Kernel *k, const char *name, int64_t absent) {
    return attr_as_int(attr_in(k->attrs, name), absent);
}

double kernel_float(const Kernel *k, const char *name, double absent) {
    return attr_as_float(attr_in(k->attrs, name), absent);
}

const char *kernel_string(const Kernel *k, const char *name, const char *absent) {
    return attr_as_string(attr_in(k->attrs, name), absent);
}

const Expr *kernel_expr(const Kernel *k, const char *name) {
    return attr_as_expr(attr_in(k->attrs, name));
}

const int64_t *kernel_ints(const Kernel *k, const char *name, int *n) {
    return attr_as_ints(attr_in(k->attrs, name), n);
}

const Dim *const *kernel_dims(const Kernel *k, const char *name, int *n) {
    return attr_as_dims(attr_in(k->attrs, name), n);
}

const Dim *kernel_dim(const Kernel *k, const char *name) {
    int n;
    const Dim *const *dims = kernel_dims(k, name, &n);
    return n == 1 ? dims[0] : NULL;
}

int kernel_axis(const Kernel *k) { return (int)kernel_int(k, "axis", 0); }

void set_view(Lowering *l, Node *n, View v) {
    v.own_part = false;
    n->scratch = ARENA_NEW(l->arena, View);
    *view_of(n) = v;
}

static View constant_view(Lowering *l, const Node *n) {
    View v = view_contiguous(l, &n->type);
    v.base = BASE_WEIGHT;
    v.weight = packed_weight(l, n);
    return v;
}

static double scalar_value(const Tensor *t) { return dtype_load(t->dtype, t->data, 0); }

// Returns true if a double represents it exactly.
static bool is_printable(const Tensor *t) {
    double value = scalar_value(t);
    bool wide = t->dtype == DT_i64 || t->dtype == DT_u64;
    return t->dtype != DT_string && !(wide && (value > 0x1p52 || value < -0x1p52));
}

View view_operand(Lowering *l, Node *n) {
    if (view_of(n)) return *view_of(n);
    if (n->op == OP_constant && tensor_count(n->value) == 1 && is_printable(n->value)) {
        View v = view_contiguous(l, &n->type);
        v.base = BASE_SCALAR;
        v.scalar = scalar_value(n->value);
        v.constant = n;
        set_view(l, n, v);
    } else if (n->op == OP_constant || n->op == OP_pack) {
        set_view(l, n, constant_view(l, n));
    } else {
        diag_fatal(n->loc, "%s is used before it has a place\nnote: value %%%s",
                   op_info[n->op].name, n->name);
    }
    return *view_of(n);
}

View memory_operand(Lowering *l, Node *n) {
    View v = view_operand(l, n);
    if (v.base == BASE_SCALAR) {
        v.base = BASE_WEIGHT;
        v.weight = packed_weight(l, v.constant);
    }
    return v;
}

View adjacent_operand(Lowering *l, Node *n) {
    View v = memory_operand(l, n), from_start = v;
    from_start.offset = dim_const(l->graph, 0);
    return view_is_contiguous(l->graph, &from_start) ? v : view_copy(l, n, v);
}

// Bodies of loops and branches are computed by all threads together, however many rows there are.
bool is_rows(const Lowering *l, const Type *type) {
    const Program *p = l->program;
    return type->rank && !l->places &&
           ((p->rows && type->dim[0] == p->rows) ||
            (p->logit_rows && type->dim[0] == p->logit_rows));
}

int output_index(const Graph *g, const Node *n) {
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == n) return i;
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i]->op == OP_reshape && g->outputs[i]->in[0] == n) return i;
    return -1;
}

// The result of a kernel: the caller's memory when it is an output of the graph, else a buffer of
// its own.
View view_result(Lowering *l, const Node *n, const Type *type, bool per_thread) {
    View v = view_contiguous(l, type);
    int output = output_index(l->graph, n);
    if (l->places && output >= 0 && l->places[output].base != BASE_NONE) {
        View to = l->places[output];
        to.type = v.type;
        memcpy(to.stride, v.stride, sizeof v.stride);
        return to;
    }
    if (output >= 0 && !l->places) {
        v.base = BASE_OUTPUT;
        v.output = output;
    } else {
        v.base = BASE_BUFFER;
        v.buffer = buffer_new(l, type, per_thread);
    }
    return v;
}

Share share_by(ShareKind kind, const Dim *count) { return (Share){.kind = kind, .count = count}; }

const Dim *count_before(Lowering *l, const Type *type, int64_t axis) {
    const Dim *count = dim_const(l->graph, 1);
    for (int i = 0; type->rank && i < axis; i++)
        count = dim_binary(l->graph, DIM_MUL, count, type->dim[i]);
    return count;
}

Share share_rows(Lowering *l, const Type *type) {
    return share_by(SHARE_ROWS, count_before(l, type, type->rank - 1));
}

void kernel_give(Lowering *l, Kernel *k, int result, Node *n, View v) {
    v.own_part = true;
    k->out[result] = v;
    if (k->n_out <= result) k->n_out = result + 1;
    if (n) set_view(l, n, v);
}

bool shares_memory(const Node *n) {
    return n->op == OP_reshape || n->op == OP_transpose || n->op == OP_slice ||
           n->op == OP_expand || n->op == OP_windows;
}

bool reads_through(const Lowering *l, const Node *n) {
    return shares_memory(n) || (n->op == OP_pad && l->borders[n->mark]);
}

// The value whose memory a view shows: its last use is that of all its views.
bool dies_here(const Lowering *l, const Node *value, const Node *at) {
    while (reads_through(l, value)) value = value->in[0];
    return l->last_use[value->mark] <= at->mark;
}

// Returns true if a kernel may write its result over this operand: no later kernel reads the
// operand's memory, the kernel itself reads no other elements of it, threads touch the same
// elements, and the memory is of the same class.
bool may_overwrite_view(const Lowering *l, const Node *operand_node, const View *v, const Kernel *k,
                        const Type *type) {
    for (int i = 0; v && i < k->n_in; i++)
        if (k->in[i].base == BASE_BUFFER && k->in[i].buffer == v->buffer &&
            !view_same_place(&k->in[i], v))
            return false;
    if (!v || v->base != BASE_BUFFER || v->buffer->per_thread != k->replicated_if_one_row ||
        output_index(l->graph, k->node) >= 0)
        return false;
    return type_equal(&v->type, type) && view_is_contiguous(l->graph, v) &&
           v->buffer->row_bytes == type_row_bytes(l, type) && dies_here(l, operand_node, k->node);
}

bool may_overwrite(const Lowering *l, const Node *operand_node, const Kernel *k, const Type *type) {
    return may_overwrite_view(l, operand_node, view_of(operand_node), k, type);
}

// A row-wise kernel: row r of the result from row r of the operands that have rows.
void make_row_wise(Lowering *l, Kernel *k, const Type *type) {
    k->share = share_rows(l, type);
    k->replicated_if_one_row = is_rows(l, type) && output_index(l->graph, k->node) < 0;
}

Node *item_of(const Node *tuple, int index) {
    for (Node *n = tuple->next; n; n = n->next)
        if (n->op == OP_item && n->in[0] == tuple && attr_int(n, "index", 0) == index) return n;
    return NULL;
}

void read_operands(Lowering *l, Kernel *k, Node *n) {
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i]) continue;
        k->in[i] = view_operand(l, n->in[i]);
        k->in[i].own_part = k->in[i].base == BASE_BUFFER && k->in[i].type.rank >= 2;
    }
}

// ------------------------------------------------------------------------------------------ copies
// Rows of a matrix in memory: leading axes are one, elements of a row are adjacent, and rows are so
// far apart as is known when a kernel is compiled (not so the first tokens of sequences whose
// length only the run knows).
static bool is_matrix(Lowering *l, const View *v) {
    int n = v->type.rank;
    if (!n || v->base == BASE_SCALAR ||
        (v->base == BASE_WEIGHT && !view_is_contiguous(l->graph, v)))
        return false;
    if (v->stride[n - 1] != dim_const(l->graph, 1)) return false;
    if (n > 1 && !dim_is_const(v->stride[n - 2], NULL)) return false;
    for (int i = 0; i + 2 < n; i++)
        if (v->stride[i] != dim_binary(l->graph, DIM_MUL, v->stride[i + 1], v->type.dim[i + 1]))
            return false;
    return !v->row_index;
}

static Kernel *copy_kernel(Lowering *l, const Node *n, View from) {
    Kernel *k = kernel_new(l, FAMILY_NEST, n, 1);
    make_row_wise(l, k, &n->type);
    k->copies = true;
    k->in[0] = from;
    return k;
}

void copy_to_output(Lowering *l, Node *n, View from) {
    Kernel *k = copy_kernel(l, n, from);
    kernel_give(l, k, 0, n, view_result(l, n, &n->type, false));
}

View view_copy(Lowering *l, const Node *n, View from) {
    Kernel *k = copy_kernel(l, n, from);
    View to = view_contiguous(l, &n->type);
    to.base = BASE_BUFFER;
    to.buffer = buffer_new(l, &n->type, k->replicated_if_one_row);
    kernel_give(l, k, 0, NULL, to);
    return to;
}

void copy_view(Lowering *l, const Node *n, View from, View to) {
    Kernel *k = copy_kernel(l, n, from);
    k->replicated_if_one_row = false;
    kernel_give(l, k, 0, NULL, to);
}

View matrix_operand(Lowering *l, Node *n) {
    View v = memory_operand(l, n);
    const Type *type = &v.type;
    if (type->rank && !dim_is_const(type->dim[type->rank - 1], NULL))
        diag_fatal(n->loc, "no code is generated for rows as long as the run decides: %s",
                   type_text(type));
    return is_matrix(l, &v) || dtype_is_rows(v.type.dtype) ? v : view_copy(l, n, v);
}

View matrix_like(Lowering *l, Node *n, const Node *of) {
    View v = view_broadcast(l, memory_operand(l, n), &of->type);
    return is_matrix(l, &v) ? v : view_copy(l, of, v);
}
