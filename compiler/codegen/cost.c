// Arithmetic and memory traffic of a kernel, from its operands. Products count a multiplication and
// an addition for each term, attention both of its products, formulas each of their functions,
// norms and rotary embeddings three for each element. Views of a weight count as packed, a cache as
// far as it is read.
#include "codegen/cost.h"

#include <string.h>

#include "codegen/emit.h"
#include "ir/operands.h"
#include "lower/scan.h"

typedef struct Measure {
    const Program *program;
    const StepSizes *sizes;
} Measure;

static int64_t value_of(const Dim *symbol, void *user) {
    const Measure *m = user;
    const Program *p = m->program;
    if (symbol == p->rows && is_decoder(p)) return m->sizes->rows;
    if (symbol == p->logit_rows || !strcmp(symbol->name, "S")) return 1;
    for (int i = 0; i < p->n_symbols && m->sizes->symbols && !is_decoder(p); i++)
        if (p->symbols[i] == symbol) return m->sizes->symbols[i];
    return symbol->value;
}

static double count_of(const Measure *m, const Type *t) {
    double n = 1;
    for (int i = 0; i < t->rank; i++) n *= (double)dim_eval(t->dim[i], value_of, (void *)m);
    return n;
}

static double last_of(const Measure *m, const Type *t) {
    return t->rank ? (double)dim_eval(t->dim[t->rank - 1], value_of, (void *)m) : 1;
}

// -------------------------------------------------------------------------------------- operations
static int functions_in(const Expr *e) {
    int n = e->kind == EXPR_OP;
    for (int i = 0; e->kind == EXPR_OP && i < e->n; i++) n += functions_in(e->in[i]);
    return n;
}

static bool same_memory(const View *a, const View *b) {
    return a->base == b->base && (a->base == BASE_BUFFER  ? a->buffer == b->buffer
                                  : a->base == BASE_STATE ? a->state == b->state
                                                          : false);
}

// The rows that a run of a network leaves in this operand, which has room for the longest text; 0:
// it is no cache.
static double rows_in_cache(const Measure *m, const View *v) {
    const Program *p = m->program;
    for (int i = 0; i < p->n_kernels && !is_decoder(p); i++) {
        const Kernel *k = p->kernels[i];
        if (k->family == FAMILY_APPEND && same_memory(&k->out[0], v))
            return (double)dim_eval(k->in[0].type.dim[0], value_of, (void *)m);
    }
    return 0;
}

// Keys that a row of attention reads
static double keys_of(const Measure *m, const Kernel *k) {
    const Type *keys = &k->in[ATTENTION_KEY].type;
    const Dim *batch = kernel_dim(k, "batch");
    double sequences = batch ? (double)dim_eval(batch, value_of, (void *)m) : 1;
    int64_t window = kernel_int(k, "window", 0);
    bool cached = keys->rank == 4 && is_decoder(m->program);
    double n = cached ? (double)m->sizes->keys
                      : (double)dim_eval(keys->dim[keys->rank == 4 ? 2 : 0], value_of, (void *)m);
    double rows = rows_in_cache(m, &k->in[ATTENTION_KEY]);
    if (rows > 0) n = sequences > 0 ? rows / sequences : rows;
    if (cached && !kernel_int(k, "causal", 0))
        n = (double)dim_eval(keys->dim[2], value_of, (void *)m);
    if (!cached && keys->rank != 4 && sequences > 0) n /= sequences;
    return window && n > (double)window ? (double)window : n;
}

// Terms of one element of a product that a nest computes
static double terms_of(const Measure *m, const Kernel *k) {
    return k->op == OP_matmul ? last_of(m, &k->in[0].type) : 0;
}

// Rows of the step: the results of a scan begin with them.
static double rows_of(const Measure *m, const Kernel *k) {
    return k->n_out && k->out[0].base != BASE_STATE
               ? (double)dim_eval(k->out[0].type.dim[0], value_of, (void *)m)
               : 0;
}

// Of a row, each function once for each of its elements
static double scan_operations(const Scan *s) {
    double sum = 0;
    for (int i = 0; i < s->n_values; i++) {
        const ScanValue *v = &s->values[i];
        double elements = 1;
        unsigned axes = v->kind == SCAN_REDUCTION ? s->values[v->in[0]].axes : v->axes;
        for (int j = 0; j < s->n_axes; j++)
            if (axes >> j & 1) elements *= (double)s->extent[j];
        if (v->is_read && v->kind != SCAN_OPERAND)
            sum += elements * (v->kind == SCAN_REDUCTION ? 1 : functions_in(v->expr));
    }
    return sum;
}

static double operations_of(const Measure *m, const Kernel *k) {
    double results = k->n_out ? count_of(m, &k->out[0].type) : 0;
    const Expr *e = kernel_expr(k, k->family == FAMILY_NEST ? "expr" : "epilogue");
    switch (k->family) {
        case FAMILY_MATMUL:
        case FAMILY_EXPERTS: {
            const PackedWeight *w = k->in[1].weight;
            double rows = results / last_of(m, &k->out[0].type);
            return rows * 2 * (double)(w->columns / w->experts) * (double)w->depth +
                   (e ? results * functions_in(e) : 0);
        }
        case FAMILY_ATTENTION:
            return 2 * keys_of(m, k) * (count_of(m, &k->in[ATTENTION_QUERY].type) + results);
        case FAMILY_DEPTHWISE:
            e = kernel_expr(k, "epilogue");
            return results *
                   (2 * (double)dim_upper(k->in[1].type.dim[1]) + (e ? functions_in(e) : 0));
        case FAMILY_KEYS:
            return 2 * results * last_of(m, &k->in[KEYS_X].type);
        case FAMILY_NORM:
        case FAMILY_ROTARY:
            return 3 * results;
        case FAMILY_QUANTIZE:
            return 2 * results;
        case FAMILY_SCAN:
            return rows_of(m, k) * scan_operations(k->scan);
        case FAMILY_NEST:
            if (k->copies) return 0;
            if (e) return results * functions_in(e);
            if (k->op == OP_matmul) return 2 * results * terms_of(m, k);
            return op_info[k->op].scalar || k->op == OP_softmax   ? results
                   : op_info[k->op].rows == ROWS_INNER && k->n_in ? count_of(m, &k->in[0].type)
                                                                  : 0;
        default:
            return 0;
    }
}

// ------------------------------------------------------------------------------------------- bytes
static double bytes_of(const Measure *m, const Type *t) {
    double rows = 1, bits = dtype_bits(t->dtype);
    for (int i = 0; i + 1 < t->rank; i++) rows *= (double)dim_eval(t->dim[i], value_of, (void *)m);
    int64_t last = (int64_t)last_of(m, t), units = storage_units_of(t->dtype, 1, &last);
    return rows * (double)units *
           (bits > 0 && bits < 8 ? bits / 8 : (double)dtype_bytes(t->dtype, 1));
}

// A table that is looked up gives as many rows as the kernel has results.
static double weight_bytes_of(const Measure *m, const Kernel *k, const View *v) {
    const PackedWeight *w = v->weight;
    if (v->row_index) return bytes_of(m, &v->type);
    if (k->family == FAMILY_EMBED && w->columns > 0 && w->depth > 0)
        return (double)w->bytes / ((double)w->columns * (double)w->depth) *
               count_of(m, &k->out[0].type);
    if (k->op == OP_gather && v == &k->in[0])
        return bytes_of(m, &v->type) / count_of(m, &v->type) * count_of(m, &k->out[0].type);
    if (k->family != FAMILY_EXPERTS) return (double)w->bytes;
    double entries = count_of(m, &k->in[EXPERT_INDEX].type),
           experts = (double)w->experts;  // at most as many experts are read
    return (double)w->bytes / experts * (entries < experts ? entries : experts);
}

static double cache_bytes_of(const Measure *m, const Kernel *k, const View *v) {
    CacheShape c = cache_shape(v->state->node);
    return keys_of(m, k) * (double)c.heads * (double)(c.width * c.element + 2 * c.scales);
}

// Bytes of an operand; of a network's cache those of the rows in it
static double bytes_in_cache(const Measure *m, const View *v) {
    double rows = v->type.rank == 4 ? rows_in_cache(m, v) : 0, all = bytes_of(m, &v->type);
    double room = rows > 0 ? (double)dim_eval(v->type.dim[2], value_of, (void *)m) : 0;
    return rows > 0 && rows < room ? all / room * rows : all;
}

Cost kernel_cost(const Program *p, const Kernel *k, const StepSizes *sizes) {
    Measure m = {p, sizes};
    Cost c = {.operations = operations_of(&m, k)};
    for (int i = 0; i < k->n_in; i++) {
        const View *v = &k->in[i];
        if (v->base == BASE_WEIGHT)
            c.weight_bytes += weight_bytes_of(&m, k, v);
        else if (v->base == BASE_STATE && k->family == FAMILY_ATTENTION &&
                 v->state->node->type.rank == 4)
            c.bytes += cache_bytes_of(&m, k, v);
        else if (v->base == BASE_BUFFER || v->base == BASE_INPUT)
            c.bytes += bytes_in_cache(&m, v);
    }
    for (int i = 0; i < k->n_out; i++) {
        const View *v = &k->out[i];
        if (v->base == BASE_STATE && k->family == FAMILY_SCAN)  // read and written once a step
            c.bytes += 2 * (double)v->state->bytes;
        else if (v->base == BASE_STATE && k->n_in > 1)
            c.bytes += bytes_of(&m, &k->in[0].type);
        else if (v->base == BASE_BUFFER || v->base == BASE_OUTPUT)
            c.bytes += bytes_in_cache(&m, v);
    }
    return c;
}

int iteration_of(const Program *p, int position) {
    const Loop *l = &p->loop;
    int end = l->first + l->period * l->iterations - l->missing;
    return l->iterations && position >= l->first && position < end
               ? (position - l->first) / l->period
               : -1;
}

Cost call_cost(const Program *p, const Kernel *first, const StepSizes *sizes) {
    const Loop *loop = loop_of(p, first);
    Cost sum = {0};
    int n = 0;
    for (int at = first->position; at < p->n_kernels; at += loop ? loop->period : p->n_kernels) {
        if (loop && iteration_of(p, at) < 0) break;
        Cost c = kernel_cost(p, p->kernels[at], sizes);
        sum.operations += c.operations;
        sum.weight_bytes += c.weight_bytes;
        sum.bytes += c.bytes;
        n++;
    }
    return (Cost){sum.operations / n, sum.weight_bytes / n, sum.bytes / n};
}

bool computes_integers(const Kernel *k) {
    return (k->family == FAMILY_MATMUL || k->family == FAMILY_EXPERTS) &&
           dtype_is_rows(k->in[0].type.dtype);
}

bool takes_integers(const Kernel *k) { return k->family == FAMILY_MATMUL && computes_integers(k); }
