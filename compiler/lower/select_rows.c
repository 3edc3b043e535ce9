// Kernels that compute rows: lookups in tables of embeddings, norms, quantizing, chosen rows,
// products with packed weights.
#include "ir/operands.h"
#include "lower/select.h"

// -------------------------------------------------------------------------------------- embeddings
static bool is_table_lookup(const Node *n) {
    if (n->op != OP_gather) return false;
    const Node *table = n->in[0];
    DType t = table->type.dtype;
    bool holds_floats = table->op == OP_pack ||
                        (table->op == OP_constant && (t == DT_f32 || t == DT_f16 || t == DT_bf16));
    return holds_floats && table->type.rank == 2 && n->in[1]->op == OP_input &&
           n->in[1]->type.rank == 1 && n->in[1]->type.dtype == DT_i32 &&
           attr_int(n, "axis", 0) == 0;
}

static bool is_cast_to_f32(const Node *n) { return n->op == OP_cast && n->type.dtype == DT_f32; }

static void select_embed(Lowering *l, Node *lookup, Node *result) {
    Kernel *k = kernel_new(l, FAMILY_EMBED, result, 2);
    k->in[0] = view_operand(l, lookup->in[0]);
    k->in[1] = view_operand(l, lookup->in[1]);
    make_row_wise(l, k, &result->type);
    kernel_give(l, k, 0, result, view_result(l, result, &result->type, k->replicated_if_one_row));
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

void select_gather(Lowering *l, Node *n) {
    if (!is_table_lookup(n)) {
        select_nest(l, n);
        return;
    }
    Node *user = node_only_user(n);
    if (user && is_cast_to_f32(user)) return;  // selected together with the cast
    if (n->in[0]->op == OP_constant && n->type.dtype == DT_f32 && only_rotated(n)) {
        View v = view_operand(l, n->in[0]);
        v.type = n->type;
        v.row_index = n->in[1];
        set_view(l, n, v);
    } else if (n->type.dtype == DT_f32) {
        select_embed(l, n, n);
    } else {
        select_nest(l, n);
    }
}

void select_cast(Lowering *l, Node *n) {
    Node *from = n->in[0];
    if (!view_of(from) && is_table_lookup(from) && is_cast_to_f32(n))
        select_embed(l, from, n);
    else if (from->type.dtype == n->type.dtype && output_index(l->graph, n) < 0)
        set_view(l, n, view_operand(l, from));
    else
        select_nest(l, n);
}

// -------------------------------------------------------------------------------- row-wise kernels
// Weight and bias, from operand `first` on.
static void norm_weights(Lowering *l, const Node *n, int first, View weights[2]) {
    for (int i = first; i < n->n_in; i++)
        if (n->in[i]) weights[i - first] = adjacent_operand(l, n->in[i]);
}

void select_norm(Lowering *l, Node *n) {
    View x = matrix_operand(l, n->in[NORM_X]), weights[2] = {0};
    norm_weights(l, n, NORM_WEIGHT, weights);
    Kernel *k = kernel_new(l, FAMILY_NORM, n, n->n_in);
    make_row_wise(l, k, &n->type);
    x.own_part = true;
    k->in[NORM_X] = x;
    for (int i = NORM_WEIGHT; i < n->n_in; i++) k->in[i] = weights[i - NORM_WEIGHT];
    if (may_overwrite(l, n->in[NORM_X], k, &n->type))
        kernel_give(l, k, 0, n, *view_of(n->in[NORM_X]));
    else
        kernel_give(l, k, 0, n, view_result(l, n, &n->type, k->replicated_if_one_row));
}

// (x, residual, weight, bias) -> sum, norm: the sum takes the residual's place
void select_skip_norm(Lowering *l, Node *n) {
    View x = matrix_operand(l, n->in[SKIP_NORM_X]),
         residual = matrix_operand(l, n->in[SKIP_NORM_RESIDUAL]);
    View weights[2] = {0};
    norm_weights(l, n, SKIP_NORM_WEIGHT, weights);
    Kernel *k = kernel_new(l, FAMILY_NORM, n, n->n_in);
    Node *sum = item_of(n, 0), *norm = item_of(n, 1);
    const Type *type = &n->items[1];
    k->share = share_rows(l, type);
    k->replicated_if_one_row = is_rows(l, type) && !(sum && output_index(l->graph, sum) >= 0) &&
                               !(norm && output_index(l->graph, norm) >= 0);
    for (int i = SKIP_NORM_WEIGHT; i < n->n_in; i++) k->in[i] = weights[i - SKIP_NORM_WEIGHT];
    x.own_part = residual.own_part = true;
    k->in[SKIP_NORM_X] = x;
    k->in[SKIP_NORM_RESIDUAL] = residual;
    kernel_give(l, k, 0, norm, view_result(l, norm ? norm : n, type, k->replicated_if_one_row));
    if (!sum) return;
    if (output_index(l->graph, sum) < 0 && may_overwrite(l, n->in[SKIP_NORM_RESIDUAL], k, type))
        kernel_give(l, k, 1, sum, *view_of(n->in[SKIP_NORM_RESIDUAL]));
    else
        kernel_give(l, k, 1, sum, view_result(l, sum, type, k->replicated_if_one_row));
}

// The norm that has just been selected, when it gives the same rows to the same threads: it
// quantizes each row while it is near.
static Kernel *norm_before(Lowering *l, const Node *n, const View *x) {
    const Program *p = l->program;
    Kernel *k = p->n_kernels ? p->kernels[p->n_kernels - 1] : NULL;
    if (!k || k->family != FAMILY_NORM || p->n_regions || !view_same_place(x, &k->out[0]))
        return NULL;
    bool same_rows = k->share.count == share_rows(l, &n->type).count &&
                     k->replicated_if_one_row == is_rows(l, &n->type);
    return same_rows && quantized_result(k) < 0 && output_index(l->graph, n) < 0 ? k : NULL;
}

int quantized_result(const Kernel *k) {
    int last = k->n_out - 1;
    return k->family == FAMILY_NORM && last > 0 && k->out[last].type.dtype == DT_q8_rows ? last
                                                                                         : -1;
}

void select_quantize(Lowering *l, Node *n) {
    View x = matrix_operand(l, n->in[0]);
    Kernel *norm = n->type.dtype == DT_q8_rows ? norm_before(l, n, &x) : NULL;
    if (norm) {
        kernel_give(l, norm, norm->n_out, n,
                    view_result(l, n, &n->type, norm->replicated_if_one_row));
        return;
    }
    Kernel *k = kernel_new(l, FAMILY_QUANTIZE, n, 1);
    make_row_wise(l, k, &n->type);
    x.own_part = true;
    k->in[0] = x;
    kernel_give(l, k, 0, n, view_result(l, n, &n->type, k->replicated_if_one_row));
}

void select_gather_rows(Lowering *l, Node *n) {
    View x = matrix_operand(l, n->in[0]);
    Kernel *k = kernel_new(l, FAMILY_GATHER, n, 1);
    make_row_wise(l, k, &n->type);
    k->in[0] = x;
    kernel_give(l, k, 0, n, view_result(l, n, &n->type, k->replicated_if_one_row));
}

// ------------------------------------------------------------------------------------------ matmul
static const Dim *panels_of(Lowering *l, const Dim *columns) {
    const Dim *rounded = dim_binary(l->graph, DIM_ADD, columns, dim_const(l->graph, 15));
    return dim_binary(l->graph, DIM_FLOORDIV, rounded, dim_const(l->graph, 16));
}

// One number, a vector over the columns, or rows like those of the product.
static View epilogue_operand(Lowering *l, const Node *product, Node *n) {
    View v = view_operand(l, n);
    const Dim *columns = product->type.dim[product->type.rank - 1];
    if (v.base == BASE_SCALAR || v.type.rank == 0) return v;
    if (product->op == OP_expert_matmul && v.type.rank > 1 &&
        dim_is(v.type.dim[v.type.rank - 1], 1))
        return adjacent_operand(l, n);
    bool vector = v.type.rank == 1 && (v.type.dim[0] == columns || dim_is(v.type.dim[0], 1));
    return vector ? adjacent_operand(l, n) : matrix_like(l, n, product);
}

void select_matmul_packed(Lowering *l, Node *n) {
    View in[n->n_in], result = {0};
    int row_axes = 0;
    const Node *border = NULL;
    in[PRODUCT_X] = view_of(n->in[PRODUCT_X]) || n->in[PRODUCT_X]->op == OP_constant
                        ? matrix_operand(l, n->in[PRODUCT_X])
                        : windows_operand(l, n->in[PRODUCT_X], &row_axes, &border);
    in[PRODUCT_WEIGHTS] = view_operand(l, n->in[PRODUCT_WEIGHTS]);
    for (int i = PRODUCT_EPILOGUE; i < n->n_in; i++) {
        in[i] = epilogue_operand(l, n, n->in[i]);
        in[i].own_part = type_equal(&n->in[i]->type, &n->type);
    }
    Kernel *k = kernel_new(l, FAMILY_MATMUL, n, n->n_in);
    k->row_axes = row_axes, k->border = border;
    memcpy(k->in, in, sizeof in);
    k->share = share_by(SHARE_PANELS, panels_of(l, n->type.dim[n->type.rank - 1]));
    for (int i = PRODUCT_EPILOGUE; i < n->n_in && !result.buffer; i++)
        if (may_overwrite(l, n->in[i], k, &n->type)) result = *view_of(n->in[i]);
    if (result.buffer && result.buffer == in[PRODUCT_X].buffer) result.buffer = NULL;
    kernel_give(l, k, 0, n, result.buffer ? result : view_result(l, n, &n->type, false));
}

// ----------------------------------------------------------------------------------------- experts
// The entries of an index by their experts: sorted once for all products that read it.
static View entry_order(Lowering *l, Node *product, View index) {
    for (int i = l->program->n_kernels - 1; i >= 0; i--) {
        const Kernel *k = l->program->kernels[i];
        if (k->family == FAMILY_ORDER && k->node->in[EXPERT_INDEX] == product->in[EXPERT_INDEX])
            return k->out[0];
    }
    Kernel *k = kernel_new(l, FAMILY_ORDER, product, 1);
    const Type *type = &product->in[EXPERT_INDEX]->type;
    k->in[0] = index;
    k->share = share_by(SHARE_OUTER, dim_const(l->graph, 1));
    k->replicated_if_one_row = is_rows(l, type);
    k->count = dim_const(l->graph, attr_int(product->in[PRODUCT_WEIGHTS], "experts", 1));
    View v = view_contiguous(l, type);
    v.base = BASE_BUFFER;
    v.buffer = buffer_new(l, type, k->replicated_if_one_row);
    kernel_give(l, k, 0, NULL, v);
    k->out[0].own_part = false;
    return v;
}

void select_expert_matmul(Lowering *l, Node *n) {
    View in[n->n_in + 1];
    in[PRODUCT_X] = matrix_operand(l, n->in[PRODUCT_X]);
    in[PRODUCT_WEIGHTS] = view_operand(l, n->in[PRODUCT_WEIGHTS]);
    in[EXPERT_INDEX] = adjacent_operand(l, n->in[EXPERT_INDEX]);
    for (int i = EXPERT_EPILOGUE; i < n->n_in; i++) in[i] = epilogue_operand(l, n, n->in[i]);
    in[n->n_in] = entry_order(l, n, in[EXPERT_INDEX]);
    Kernel *k = kernel_new(l, FAMILY_EXPERTS, n, n->n_in + 1);
    memcpy(k->in, in, sizeof in);
    k->share = share_by(SHARE_EXPERTS, panels_of(l, n->type.dim[n->type.rank - 1]));
    kernel_give(l, k, 0, n, view_result(l, n, &n->type, false));
}
