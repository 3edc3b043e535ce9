// Kernel selection: every node becomes a view of memory that exists, or one kernel.
//
//   %qkv = matmul_packed(%n, %wqkv)          matmul kernel into a new buffer, threads share the panels
//   %q = slice(%qkv) ...                     view
//   %c = gather(%cos_table, %position)       view: row r is row position[r] of the table (only rotary_embedding reads it)
//   %qr = rotary_embedding(%q, %c, %s)       rotary kernel, in place: nobody else reads %q
//   %t = skip_rms_normalization(%o, %x, %w)  norm kernel, the sum in place of %x
//
// What has no tuned kernel becomes a nest: a loop nest printed from the op's meaning (codegen/nest.c).
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ir/convert.h"
#include "lower/lowering.h"

typedef void SelectFunction(Lowering *, Node *);

static SelectFunction select_nest;

// ------------------------------------------------------------------------------------------------------------------ kernels
Kernel *kernel_new(Lowering *l, KernelFamily family, const Node *node, int n_in) {
    Program *p = l->program;
    Kernel *k = ARENA_NEW(l->arena, Kernel);
    *k = (Kernel){.family = family, .node = node, .n_in = n_in, .position = p->n_kernels};
    k->in = ARENA_ARRAY(l->arena, View, n_in);
    p->kernels[p->n_kernels++] = k;
    return k;
}

void set_view(Lowering *l, Node *n, View v) {
    v.own_part = false;
    n->scratch = ARENA_NEW(l->arena, View);
    *view_of(n) = v;
}

static View constant_view(Lowering *l, const Node *n) {
    View v = view_contiguous(l, &n->type);
    v.base = BASE_WEIGHT, v.weight = weight_piece(l, n);
    return v;
}

static double scalar_value(const Tensor *t) { return dtype_load(t->dtype, t->data, 0); }

// Can a double hold it?
static bool is_printable(const Tensor *t) {
    double value = scalar_value(t);
    bool wide = t->dtype == DT_i64 || t->dtype == DT_u64;
    return t->dtype != DT_string && !(wide && (value > 0x1p52 || value < -0x1p52));
}

View view_operand(Lowering *l, Node *n) {
    if (view_of(n)) return *view_of(n);
    if (n->op == OP_constant && tensor_count(n->value) == 1 && is_printable(n->value)) {
        View v = view_contiguous(l, &n->type);
        v.base = BASE_SCALAR, v.scalar = scalar_value(n->value);
        set_view(l, n, v);
    } else if (n->op == OP_constant || n->op == OP_pack) {
        set_view(l, n, constant_view(l, n));
    } else {
        diag_fatal(n->loc, "%s is used before it has a place\nnote: value %%%s", op_info[n->op].name, n->name);
    }
    return *view_of(n);
}

// Bodies of loops and branches are computed by all threads together, however many rows there are.
static bool is_rows(const Lowering *l, const Type *type) {
    const Program *p = l->program;
    return type->rank && !l->places && ((p->rows && type->dim[0] == p->rows) || (p->wanted && type->dim[0] == p->wanted));
}

int output_index(const Graph *g, const Node *n) {
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == n) return i;
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i]->op == OP_reshape && g->outputs[i]->in[0] == n) return i;
    return -1;
}

// The result of a kernel: the caller's memory when it is an output of the graph, else a buffer of its own.
View view_result(Lowering *l, const Node *n, const Type *type, bool row_wise) {
    View v = view_contiguous(l, type);
    int output = output_index(l->graph, n);
    if (l->places && output >= 0 && l->places[output].base != BASE_NONE) {
        View to = l->places[output];
        to.type = v.type, memcpy(to.stride, v.stride, sizeof v.stride);
        return to;
    }
    if (output >= 0 && !l->places) {
        v.base = BASE_OUTPUT, v.output = output;
    } else {
        v.base = BASE_BUFFER, v.buffer = buffer_new(l, type, row_wise);
    }
    return v;
}

static Share share_by(ShareKind kind, const Dim *count) { return (Share){.kind = kind, .count = count}; }

static Share share_rows(Lowering *l, const Type *type) {
    const Dim *rows = dim_const(l->graph, 1);
    for (int i = 0; i + 1 < type->rank; i++) rows = dim_binary(l->graph, DIM_MUL, rows, type->dim[i]);
    return share_by(SHARE_ROWS, rows);
}

static const Dim *panels_of(Lowering *l, const Dim *columns) {
    const Dim *rounded = dim_binary(l->graph, DIM_ADD, columns, dim_const(l->graph, 15));
    return dim_binary(l->graph, DIM_FLOORDIV, rounded, dim_const(l->graph, 16));
}

void kernel_give(Lowering *l, Kernel *k, int result, Node *n, View v) {
    v.own_part = true;
    k->out[result] = v;
    if (k->n_out <= result) k->n_out = result + 1;
    if (n) set_view(l, n, v);
}

static bool shares_memory(const Node *n) {
    return n->op == OP_reshape || n->op == OP_transpose || n->op == OP_slice || n->op == OP_expand || n->op == OP_windows;
}

// The value whose memory a view shows: its last use is that of all its views.
static bool dies_here(const Lowering *l, const Node *value, const Node *at) {
    while (shares_memory(value)) value = value->in[0];
    return l->last_use[value->mark] <= at->mark;
}

// May a kernel write its result over this operand? Only when nothing reads the operand's memory later, threads touch the same
// parts of it, and the memory is of the same class.
static bool may_overwrite(const Lowering *l, const Node *operand_node, const Kernel *k, const Type *type) {
    const View *v = view_of(operand_node);
    if (!v || v->base != BASE_BUFFER || v->buffer->row_wise != k->row_wise || output_index(l->graph, k->node) >= 0)
        return false;
    return type_equal(&v->type, type) && view_is_contiguous(l->graph, v) && v->buffer->row_bytes == type_row_bytes(l, type) &&
           dies_here(l, operand_node, k->node);
}

// A row-wise kernel: row r of the result from row r of the operands that have rows.
static void make_row_wise(Lowering *l, Kernel *k, const Type *type) {
    k->share = share_rows(l, type);
    k->row_wise = is_rows(l, type) && output_index(l->graph, k->node) < 0;
}

// ------------------------------------------------------------------------------------------------------------------- copies
// Rows of a matrix: leading axes are one, elements of a row are adjacent, and rows are so far apart as is known when a kernel
// is compiled (not so the first tokens of sequences whose length only the run knows).
static bool is_matrix(Lowering *l, const View *v) {
    int n = v->type.rank;
    if (!n || (v->base == BASE_WEIGHT && !view_is_contiguous(l->graph, v))) return false;
    if (v->stride[n - 1] != dim_const(l->graph, 1)) return false;
    if (n > 1 && !dim_is_const(v->stride[n - 2], NULL)) return false;
    for (int i = 0; i + 2 < n; i++)
        if (v->stride[i] != dim_binary(l->graph, DIM_MUL, v->stride[i + 1], v->type.dim[i + 1])) return false;
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
    to.base = BASE_BUFFER, to.buffer = buffer_new(l, &n->type, k->row_wise);
    kernel_give(l, k, 0, NULL, to);
    return to;
}

void copy_view(Lowering *l, const Node *n, View from, View to) {
    Kernel *k = copy_kernel(l, n, from);
    k->row_wise = false;
    kernel_give(l, k, 0, NULL, to);
}

static View matrix_operand(Lowering *l, Node *n) {
    View v = view_operand(l, n);
    return is_matrix(l, &v) || v.type.dtype == DT_q8_0 ? v : view_copy(l, n, v);
}

// ----------------------------------------------------------------------------------------------------------- leaves and views
static void select_input(Lowering *l, Node *n) {
    View v = view_contiguous(l, &n->type);
    v.base = BASE_INPUT, v.input = n;
    set_view(l, n, v);
}

static void select_state(Lowering *l, Node *n) {
    Program *p = l->program;
    StateSlice *s = ARENA_NEW(l->arena, StateSlice);
    *s = (StateSlice){.node = n, .index = p->n_states};
    p->states[p->n_states++] = s;
    View v = view_contiguous(l, &n->type);
    v.base = BASE_STATE, v.state = s;
    set_view(l, n, v);
}

static void select_nothing(Lowering *l, Node *n) { (void)l, (void)n; }

// A view that no strides can express is one of a row-major copy. An output of the graph is always written by a kernel.
static void select_view(Lowering *l, Node *n) {
    View from = view_operand(l, n->in[0]), v;
    if (from.base == BASE_SCALAR) {
        v = view_contiguous(l, &n->type);
        v.base = BASE_SCALAR, v.scalar = from.scalar;
    } else if (!view_derive(l, n, &from, &v)) {
        from = view_copy(l, n->in[0], from);
        view_derive(l, n, &from, &v);
    }
    int output = output_index(l->graph, n);
    if (output < 0 || (n->op == OP_reshape && v.base == BASE_OUTPUT && v.output == output))
        set_view(l, n, v);
    else
        copy_to_output(l, n, v);
}

static void select_item(Lowering *l, Node *n) {
    if (!view_of(n))
        diag_fatal(n->loc, "no kernel gives result %d of %s", (int)attr_int(n, "index", 0), op_info[n->in[0]->op].name);
    (void)l;
}

// ---------------------------------------------------------------------------------------------------------------- embeddings
static bool is_table_lookup(const Node *n) {
    if (n->op != OP_gather) return false;
    const Node *table = n->in[0];
    bool holds_floats = table->op == OP_pack || (table->op == OP_constant && dtype_is_float(table->type.dtype));
    return holds_floats && table->type.rank == 2 && n->in[1]->op == OP_input && n->in[1]->type.rank == 1 &&
           n->in[1]->type.dtype == DT_i32 && attr_int(n, "axis", 0) == 0;
}

static bool is_cast_to_f32(const Node *n) { return n->op == OP_cast && n->type.dtype == DT_f32; }

static void select_embed(Lowering *l, Node *lookup, Node *result) {
    Kernel *k = kernel_new(l, FAMILY_EMBED, result, 2);
    k->in[0] = view_operand(l, lookup->in[0]);
    k->in[1] = view_operand(l, lookup->in[1]);
    make_row_wise(l, k, &result->type);
    kernel_give(l, k, 0, result, view_result(l, result, &result->type, k->row_wise));
}

static bool only_rotated(const Node *n) {
    int uses = 0;
    for (const Node *user = n->next; user; user = user->next)
        for (int i = 0; i < user->n_in; i++) {
            if (user->in[i] != n) continue;
            if (user->op != OP_rotary_embedding || i == 0) return false;
            uses++;
        }
    return uses > 0 && uses == node_uses(n);
}

static void select_gather(Lowering *l, Node *n) {
    if (!is_table_lookup(n)) {
        select_nest(l, n);
        return;
    }
    Node *user = node_only_user(n);
    if (user && is_cast_to_f32(user)) return;  // selected together with the cast
    if (n->in[0]->op == OP_constant && n->type.dtype == DT_f32 && only_rotated(n)) {
        View v = view_operand(l, n->in[0]);
        v.type = n->type, v.row_index = n->in[1];
        set_view(l, n, v);
    } else if (n->type.dtype == DT_f32) {
        select_embed(l, n, n);
    } else {
        select_nest(l, n);
    }
}

static void select_cast(Lowering *l, Node *n) {
    Node *from = n->in[0];
    if (!view_of(from) && is_table_lookup(from) && is_cast_to_f32(n))
        select_embed(l, from, n);
    else if (from->type.dtype == n->type.dtype && output_index(l->graph, n) < 0)
        set_view(l, n, view_operand(l, from));
    else
        select_nest(l, n);
}

// ------------------------------------------------------------------------------------------------------------ row-wise kernels
Node *item_of(const Node *tuple, int index) {
    for (Node *n = tuple->next; n; n = n->next)
        if (n->op == OP_item && n->in[0] == tuple && attr_int(n, "index", 0) == index) return n;
    return NULL;
}

static void read_operands(Lowering *l, Kernel *k, Node *n) {
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i]) continue;
        k->in[i] = view_operand(l, n->in[i]);
        k->in[i].own_part = k->in[i].base == BASE_BUFFER && k->in[i].type.rank >= 2;
    }
}

// The norm kernels read floats of 32 bits.
static void check_norm_types(const Node *n) {
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->type.dtype != DT_f32)
            diag_fatal(n->loc, "%s: no code is generated for elements of type %s", op_info[n->op].name,
                       dtype_name(n->in[i]->type.dtype));
}

static void select_norm(Lowering *l, Node *n) {
    check_norm_types(n);
    View x = matrix_operand(l, n->in[0]);
    Kernel *k = kernel_new(l, FAMILY_NORM, n, n->n_in);
    make_row_wise(l, k, &n->type);
    read_operands(l, k, n);
    x.own_part = true, k->in[0] = x;
    if (may_overwrite(l, n->in[0], k, &n->type))
        kernel_give(l, k, 0, n, *view_of(n->in[0]));
    else
        kernel_give(l, k, 0, n, view_result(l, n, &n->type, k->row_wise));
}

// (x, residual, weight, bias) -> sum, norm: the sum takes the residual's place
static void select_skip_norm(Lowering *l, Node *n) {
    check_norm_types(n);
    View x = matrix_operand(l, n->in[0]), residual = matrix_operand(l, n->in[1]);
    Kernel *k = kernel_new(l, FAMILY_NORM, n, n->n_in);
    Node *sum = item_of(n, 0), *norm = item_of(n, 1);
    const Type *type = &n->items[1];
    k->share = share_rows(l, type);
    k->row_wise =
        is_rows(l, type) && !(sum && output_index(l->graph, sum) >= 0) && !(norm && output_index(l->graph, norm) >= 0);
    read_operands(l, k, n);
    x.own_part = residual.own_part = true;
    k->in[0] = x, k->in[1] = residual;
    kernel_give(l, k, 0, norm, view_result(l, norm ? norm : n, type, k->row_wise));
    if (!sum) return;
    if (output_index(l->graph, sum) < 0 && may_overwrite(l, n->in[1], k, type))
        kernel_give(l, k, 1, sum, *view_of(n->in[1]));
    else
        kernel_give(l, k, 1, sum, view_result(l, sum, type, k->row_wise));
}

static void select_quantize(Lowering *l, Node *n) {
    View x = matrix_operand(l, n->in[0]);
    Kernel *k = kernel_new(l, FAMILY_QUANTIZE, n, 1);
    make_row_wise(l, k, &n->type);
    x.own_part = true, k->in[0] = x;
    kernel_give(l, k, 0, n, view_result(l, n, &n->type, k->row_wise));
}

static void select_select_rows(Lowering *l, Node *n) {
    View x = matrix_operand(l, n->in[0]);
    Kernel *k = kernel_new(l, FAMILY_SELECT, n, 1);
    make_row_wise(l, k, &n->type);
    k->in[0] = x;
    kernel_give(l, k, 0, n, view_result(l, n, &n->type, k->row_wise));
}

// ------------------------------------------------------------------------------------------------------------------ attention
// The head axis of a rotary embedding is cut among threads, so its operand must be matrix-like; it turns in place when no other
// value lies in the columns it writes.
static bool rotates_in_place(const Lowering *l, const Node *n) {
    const Node *x = n->in[0];
    const View *v = view_of(x);
    if (v->base != BASE_BUFFER || v->buffer->row_wise || node_uses(x) != 1 || output_index(l->graph, n) >= 0) return false;
    if (x->op != OP_slice) return dies_here(l, x, n);
    const Node *whole = x->in[0];
    if (output_index(l->graph, whole) >= 0) return false;
    int64_t start, extent = dim_upper(x->type.dim[1]);
    if (!dim_is_const(v->offset, &start)) return false;
    for (const Node *other = whole->next; other; other = other->next)
        for (int i = 0; i < other->n_in; i++) {
            if (other->in[i] != whole || other == x) continue;
            const View *o = view_of(other);
            int64_t from;
            if (other->op != OP_slice || !o || !dim_is_const(o->offset, &from)) return false;
            if (from < start + extent && start < from + dim_upper(other->type.dim[1])) return false;
        }
    return true;
}

static void select_rotary(Lowering *l, Node *n) {
    View x = matrix_operand(l, n->in[0]), tables[] = {view_operand(l, n->in[1]), view_operand(l, n->in[2])};
    for (int i = 0; i < 2; i++)  // rows by position, or rows of adjacent elements
        if (!tables[i].row_index) tables[i] = matrix_operand(l, n->in[i + 1]);
    Kernel *k = kernel_new(l, FAMILY_ROTARY, n, 3);
    k->share = share_by(SHARE_HEADS, dim_const(l->graph, attr_int(n, "num_heads", 1)));
    k->in[0] = x, k->in[0].own_part = true;
    for (int i = 1; i < 3; i++) k->in[i] = tables[i - 1];
    kernel_give(l, k, 0, n, rotates_in_place(l, n) ? x : view_result(l, n, &n->type, false));
}

static Kernel *append_kernel(Lowering *l, const Node *n, View cache, View rows) {
    Kernel *k = kernel_new(l, FAMILY_APPEND, n, 1);
    int64_t heads;
    dim_is_const(cache.type.dim[1], &heads);
    k->share = share_by(SHARE_HEADS, dim_const(l->graph, heads));
    k->in[0] = rows, k->in[0].own_part = true;
    return k;
}

static void select_append(Lowering *l, Node *n) {
    View rows = matrix_operand(l, n->in[1]), cache = view_operand(l, n->in[0]);
    Kernel *k = append_kernel(l, n, cache, rows);
    k->cache = attr_string(cache.state->node, "kind", "");
    kernel_give(l, k, 0, n, cache);
}

static const Dim *rounded_up(Graph *g, const Dim *d) {
    const Dim *lanes = dim_const(g, 16), *more = dim_binary(g, DIM_ADD, d, dim_const(g, 15));
    return dim_binary(g, DIM_MUL, dim_binary(g, DIM_FLOORDIV, more, lanes), lanes);
}

// Keys or values that are not cached: a cache that lives for this call, in the scratch memory, a slot for each sequence. Where
// the sizes of a run are its own, it has room for the run's keys, otherwise for the most there can be.
static View cache_of_call(Lowering *l, const Node *n, int operand_index) {
    Graph *g = l->graph;
    View rows = matrix_operand(l, n->in[operand_index]);
    const Dim *batch = attr_dim(n, "batch"), *keys = rows.type.dim[0], *groups = dim_const(g, attr_int(n, "num_kv_heads", 1));
    const Dim *width = dim_binary(g, DIM_FLOORDIV, rows.type.dim[1], groups);
    if (!batch) batch = dim_const(g, 1);
    keys = dim_binary(g, DIM_FLOORDIV, keys, batch);
    if (!l->program->sized_by_run) keys = dim_const(g, dim_upper(keys));
    Type type = type_of(DT_f32, 4, (const Dim *[]){batch, groups, rounded_up(g, keys), width});
    Type padded =
        type_of(DT_f32, 4, (const Dim *[]){batch, groups, type.dim[2], operand_index == 1 ? width : rounded_up(g, width)});
    View cache = view_contiguous(l, &padded);
    cache.type = type;
    cache.base = BASE_BUFFER, cache.buffer = buffer_new(l, &padded, false);
    cache.buffer->whole = true;
    cache.buffer->count = type_count(g, &padded);
    cache.buffer->row_bytes = (uint64_t)(4 * dim_upper(cache.buffer->count) + 63) / 64 * 64;
    Kernel *k = append_kernel(l, n, cache, rows);
    k->cache = operand_index == 1 ? "key" : "value";
    kernel_give(l, k, 0, NULL, cache);
    return cache;
}

// A mask [sequences, keys], row-major.
static View mask_operand(Lowering *l, Node *n) {
    View v = view_operand(l, n);
    return v.base != BASE_SCALAR && view_is_contiguous(l->graph, &v) ? v : view_copy(l, n, v);
}

// [sequences or 1, heads or 1, rows, keys], the keys of a row beside each other.
static View bias_operand(Lowering *l, Node *n) {
    View v = view_operand(l, n);
    int64_t stride;
    bool beside = v.type.rank && dim_is_const(v.stride[v.type.rank - 1], &stride) && stride == 1;
    return beside && v.base != BASE_SCALAR && !v.row_index ? v : view_copy(l, n, v);
}

// Where a step of one row leaves what it has of each segment of 256 keys (runtime/attention.h): for caches of many keys.
static void give_parts(Lowering *l, Kernel *k, const View *values) {
    const Type *cache = &values->type;
    int64_t segments = (dim_upper(cache->dim[2]) + 255) / 256, heads = attr_int(k->node, "num_heads", 1);
    int64_t floats = 16 + (dim_upper(cache->dim[3]) + 15) / 16 * 16;
    if (values->base != BASE_STATE || segments <= 1) return;
    const Dim *dim[] = {dim_const(l->graph, heads * segments), dim_const(l->graph, floats)};
    Type type = type_of(DT_f32, 2, dim);
    View parts = view_contiguous(l, &type);
    parts.base = BASE_BUFFER, parts.buffer = buffer_new(l, &type, false);
    parts.buffer->whole = true;
    parts.buffer->row_bytes = (uint64_t)(4 * heads * segments * floats);
    kernel_give(l, k, 1, NULL, parts);
    k->out[1].own_part = false;
}

static void select_attention(Lowering *l, Node *n) {
    View q = matrix_operand(l, n->in[0]), cache[2];
    for (int i = 0; i < 2; i++) {
        cache[i] = view_operand(l, n->in[1 + i]);
        if (cache[i].base != BASE_STATE) cache[i] = cache_of_call(l, n, 1 + i);
    }
    View bias = n->n_in > 5 && n->in[5] ? bias_operand(l, n->in[5]) : (View){0};
    View mask = n->n_in > 6 && n->in[6] ? mask_operand(l, n->in[6]) : (View){0};
    Kernel *k = kernel_new(l, FAMILY_ATTENTION, n, n->n_in);
    k->share = share_by(SHARE_TILES, dim_const(l->graph, attr_int(n, "num_heads", 1)));
    read_operands(l, k, n);
    for (int i = 1; i < n->n_in; i++) k->in[i].own_part = false;
    for (int i = 0; i < 2; i++) k->in[1 + i] = cache[i], k->in[1 + i].own_part = false;
    k->in[0] = q, k->in[0].own_part = true;
    if (n->n_in > 5) k->in[5] = bias;
    if (n->n_in > 6) k->in[6] = mask;
    kernel_give(l, k, 0, n, view_result(l, n, &n->type, false));
    give_parts(l, k, &cache[1]);
}

// ------------------------------------------------------------------------------------------------------------------- matmul
static void select_matmul_packed(Lowering *l, Node *n) {
    View x = matrix_operand(l, n->in[0]);
    Kernel *k = kernel_new(l, FAMILY_MATMUL, n, n->n_in);
    k->share = share_by(SHARE_PANELS, panels_of(l, n->type.dim[n->type.rank - 1]));
    k->in[0] = x;
    View result = {0};
    for (int i = 1; i < n->n_in; i++) {
        k->in[i] = view_operand(l, n->in[i]);
        k->in[i].own_part = i > 1 && type_equal(&k->in[i].type, &n->type);
        if (i > 1 && !result.buffer && may_overwrite(l, n->in[i], k, &n->type)) result = *view_of(n->in[i]);
    }
    if (result.buffer && result.buffer == x.buffer) result.buffer = NULL;
    kernel_give(l, k, 0, n, result.buffer ? result : view_result(l, n, &n->type, false));
}

// -------------------------------------------------------------------------------------------------------------------- nests
// Does row r of the result need row r only? The op's row behaviour says so, given that its axes are not axis 0.
static bool nest_is_by_rows(const Node *n) {
    if (!n->type.rank) return false;
    switch (op_info[n->op].rows) {
        case ROWS_EACH:
            return true;
        case ROWS_INDEX:
            return n->in[1]->type.rank >= 1 && attr_int(n, "axis", 0) == 0;
        case ROWS_VIEW:
            return n->op == OP_slice && attr_int(n, "axis", 0) != 0;
        case ROWS_INNER: {
            const Attr *axes = attr_find(n, "axes");
            int64_t rank = n->in[0]->type.rank, axis = attr_int(n, "axis", -1);
            if (!axes) return axis != 0 && axis != -rank;
            for (int i = 0; i < axes->n; i++)
                if (axes->ints[i] == 0 || axes->ints[i] == -rank) return false;
            return true;
        }
        default:
            return false;
    }
}

// The product of the extents before an axis.
static const Dim *count_before(Lowering *l, const Type *type, int64_t axis) {
    const Dim *count = dim_const(l->graph, 1);
    for (int i = 0; type->rank && i < (axis < 0 ? axis + type->rank : axis); i++)
        count = dim_binary(l->graph, DIM_MUL, count, type->dim[i]);
    return count;
}

// Without rows, threads share all axes but the last; a softmax along another axis is shared by the axes before it.
// An op that runs along one axis is shared by the axes before it; a scatter is one thread's.
static int64_t outer_axes(const Node *n) {
    if (n->op == OP_scatter_elements || n->op == OP_scatter_nd) return 0;
    if (n->op == OP_cum_sum || n->op == OP_cum_prod) {
        int64_t along = attr_int(n, "axis", 0);
        return along < 0 ? along + n->type.rank : along;
    }
    int64_t axis = n->op == OP_softmax ? attr_int(n, "axis", -1) : n->type.rank - 1;
    if (axis < 0) axis += n->type.rank;
    if (n->op == OP_softmax && axis != n->type.rank - 1) return axis > 0 ? 1 : 0;
    return axis < 0 ? 0 : axis;
}

static void share_nest(Lowering *l, Kernel *k, const Node *n) {
    bool rows = is_rows(l, &n->type) && nest_is_by_rows(n);
    k->share = rows ? share_by(SHARE_ROWS, n->type.dim[0]) : share_by(SHARE_OUTER, count_before(l, &n->type, outer_axes(n)));
    k->row_wise = rows && output_index(l->graph, n) < 0;
    if (dtype_bits(n->type.dtype) < 8) k->share = share_by(SHARE_OUTER, dim_const(l->graph, 1));  // bytes that elements share
    if (n->op == OP_concat && !rows) k->share.count = count_before(l, &n->type, attr_int(n, "axis", 0));
    for (int i = 0; i < k->n_in; i++) {
        const Type *type = &k->in[i].type;
        bool same_rows = rows && type->rank == n->type.rank && type->dim[0] == n->type.dim[0] && n->op != OP_gather;
        bool same = op_is_elementwise(n->op) && type_equal(type, &n->type) && view_is_contiguous(l->graph, &k->in[i]);
        k->in[i].own_part = same_rows || same;
    }
}

// An operand that is read at other places than its own cannot be overwritten on the way.
static bool reads_elsewhere(const Kernel *k, const View *v) {
    for (int i = 0; i < k->n_in; i++)
        if (k->in[i].base == BASE_BUFFER && k->in[i].buffer == v->buffer && !view_same_place(&k->in[i], v)) return true;
    return false;
}

static bool is_pointwise(const Node *n) { return op_is_elementwise(n->op) || n->op == OP_elementwise; }

static void select_nest(Lowering *l, Node *n) {
    View read[n->n_in + 1];
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] && n->in[i]->op == OP_pack)
            diag_fatal(n->loc, "%s has no kernel that reads packed weights\nnote: %%%s", op_info[n->op].name, n->name);
    }
    for (int i = 0; i < n->n_in; i++) read[i] = n->in[i] ? view_operand(l, n->in[i]) : (View){0};
    Kernel *k = kernel_new(l, FAMILY_NEST, n, n->n_in);
    for (int i = 0; i < n->n_in; i++) k->in[i] = read[i];
    share_nest(l, k, n);
    for (int i = 0; is_pointwise(n) && i < n->n_in; i++) {
        if (!may_overwrite(l, n->in[i], k, &n->type) || reads_elsewhere(k, view_of(n->in[i]))) continue;
        kernel_give(l, k, 0, n, *view_of(n->in[i]));
        return;
    }
    kernel_give(l, k, 0, n, view_result(l, n, &n->type, k->row_wise));
}

// values and indices: two results of the same shape
static void select_top_k(Lowering *l, Node *n) {
    View x = view_operand(l, n->in[0]);
    Kernel *k = kernel_new(l, FAMILY_NEST, n, 1);
    int64_t axis = attr_int(n, "axis", -1);
    k->in[0] = x;
    k->share = share_by(SHARE_OUTER, count_before(l, &n->items[0], axis < 0 ? axis + n->items[0].rank : axis));
    for (int i = 0; i < 2; i++) {
        Node *item = item_of(n, i);
        kernel_give(l, k, i, item, view_result(l, item ? item : n, &n->items[i], false));
    }
}

static const struct {
    Op op;
    SelectFunction *select;
} selectors[] = {
    {OP_input, select_input},
    {OP_constant, select_nothing},
    {OP_pack, select_nothing},
    {OP_state, select_state},
    {OP_item, select_item},
    {OP_reshape, select_view},
    {OP_transpose, select_view},
    {OP_slice, select_view},
    {OP_expand, select_view},
    {OP_windows, select_view},
    {OP_gather, select_gather},
    {OP_cast, select_cast},
    {OP_rms_normalization, select_norm},
    {OP_layer_normalization, select_norm},
    {OP_skip_rms_normalization, select_skip_norm},
    {OP_skip_layer_normalization, select_skip_norm},
    {OP_quantize_rows, select_quantize},
    {OP_select_rows, select_select_rows},
    {OP_rotary_embedding, select_rotary},
    {OP_cache_append, select_append},
    {OP_attention, select_attention},
    {OP_top_k, select_top_k},
    {OP_nonzero, select_nonzero},
    {OP_unique, select_unique},
    {OP_non_max_suppression, select_suppression},
    {OP_loop, select_loop},
    {OP_if, select_if},
    {OP_matmul_packed, select_matmul_packed},
};

static SelectFunction *selector_of(Op op) {
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++)
        if (selectors[i].op == op) return selectors[i].select;
    return select_nest;
}

// ------------------------------------------------------------------------------------------------------------------ last uses
// Node numbers, then for each the last node that reads it: a view's readers are its operand's too.
static void number_nodes(Lowering *l) {
    int n_nodes = 0;
    EACH_NODE(n, l->graph) n->mark = n_nodes++, n->scratch = NULL;
    l->last_use = ARENA_ARRAY(l->arena, int, n_nodes + 1);
    for (int i = 0; i < l->graph->n_outputs; i++) l->last_use[l->graph->outputs[i]->mark] = n_nodes;
    for (Node *n = l->graph->last; n; n = n->prev)
        for (int i = 0; i < n->n_in; i++) {
            if (!n->in[i]) continue;
            int *last = &l->last_use[n->in[i]->mark],
                use = shares_memory(n) && l->last_use[n->mark] > n->mark ? l->last_use[n->mark] : n->mark;
            if (use > *last) *last = use;
        }
}

// Outputs that no kernel writes: inputs, constants, and values that are an output already.
static void copy_to_outputs(Lowering *l) {
    for (int i = 0; i < l->graph->n_outputs; i++) {
        Node *n = l->graph->outputs[i];
        View from = n->op == OP_constant ? view_operand(l, n) : view_of(n) ? *view_of(n) : (View){0};
        bool written = from.base == BASE_OUTPUT && from.output == i;
        if (written || from.base == BASE_NONE || from.base == BASE_STATE || from.base == BASE_BUFFER) continue;
        Kernel *k = kernel_new(l, FAMILY_NEST, n, 1);
        View to = view_contiguous(l, &n->type);
        k->copies = true, k->in[0] = from;
        bool bytes = dtype_bits(n->type.dtype) >= 8;
        k->share = share_by(SHARE_OUTER, bytes ? count_before(l, &n->type, n->type.rank - 1) : dim_const(l->graph, 1));
        to.base = BASE_OUTPUT, to.output = i;
        kernel_give(l, k, 0, NULL, to);
    }
}

// What is around a body outlives it: nothing there is written over.
Lowering body_begin(Lowering *l, Graph *body, const View *inputs, const View *places) {
    Lowering around = *l;
    l->graph = body, l->places = places;
    number_nodes(l);
    for (int i = 0; i < body->n_inputs; i++) {
        l->last_use[body->inputs[i]->mark] = INT_MAX;
        set_view(l, body->inputs[i], inputs[i]);
    }
    EACH_NODE(n, body) if (n->op != OP_input) selector_of(n->op)(l, n);
    return around;
}

void select_kernels(Lowering *l) {
    number_nodes(l);
    EACH_NODE(n, l->graph) selector_of(n->op)(l, n);
    copy_to_outputs(l);
}
