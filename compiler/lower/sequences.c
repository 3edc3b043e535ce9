// Several sequences in one step of an encoder: their rows are stored one after the other, without
// padding. Row-wise kernels run once over all rows; all other kernels run once per sequence, on its
// part of each buffer.
//
//   products, norms, embeddings     all rows
//   attention and its caches        per sequence, its keys after those of earlier sequences
//   positions, masks, pooling       per sequence
//
// A sequence has the bits that it has alone: row-wise kernels ignore their neighbours, and all
// others get the arguments of a single-sequence step.
#include "lower/lowering.h"

static bool has_rows(const Program *p, const Dim *d) { return dim_has_symbol(d, p->rows); }

// ---------------------------------------------------------------------------------------- programs
static bool is_list_of_rows(const Program *p, const Type *type) {
    return type->rank == 1 && type->dim[0] == p->rows;
}

// Its inputs have the sequence's length, one of them the tokens; results have a row each, or a
// fixed size.
static bool is_of_one_sequence(const Program *p) {
    const Graph *g = p->graph;
    bool tokens = false;
    if (!p->rows || p->n_symbols != 1 || p->n_data_dependent || p->n_counters || p->n_regions ||
        p->n_states || p->over_ranks)
        return false;
    for (int i = 0; i < g->n_inputs; i++) {
        if (!is_list_of_rows(p, &g->inputs[i]->type)) return false;
        tokens |= input_role(g->inputs[i]) == INPUT_TOKENS;
    }
    for (int i = 0; i < g->n_outputs; i++) {
        const Type *type = &g->outputs[i]->type;
        bool rows = type->rank && type->dim[0] == p->rows;
        for (int j = rows; j < type->rank; j++)
            if (!dim_is_const(type->dim[j], NULL)) return false;
    }
    return tokens && !*p->prefix;
}

// ---------------------------------------------------------------------------------------- operands
static const Dim *units_of(const Program *p, const View *v) {
    if (v->base == BASE_BUFFER) return v->buffer->units;
    if (v->base != BASE_INPUT && v->base != BASE_OUTPUT) return NULL;
    return type_count(
        p->graph, v->base == BASE_INPUT ? &v->input->type : &p->graph->outputs[v->output]->type);
}

// Units of storage of each row of the text, where all rows have as many; or 0.
static int64_t units_of_row(const Program *p, const View *v) {
    const Dim *count = units_of(p, v);
    int64_t factor, offset;
    bool line = count && has_rows(p, count) &&
                dim_is_line(p->graph, count, p->rows, &factor, &offset) && !offset;
    return line ? factor : 0;
}

int64_t sequence_stride(const Program *p, const View *v) {
    int64_t each = units_of_row(p, v);
    if (each || v->base != BASE_BUFFER) return each;
    return (int64_t)(v->buffer->row_bytes / dtype_bytes(v->type.dtype, 1));
}

// Row r of the operand is row r of the step, and has no other text's in it.
static bool is_row_of_step(const Program *p, const View *v) {
    int64_t each = units_of_row(p, v), stride;
    if (!each || !v->type.rank || v->type.dim[0] != p->rows) return false;
    for (int i = 1; i < v->type.rank; i++)
        if (has_rows(p, v->type.dim[i]) || has_rows(p, v->stride[i])) return false;
    return dtype_is_rows(v->type.dtype) ||
           (dim_is_const(v->stride[0], &stride) && stride == each && dim_is_const(v->offset, NULL));
}

static bool is_same_for_all(const Program *p, const View *v) {
    if (v->base == BASE_NONE || v->base == BASE_SCALAR) return true;
    if (v->base != BASE_WEIGHT || v->row_index) return false;
    for (int i = 0; i < v->type.rank; i++)
        if (has_rows(p, v->type.dim[i])) return false;
    return true;
}

// ----------------------------------------------------------------------------------------- kernels
static bool shares_rows(const Kernel *k) {
    switch (k->family) {
        case FAMILY_EMBED:
        case FAMILY_MATMUL:
        case FAMILY_NORM:
        case FAMILY_QUANTIZE:
            return true;
        case FAMILY_NEST:
            return k->share.kind == SHARE_ROWS && k->op != OP_iota;
        default:
            return false;
    }
}

static bool must_be_per_sequence(const Program *p, const Kernel *k) {
    bool table = k->family == FAMILY_NEST && k->op == OP_gather && !k->copies;
    if (!shares_rows(k) || (table && k->in[0].base != BASE_WEIGHT)) return true;
    for (int i = 0; i < k->n_in; i++)
        if (!is_same_for_all(p, &k->in[i]) && !is_row_of_step(p, &k->in[i])) return true;
    for (int i = 0; i < k->n_out; i++)
        if (!is_row_of_step(p, &k->out[i])) return true;
    return false;
}

// Returns true if no operand is memory that all sequences would write.
static bool can_be_per_sequence(const Kernel *k) {
    bool attends = k->family == FAMILY_APPEND || k->family == FAMILY_ATTENTION;
    for (int i = 0; i < k->n_in + k->n_out; i++) {
        const View *v = i < k->n_in ? &k->in[i] : &k->out[i - k->n_in];
        if (v->base == BASE_BUFFER && dtype_bits(v->buffer->dtype) < 8) return false;
        if (v->row_index || (v->base == BASE_BUFFER && v->buffer->fixed_size && !attends))
            return false;
    }
    return !attends || !attr_in(k->attrs, "batch");
}

// The kernels of a loop are the same in all of its iterations.
void batch_sequences(Program *p) {
    bool *per_sequence = ARENA_ARRAY(p->arena, bool, p->n_kernels + 1);
    p->batches_sequences = is_of_one_sequence(p);
    for (int i = 0; i < p->n_kernels && p->batches_sequences; i++) {
        per_sequence[representative(p, i)] |= must_be_per_sequence(p, p->kernels[i]);
        p->batches_sequences =
            can_be_per_sequence(p->kernels[i]) || !must_be_per_sequence(p, p->kernels[i]);
    }
    for (int i = 0; i < p->n_kernels && p->batches_sequences; i++)
        p->kernels[i]->per_sequence = per_sequence[representative(p, i)];
}
