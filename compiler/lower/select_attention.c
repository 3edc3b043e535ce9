// Attention and what leads to it: rotary embeddings in place, appending to caches, and a cache that
// lives for one call where keys and values are not cached.
#include "ir/operands.h"
#include "lower/select.h"

// Threads divide the heads of a rotary embedding, so its operand must be matrix-like; it works in
// place if no other value uses the columns it writes.
static bool rotates_in_place(const Lowering *l, const Node *n) {
    const Node *x = n->in[0];
    const View *v = view_of(x);
    if (v->base != BASE_BUFFER || v->buffer->per_thread || node_uses(x) != 1 ||
        output_index(l->graph, n) >= 0)
        return false;
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

// Rows by position, or rows of adjacent elements, one for each of the operand's.
static View rotary_table(Lowering *l, const Node *n, int i) {
    View v = view_operand(l, n->in[i]);
    if (v.row_index) return v;
    v = matrix_operand(l, n->in[i]);
    return view_broadcast(l, v, &(Type){.rank = 2, .dim = {n->type.dim[0], v.type.dim[1]}});
}

void select_rotary(Lowering *l, Node *n) {
    View x = matrix_operand(l, n->in[0]), tables[] = {rotary_table(l, n, 1), rotary_table(l, n, 2)};
    Kernel *k = kernel_new(l, FAMILY_ROTARY, n, 3);
    k->share = share_by(SHARE_HEADS, dim_const(l->graph, attr_int(n, "num_heads", 1)));
    k->in[0] = x;
    k->in[0].own_part = true;
    for (int i = 1; i < 3; i++) k->in[i] = tables[i - 1];
    bool apart = true;
    for (int i = 0; i < 2; i++)
        apart = apart && (tables[i].base != BASE_BUFFER || tables[i].buffer != x.buffer);
    kernel_give(l, k, 0, n,
                apart && rotates_in_place(l, n) ? x : view_result(l, n, &n->type, false));
}

static Kernel *append_kernel(Lowering *l, const Node *n, View cache, View rows, int n_in) {
    Kernel *k = kernel_new(l, FAMILY_APPEND, n, n_in);
    int64_t heads;
    dim_is_const(cache.type.dim[1], &heads);
    k->share = share_by(SHARE_HEADS, dim_const(l->graph, heads));
    k->in[0] = rows;
    k->in[0].own_part = true;
    return k;
}

void select_append(Lowering *l, Node *n) {
    View rows = matrix_operand(l, n->in[APPEND_ROWS]), cache = view_operand(l, n->in[APPEND_STATE]);
    bool by_rows = operand_or_null(n, APPEND_SLOT) != NULL;
    Kernel *k = append_kernel(l, n, cache, rows, by_rows ? 3 : 1);
    for (int i = 1; i < k->n_in; i++) k->in[i] = view_operand(l, n->in[APPEND_ROWS + i]);
    k->cache = cache_shape(cache.state->node).keys ? "key" : "value";
    kernel_give(l, k, 0, n, cache);
}

// Rows of a cache, or of a value that has all rows.
void select_shift_rows(Lowering *l, Node *n) {
    bool cached = operand_or_null(n, SHIFT_SLOT);
    View from = cached ? view_operand(l, n->in[SHIFT_X]) : matrix_operand(l, n->in[SHIFT_X]);
    Kernel *k = kernel_new(l, FAMILY_SHIFT, n, cached ? SHIFT_OPERANDS : SHIFT_X + 1);
    make_row_wise(l, k, &n->type);
    k->in[0] = from;
    k->in[0].own_part = false;
    for (int i = SHIFT_SLOT; i < k->n_in; i++) k->in[i] = view_operand(l, n->in[i]);
    kernel_give(l, k, 0, n, view_result(l, n, &n->type, k->replicated_if_one_row));
}

// Units are heads of rows: products with the keys of a head, or its sum of values.
void select_kept_keys(Lowering *l, Node *n) {
    View x = memory_operand(l, n->in[KEYS_X]), cache = view_operand(l, n->in[KEYS_ROWS]);
    if (cache.base != BASE_STATE)
        diag_fatal(n->loc, "%s has code for the keys of a cache alone\nnote: %%%s",
                   op_info[n->op].name, n->name);
    if (!view_is_contiguous(l->graph, &x)) x = view_copy(l, n->in[KEYS_X], x);
    Kernel *k = kernel_new(l, FAMILY_KEYS, n, KEYS_OPERANDS);
    k->share = share_by(SHARE_OUTER, count_before(l, &x.type, 2));
    k->in[KEYS_X] = x, k->in[KEYS_ROWS] = cache;
    for (int i = KEYS_SLOT; i < k->n_in; i++) k->in[i] = view_operand(l, n->in[i]);
    for (int i = 0; i < k->n_in; i++) k->in[i].own_part = false;
    kernel_give(l, k, 0, n, view_result(l, n, &n->type, false));
}

static const Dim *rounded_up(Graph *g, const Dim *d) {
    const Dim *lanes = dim_const(g, 16), *more = dim_binary(g, DIM_ADD, d, dim_const(g, 15));
    return dim_binary(g, DIM_MUL, dim_binary(g, DIM_FLOORDIV, more, lanes), lanes);
}

// Keys or values that are not cached: a cache that lives for this call, in the scratch memory, a
// slot for each sequence. Where the sizes of a run are its own, it has room for the run's keys,
// otherwise for the most there can be.
static View cache_of_call(Lowering *l, const Node *n, int operand_index) {
    Graph *g = l->graph;
    View rows = matrix_operand(l, n->in[operand_index]);
    const Dim *batch = attr_dim(n, "batch"), *keys = rows.type.dim[0],
              *groups = dim_const(g, attr_int(n, "num_kv_heads", 1));
    const Dim *width = dim_binary(g, DIM_FLOORDIV, rows.type.dim[1], groups);
    if (!batch) batch = dim_const(g, 1);
    keys = dim_binary(g, DIM_FLOORDIV, keys, batch);
    if (!l->program->dynamic_sizes) keys = dim_const(g, dim_upper(keys));
    Type type = type_of(DT_f32, 4, (const Dim *[]){batch, groups, rounded_up(g, keys), width});
    Type padded =
        type_of(DT_f32, 4,
                (const Dim *[]){batch, groups, type.dim[2],
                                operand_index == ATTENTION_KEY ? width : rounded_up(g, width)});
    View cache = view_contiguous(l, &padded);
    cache.type = type;
    cache.base = BASE_BUFFER;
    cache.buffer = buffer_new(l, &padded, false);
    cache.buffer->fixed_size = true;
    cache.buffer->row_bytes = (dtype_bytes(DT_f32, dim_upper(cache.buffer->units)) + 63) / 64 * 64;
    Kernel *k = append_kernel(l, n, cache, rows, 1);
    k->cache = operand_index == ATTENTION_KEY ? "key" : "value";
    kernel_give(l, k, 0, NULL, cache);
    return cache;
}

// [sequences or 1, heads or 1, rows, keys], the keys of a row beside each other.
static View bias_operand(Lowering *l, Node *n) {
    View v = memory_operand(l, n);
    bool beside = v.type.rank && dim_is(v.stride[v.type.rank - 1], 1);
    return beside && !v.row_index ? v : view_copy(l, n, v);
}

// Where a one-row step stores the results of each segment of 256 keys
// (runtime/kernels/attention.h), for large caches.
static void give_parts(Lowering *l, Kernel *k, const View *values) {
    const Type *cache = &values->type;
    if (values->base != BASE_STATE) return;
    CacheShape shape = cache_shape(values->state->node);
    int64_t segments = ((int64_t)shape.capacity + 255) / 256 + shape.ring,
            heads = attr_int(k->node, "num_heads", 1);
    int64_t floats = 16 + (dim_upper(cache->dim[3]) + 15) / 16 * 16;
    if (segments <= 1) return;
    const Dim *dim[] = {dim_const(l->graph, heads * segments), dim_const(l->graph, floats)};
    Type type = type_of(DT_f32, 2, dim);
    View parts = view_contiguous(l, &type);
    parts.base = BASE_BUFFER;
    parts.buffer = buffer_new(l, &type, false);
    parts.buffer->fixed_size = true;
    parts.buffer->row_bytes = (uint64_t)(4 * heads * segments * floats);
    kernel_give(l, k, 1, NULL, parts);
    k->out[1].own_part = false;
}

// Uncached operands
static const Dim *keys_of_sequence(Lowering *l, const Node *n) {
    const Dim *keys = n->in[ATTENTION_KEY]->type.dim[0], *batch = attr_dim(n, "batch");
    return batch ? dim_binary(l->graph, DIM_FLOORDIV, keys, batch) : keys;
}

void select_attention(Lowering *l, Node *n) {
    View q = matrix_operand(l, n->in[ATTENTION_QUERY]), cache[2];
    for (int i = 0; i < 2; i++) {
        cache[i] = view_operand(l, n->in[ATTENTION_KEY + i]);
        if (cache[i].base != BASE_STATE) cache[i] = cache_of_call(l, n, ATTENTION_KEY + i);
    }
    Node *bias = operand_or_null(n, ATTENTION_BIAS), *mask = operand_or_null(n, ATTENTION_MASK);
    Node *sinks = operand_or_null(n, ATTENTION_SINKS);
    View of_bias = bias ? bias_operand(l, bias) : (View){0},
         of_mask = mask ? adjacent_operand(l, mask) : (View){0};
    View of_sinks = sinks ? adjacent_operand(l, sinks) : (View){0};
    Kernel *k = kernel_new(l, FAMILY_ATTENTION, n, n->n_in);
    k->share = share_by(SHARE_TILES, dim_const(l->graph, attr_int(n, "num_heads", 1)));
    k->count = keys_of_sequence(l, n);
    read_operands(l, k, n);
    for (int i = 1; i < n->n_in; i++) k->in[i].own_part = false;
    for (int i = 0; i < 2; i++) {
        k->in[ATTENTION_KEY + i] = cache[i];
        k->in[ATTENTION_KEY + i].own_part = false;
    }
    k->in[ATTENTION_QUERY] = q;
    k->in[ATTENTION_QUERY].own_part = true;
    if (bias) k->in[ATTENTION_BIAS] = of_bias;
    if (mask) k->in[ATTENTION_MASK] = of_mask;
    if (sinks) k->in[ATTENTION_SINKS] = of_sinks;
    kernel_give(l, k, 0, n, view_result(l, n, &n->type, false));
    give_parts(l, k, &cache[1]);
}
