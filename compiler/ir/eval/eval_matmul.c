// Products: numpy's matmul, and rows by packed weights with an epilogue. Every output is one chain
// of fma over ascending k.
//
// Work is done in panels of 16 columns: a panel is brought into the form [k][16] once and meets
// every row. Packed weights are never materialised: a panel is read from the pack's sources,
// rounded to its format.
#include <math.h>
#include <string.h>

#include "ir/encode.h"
#include "ir/eval/eval_internal.h"
#include "ir/eval/eval_rows.h"
#include "ir/operands.h"
#include "kernels/plain.h"
#include "kernels/quantize.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// ------------------------------------------------------------------------------------------ matmul
// [k][16] of columns first.. of a strided [K, N]; columns beyond the last are zero.
static void read_panel(const Value *w, int64_t first, DType real, void *panel, void *column) {
    int64_t depth = w->dim[0];
    size_t size = (size_t)dtype_bits(real) / 8;
    memset(panel, 0, (size_t)depth * MAX_LANES * size);
    for (int64_t i = 0; i < MAX_LANES && first + i < w->dim[1]; i++) {
        Value one = {.dtype = w->dtype,
                     .rank = 1,
                     .dim = {depth},
                     .stride = {w->stride[0]},
                     .data = w->data};
        one.offset = w->offset + (first + i) * w->stride[1];
        value_copy(real, column, &one);
        for (int64_t k = 0; k < depth; k++)
            memcpy((char *)panel + (size_t)(k * MAX_LANES + i) * size,
                   (char *)column + (size_t)k * size, size);
    }
}

// y[M, N] = x[M, K] w[K, N], all of one batch; x and y dense.
static void product(DType real, const void *x, int64_t rows, const Value *w, void *y, void *panel) {
    int64_t depth = w->dim[0], columns = w->dim[1];
    size_t size = (size_t)dtype_bits(real) / 8;
    char *column = (char *)panel + (size_t)(depth * MAX_LANES) * size;
    double sums[MAX_LANES];
    for (int64_t n = 0; n < columns; n += MAX_LANES) {
        read_panel(w, n, real, panel, column);
        for (int64_t m = 0; m < rows; m++) {
            real_kernels(real)->panel_product(depth, (const char *)x + (size_t)(m * depth) * size,
                                              panel, sums);
            memcpy((char *)y + (size_t)(m * columns + n) * size, sums,
                   (size_t)least(MAX_LANES, columns - n) * size);
        }
    }
}

// An operand as [batch..., rows, columns]: a vector becomes one row or one column.
static Value as_matrix(const Value *v, bool left) {
    Value m = *v;
    if (m.rank > 1) return m;
    m.rank = 2;
    m.dim[0] = left ? 1 : v->dim[0], m.stride[0] = left ? 0 : v->stride[0];
    m.dim[1] = left ? v->dim[0] : 1, m.stride[1] = left ? v->stride[0] : 0;
    return m;
}

// Matrix number i of the batch of an operand that is broadcast to `rank` batch dimensions.
static Value batch_matrix(const Value *v, int64_t i, int batch_rank, const int64_t *batch) {
    Value m = {.dtype = v->dtype, .rank = 2, .offset = v->offset, .data = v->data};
    int own = v->rank - 2;
    for (int a = batch_rank; a-- > 0; i /= batch[a]) {
        int axis = a - (batch_rank - own);
        if (axis >= 0 && v->dim[axis] != 1) m.offset += i % batch[a] * v->stride[axis];
    }
    for (int a = 0; a < 2; a++) m.dim[a] = v->dim[own + a], m.stride[a] = v->stride[own + a];
    return m;
}

static void integer_product(EvalContext *c, const Value *a, const Value *b, int64_t *y) {
    const int64_t *x = value_dense(c, a, DT_i64), *w = value_dense(c, b, DT_i64);
    for (int64_t m = 0; m < a->dim[0]; m++)
        for (int64_t n = 0; n < b->dim[1]; n++) {
            uint64_t sum = 0;
            for (int64_t k = 0; k < b->dim[0]; k++)
                sum += (uint64_t)x[m * a->dim[1] + k] * (uint64_t)w[k * b->dim[1] + n];
            y[m * b->dim[1] + n] = (int64_t)sum;
        }
}

void eval_matmul(EvalContext *c, Node *n) {
    Value a = as_matrix(c->in[0], true), b = as_matrix(c->in[1], false), *out = eval_result(c, n);
    bool is_real = dtype_is_float(n->type.dtype);
    DType real = is_real ? eval_real(c, n->type.dtype) : DT_i64;
    size_t size = (size_t)dtype_bits(real) / 8;
    int batch_rank = (a.rank > b.rank ? a.rank : b.rank) - 2;
    int64_t rows = a.dim[a.rank - 2], depth = a.dim[a.rank - 1], columns = b.dim[b.rank - 1],
            matrices = 1;
    for (int i = 0; i < batch_rank; i++) matrices *= out->dim[i];
    char *y = arena_alloc(c->arena, (size_t)(matrices * rows * columns) * size + 1);
    void *panel = arena_alloc(c->arena, (size_t)(depth * (MAX_LANES + 1)) * size + 1);
    for (int64_t i = 0; i < matrices; i++) {
        Value x = batch_matrix(&a, i, batch_rank, out->dim),
              w = batch_matrix(&b, i, batch_rank, out->dim);
        char *to = y + (size_t)(i * rows * columns) * size;
        if (is_real)
            product(real, value_dense(c, &x, real), rows, &w, to, panel);
        else
            integer_product(c, &x, &w, (int64_t *)to);
    }
    convert_elements(out->dtype, value_out(out), real, y, matrices * rows * columns);
}

// ---------------------------------------------------------------------------------- packed weights
void eval_pack(EvalContext *c, Node *n) {
    PackedWeights *p = ARENA_NEW(c->arena, PackedWeights);
    Value *sources = ARENA_ARRAY(c->arena, Value, n->n_in);
    *p = (PackedWeights){
        .node = n, .sources = sources, .n_sources = n->n_in, .format = n->type.dtype};
    p->transposed = attr_int(n, "transposed", 0), p->interleave = attr_int(n, "interleave", 0);
    p->experts = attr_int(n, "experts", 1);
    for (int i = 0; i < n->n_in; i++) {
        sources[i] = *c->in[i];
        p->columns += sources[i].dim[p->transposed];
        p->depth = sources[i].dim[!p->transposed];
    }
    c->out = (Value){.dtype = n->type.dtype, .rank = 2, .dim = {p->columns, p->depth}, .packed = p};
}

// Interleaved weights are counted source by source here: the panels' order in memory does not show
// in the results.
static const Value *source_of(const PackedWeights *p, int64_t *column) {
    int i = 0;
    while (*column >= p->sources[i].dim[p->transposed])
        *column -= p->sources[i++].dim[p->transposed];
    return &p->sources[i];
}

static void source_row(const Value *s, const PackedWeights *p, int64_t column, DType real,
                       void *row) {
    Value one = {.dtype = s->dtype, .rank = 1, .dim = {p->depth}, .data = s->data};
    one.stride[0] = s->stride[!p->transposed];
    one.offset = s->offset + column * s->stride[p->transposed];
    value_copy(real, row, &one);
}

// A column of the product in the integers and scales of its block format: as the source has them,
// or quantized.
static void coded_row(const PackedWeights *p, const Format *f, int64_t column, CodedBlock *blocks) {
    const Value *s = source_of(p, &column);
    if (s->dtype == p->format && !p->transposed) {
        const uint8_t *at =
            (const uint8_t *)s->data + (s->offset + column * s->stride[0]) / f->block * f->bytes;
        for (int64_t k = 0; k < p->depth; k += f->block, at += f->bytes) f->decode(at, blocks++);
        return;
    }
    Arena *scratch = arena_new();
    float *row = ARENA_ARRAY(scratch, float, p->depth);
    source_row(s, p, column, DT_f32, row);
    for (int64_t k = 0; k < p->depth; k += f->block)
        f->encode(f, &(EncodeInput){row + k, NULL, least(f->block, p->depth - k)}, blocks++);
    arena_free(scratch);
}

static int64_t blocks_in(const Format *f, int64_t depth) {
    return (depth + f->block - 1) / f->block;
}

static void block_row(const PackedWeights *p, const Format *f, int64_t column, DType real,
                      void *row) {
    Arena *scratch = arena_new();
    int64_t blocks = blocks_in(f, p->depth);
    CodedBlock *coded = ARENA_ARRAY(scratch, CodedBlock, blocks);
    float *values = ARENA_ARRAY(scratch, float, blocks * f->block);
    coded_row(p, f, column, coded);
    for (int64_t b = 0; b < blocks; b++) coded_values(f, &coded[b], values + b * f->block);
    convert_elements(real, row, DT_f32, values, p->depth);
    arena_free(scratch);
}

// A column of the product: K weights, as stored.
static void packed_row(const PackedWeights *p, int64_t column, DType real, void *row) {
    const Format *f = format_of(p->format);
    if (f) return block_row(p, f, column, real, row);
    const Value *s = source_of(p, &column);
    source_row(s, p, column, real, row);
    if (p->format != DT_bf16 && p->format != DT_f16 && !(p->format == DT_f32 && real == DT_f64))
        return;
    for (int64_t k = 0; k < p->depth; k++) {
        double x = dtype_load(real, row, k);
        double rounded = p->format == DT_f32    ? (float)x
                         : p->format == DT_bf16 ? sf_from_bf16(bf16_from_real(x))
                                                : sf_from_f16(f16_from_real(x));
        dtype_store(real, row, k, rounded);
    }
}

void packed_gather(const PackedWeights *p, int64_t column, Value *rows, int64_t at) {
    Arena *scratch = arena_new();
    float *row = ARENA_ARRAY(scratch, float, p->depth);
    packed_row(p, column, DT_f32, row);
    char *to =
        (char *)value_out(rows) + (size_t)(at * p->depth) * (size_t)dtype_bits(rows->dtype) / 8;
    convert_elements(rows->dtype, to, DT_f32, row, p->depth);
    arena_free(scratch);
}

// The sums of rows by columns first .. first + n of packed float weights; dense [rows, n].
static void packed_product(EvalContext *c, const PackedWeights *p, DType real, const Value *x,
                           int64_t first, Value *y) {
    int64_t rows = value_count(x) / p->depth, columns = y->dim[y->rank - 1];
    size_t size = (size_t)dtype_bits(real) / 8;
    const char *in = value_dense(c, x, real);
    char *out = value_out(y),
         *panel = arena_alloc(c->arena, (size_t)(p->depth * (MAX_LANES + 1)) * size);
    char *row = panel + (size_t)(p->depth * MAX_LANES) * size;
    double sums[MAX_LANES];
    for (int64_t n = 0; n < columns; n += MAX_LANES) {
        int64_t width = least(MAX_LANES, columns - n);
        for (int64_t i = 0; i < width; i++) {
            packed_row(p, first + n + i, real, row);
            for (int64_t k = 0; k < p->depth; k++)
                memcpy(panel + (size_t)(k * MAX_LANES + i) * size, row + (size_t)k * size, size);
        }
        for (int64_t m = 0; m < rows; m++) {
            real_kernels(real)->panel_product(p->depth, in + (size_t)(m * p->depth) * size, panel,
                                              sums);
            memcpy(out + (size_t)(m * columns + n) * size, sums, (size_t)width * size);
        }
    }
}

// The operands of one row's sums, and the sums so far.
typedef struct {
    const Format *format;
    float sum;
    double wide;  // without rounding between the steps
} BlockSums;

// sum = fma(integer sum of a group, (d * scale) * row scale, sum), then with a minimum
// sum = fma(m * minimum, row scale * sum of the row's integers, sum)
static void add_group(BlockSums *s, const CodedBlock *w, int group, const q8_block *x) {
    const Format *f = s->format;
    int first = group * f->group, zero = coded_zero(f, w, group), integer = 0, row = 0;
    for (int i = 0; i < f->group; i++) {
        int8_t a = x->q[(first + i) % QUANT_BLOCK];
        integer += (w->q[first + i] - zero) * a, row += a;
    }
    float scale = coded_scale(f, w, group), minimum = coded_minimum(f, w, group);
    if (format_is_exact(f)) {
        for (int i = 0; i < f->group; i++) integer -= (w->q[first + i] - zero) * (int)x->scale;
        s->wide += integer;
        return;
    }
    s->sum = sf_fma((float)integer, scale * x->scale, s->sum);
    s->wide += (double)integer * scale * x->scale;
    if (!format_has_minimum(f)) return;
    s->sum = sf_fma(minimum, x->scale * (float)row, s->sum);
    s->wide += (double)minimum * x->scale * row;
}

// One column of weights in blocks by all rows, groups ascending.
static void quantized_column(const PackedWeights *p, int64_t column, DType real, const Value *x,
                             Value *y, int64_t at) {
    Arena *scratch = arena_new();
    const Format *f = format_of(p->format);
    int64_t blocks = blocks_in(f, p->depth), row_blocks = blocks_of((int)p->depth);
    int64_t rows = x->dim[x->rank - 1] ? value_count(x) / p->depth : 0;
    CodedBlock *w = ARENA_ARRAY(scratch, CodedBlock, blocks);
    coded_row(p, f, column, w);
    for (int64_t m = 0; m < rows; m++) {
        const q8_block *row = (const q8_block *)x->data + m * row_blocks;
        BlockSums s = {.format = f};
        for (int64_t b = 0; b < blocks; b++)
            for (int g = 0; g < f->block / f->group; g++)
                add_group(&s, &w[b], g, row + (b * f->block + g * f->group) / QUANT_BLOCK);
        dtype_store(real, value_out(y), m * y->dim[y->rank - 1] + at,
                    real == DT_f64 || format_is_exact(f) ? s.wide : s.sum);
    }
    arena_free(scratch);
}

static Value packed_sums(EvalContext *c, const PackedWeights *p, const Value *x, const Node *n,
                         int part) {
    int64_t columns = attr_int(n, "columns", 0), first = part * columns;
    DType real = eval_real(c, n->type.dtype);
    int64_t dim[MAX_RANK];
    memcpy(dim, x->dim, sizeof dim);
    dim[x->rank - 1] = columns;
    Value y = eval_fresh(c, real, x->rank, dim);
    bool integers = dtype_is_rows(x->dtype);
    if (!integers) packed_product(c, p, real, x, first, &y);
    for (int64_t i = 0; integers && i < columns; i++)
        quantized_column(p, first + i, real, x, &y, i);
    return y;
}

// ----------------------------------------------------------------------------------------- experts
// The expert that an entry of the index names, kept inside.
static int64_t expert_of(const PackedWeights *p, const int64_t *index, int64_t entry) {
    return index[entry] < 0 ? 0 : index[entry] < p->experts ? index[entry] : p->experts - 1;
}

static size_t row_bytes(const Value *x, int64_t depth) {
    return dtype_bytes(x->dtype, storage_units_of(x->dtype, 1, &depth));
}

// Rows of x for the entries of one expert, as a matrix; *entry lists these.
static Value rows_of_expert(EvalContext *c, const PackedWeights *p, const Value *x,
                            const int64_t *index, int64_t expert, int64_t *entry, int64_t entries) {
    int64_t rows = value_count(x) / p->depth, slots = rows ? entries / rows : 1, n = 0;
    for (int64_t i = 0; i < entries; i++)
        if (expert_of(p, index, i) == expert) entry[n++] = i;
    Value part = eval_fresh(c, x->dtype, 2, (int64_t[]){n, p->depth});
    size_t bytes = row_bytes(x, p->depth);
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)value_out(&part) + (size_t)i * bytes,
               (const char *)x->data + (size_t)(entry[i] / slots) * bytes, bytes);
    return part;
}

static Value expert_sums(EvalContext *c, const Node *n, int part) {
    const PackedWeights *p = c->in[PRODUCT_WEIGHTS]->packed;
    const Value *index = c->in[EXPERT_INDEX];
    DType real = eval_real(c, n->type.dtype);
    int64_t columns = attr_int(n, "columns", 0), entries = value_count(index), dim[MAX_RANK];
    memcpy(dim, index->dim, sizeof dim);
    dim[index->rank] = columns;
    Value y = eval_fresh(c, real, index->rank + 1, dim), x = *c->in[PRODUCT_X];
    if (!dtype_is_rows(x.dtype))
        x.data = value_dense(c, &x, real), x.dtype = real, x.offset = 0, value_set_dense(&x);
    int64_t *entry = ARENA_ARRAY(c->arena, int64_t, entries + 1);
    const int64_t *experts = value_dense(c, index, DT_i64);
    size_t bytes = (size_t)columns * (size_t)dtype_bits(real) / 8;
    for (int64_t e = 0; e < p->experts; e++) {
        PackedWeights one = *p;
        one.n_sources = (int)(p->n_sources / p->experts), one.sources += e * one.n_sources;
        Value rows = rows_of_expert(c, p, &x, experts, e, entry, entries);
        if (!rows.dim[0]) continue;
        Value sums = packed_sums(c, &one, &rows, n, part);
        for (int64_t i = 0; i < rows.dim[0]; i++)
            memcpy((char *)value_out(&y) + (size_t)entry[i] * bytes,
                   (const char *)sums.data + (size_t)i * bytes, bytes);
    }
    return y;
}

// --------------------------------------------------------------------------------------- epilogues
Value eval_product_sums(EvalContext *c, const Node *n, int part) {
    if (n->op == OP_expert_matmul) return expert_sums(c, n, part);
    return packed_sums(c, c->in[PRODUCT_WEIGHTS]->packed, c->in[PRODUCT_X], n, part);
}

void eval_matmul_packed(EvalContext *c, Node *n) {
    const Value **in = c->in;
    if (!in[PRODUCT_WEIGHTS]->packed)
        diag_fatal(n->loc, "%s takes its weights from pack", op_info[n->op].name);
    bool glu = attr_int(n, "glu", 0);
    int first = product_epilogue(n);
    Value sums[2] = {eval_product_sums(c, n, 0), glu ? eval_product_sums(c, n, 1) : (Value){0}};
    const Expr *epilogue = attr_expr(n, "epilogue");
    const Value **args = ARENA_ARRAY(c->arena, const Value *, n->n_in + 1);
    args[0] = &sums[0], args[1] = &sums[1];
    for (int i = first; i < n->n_in; i++) args[i - first + 1 + glu] = in[i];
    if (!epilogue) epilogue = expr_arg(c->arena, 0);
    eval_formula(c, epilogue, args, n->type.dtype, eval_result(c, n));
}

void eval_expert_matmul(EvalContext *c, Node *n) { eval_matmul_packed(c, n); }

Value value_dequantized(EvalContext *c, const Value *x) {
    Value m = eval_fresh(c, DT_f64, x->rank, x->dim);
    int64_t depth = x->dim[x->rank - 1], blocks = blocks_of((int)depth);
    double *v = value_out(&m);
    for (int64_t i = 0, n = value_count(x); i < n; i++) {
        const q8_block *b =
            (const q8_block *)x->data + i / depth * blocks + i % depth / QUANT_BLOCK;
        double q = b->q[i % depth % QUANT_BLOCK];
        v[i] = x->dtype == DT_i8_rows ? q - b->scale : q * b->scale;
    }
    return m;
}

void eval_quantize_rows(EvalContext *c, Node *n) {
    const Value *x = c->in[0];
    int64_t depth = x->dim[x->rank - 1], rows = depth ? value_count(x) / depth : 0;
    const float *from = value_dense(c, x, DT_f32);
    if (!dtype_is_rows(n->type.dtype)) {
        Value v = *x, *out = eval_result(c, n);
        value_copy(out->dtype, value_out(out), &v);
        return;
    }
    c->out = eval_fresh(c, n->type.dtype, x->rank, x->dim);
    q8_block *to = value_out(&c->out);
    for (int64_t r = 0; r < rows; r++, from += depth, to += blocks_of((int)depth)) {
        if (n->type.dtype == DT_i8_rows)
            quantize_row_integers((int)depth, from, to);
        else
            quantize_row_q8_0((int)depth, from, to);
    }
}
