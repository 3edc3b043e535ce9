// How far a result in f32 may be from the truth: the tolerance of `burin check`, element by
// element.
//
// Every bound is first order in U = 2^-24, the relative error of one rounding, and is doubled at
// the end (SAFETY), which covers the higher orders. The error of a float function is in its row of
// runtime/kernels/functions.h. Operands count as exact, since `check` gives each node the operands
// that the program itself had. With |.| the sizes of the operands:
//
//   elementwise     errors run through the formula: add: ea + eb + U |y|;  mul: |a| eb + |b| ea + U |y|;  exp: |y| ea + 2 U |y| ...
//
//   sums of n       U (n / lanes + 5) sum |x|;  mean: that / n + U |y|;  maximum, minimum: exact
//
//   matmul          U (K + 1) sum |x| |w|, then through the epilogue;  in blocks, by integers:
//                   U (steps + 6) sum |x| |w|, steps one or two a group;  of rows rounded to bf16, by pairs:
//                   (2^-9 + U (K + 2)) sum |x| |w|, and the loss of subnormals
//
//   kept keys       as matmul
//
//   rms norm        U (n / 32 + 8) |y|:  half of the error of the sum of squares, root, division, two products
//
//   layer norm      the mean's error moves every element: |w| scale (em + U |d|), and the scale as in rms norm
//
//   softmax         U (|x - max| + mean of that under y + n / 16 + 10) |y|
//
//   attention       each weight is off by twice its score's error U (d + 2) sum |q| |k| scale, and by U |score - max|; then
//                   chains of at most 256 keys and the folding of segments
//
//   copies, casts, gathers: 0
//
// A result in 16 bits is rounded once more.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/eval/eval_internal.h"
#include "ir/eval/eval_rows.h"
#include "ir/format.h"
#include "ir/operands.h"
#include "kernels/plain.h"
#include "kernels/quantize.h"

#define U         0x1p-24
#define SUBNORMAL 0x1p-120  // at most, of what counts as zero, by a weight below 64
enum { SAFETY = 2, TREE = 5 };

typedef struct {
    double value, error;
} Approx;

// ------------------------------------------------------------------------------------- elementwise
static Approx approx_unary(Op op, Approx a) {
    double x = a.value, dx = a.error, v;
    switch (op) {
#define UNARY(how, name, exact, off) \
    case OP_##name:                  \
        v = sd_##name(x);            \
        return (Approx){v, off};
#include "kernels/functions.h"
        default:
            return (Approx){!x, dx};
    }
}

static Approx approx_compare(Op op, Approx a, Approx b) {
    bool close = a.error + b.error > 0 && fabs(a.value - b.value) <= a.error + b.error;
    double x = a.value, y = b.value;
    bool r = op == OP_less            ? x < y
             : op == OP_less_or_equal ? x <= y
             : op == OP_greater       ? x > y
             : op == OP_equal         ? x == y
                                      : x >= y;
    return (Approx){r, close};
}

static Approx approx_binary(Op op, Approx a, Approx b) {
    double x = a.value, y = b.value, dx = a.error, dy = b.error, v;
    switch (op) {
#define BINARY(how, name, exact, off) \
    case OP_##name:                   \
        v = sd_##name(x, y);          \
        return (Approx){v, off};
#include "kernels/functions.h"
        case OP_and:
            return (Approx){x && y, fmax(dx, dy)};
        case OP_or:
            return (Approx){x || y, fmax(dx, dy)};
        default:
            return approx_compare(op, a, b);
    }
}

static Approx approx(const Expr *e, const Approx *args) {
    if (e->kind == EXPR_ARG) return args[e->arg];
    if (e->kind == EXPR_CONST) return (Approx){e->value, U * fabs(e->value)};
    Approx in[3];
    for (int i = 0; i < e->n; i++) in[i] = approx(e->in[i], args);
    if (e->n == 1) return approx_unary(e->op, in[0]);
    if (e->n == 2) return approx_binary(e->op, in[0], in[1]);
    Approx chosen = in[in[0].value ? 1 : 2];
    if (in[0].error) chosen.error = fabs(in[1].value - in[2].value) + in[1].error + in[2].error;
    return chosen;
}

// A formula over operands with errors (NULL: exact), all broadcast to the result.
static void formula_bound(EvalContext *c, const Expr *e, const Value *const *args,
                          const double *const *errors, double *bound) {
    int n = expr_max_arg(e) + 1;
    int64_t count = value_count(&c->out);
    const double **values = ARENA_ARRAY(c->arena, const double *, n);
    for (int i = 0; i < n; i++) {
        Value b = value_broadcast(args[i], c->out.rank, c->out.dim);
        values[i] = value_dense(c, &b, DT_f64);
    }
    Approx *in = ARENA_ARRAY(c->arena, Approx, n);
    for (int64_t j = 0; j < count; j++) {
        for (int i = 0; i < n; i++) in[i] = (Approx){values[i][j], errors[i] ? errors[i][j] : 0};
        bound[j] = approx(e, in).error;
    }
}

static void elementwise_bound(EvalContext *c, const Node *n, double *bound) {
    const Expr *args[3], *e = attr_expr(n, "expr");
    const double **errors = ARENA_ARRAY(c->arena, const double *, n->n_in);
    if (!e) {
        for (int i = 0; i < n->n_in; i++) args[i] = expr_arg(c->arena, i);
        e = expr_op(c->arena, n->op, n->n_in, args);
    }
    formula_bound(c, e, c->in, errors, bound);
}

// ---------------------------------------------------------------------------------------- products
static Value magnitudes(EvalContext *c, const Value *x) {
    Value m = eval_fresh(c, DT_f64, x->rank, x->dim);
    double *v = value_out(&m);
    value_copy(DT_f64, v, x);
    for (int64_t i = 0, n = value_count(x); i < n; i++) v[i] = fabs(v[i]);
    return m;
}

// Of weights in blocks the value's part and the minimum's are added apart: they may cancel.
static Value weight_magnitudes(EvalContext *c, const Value *w) {
    const Format *f = format_of(w->dtype);
    if (!f || !value_is_dense(w)) return magnitudes(c, w);
    Value m = eval_fresh(c, DT_f64, w->rank, w->dim);
    double *v = value_out(&m);
    for (int64_t i = 0, n = value_count(w); i < n; i += f->block) {
        CodedBlock block;
        float values[FORMAT_BLOCK];
        f->decode((const uint8_t *)w->data + (w->offset + i) / f->block * f->bytes, &block);
        coded_values(f, &block, values);
        for (int j = 0; j < f->block; j++) {
            double minimum = coded_minimum(f, &block, j / f->group);
            v[i + j] = fabs(values[j] - minimum) + fabs(minimum);
        }
    }
    return m;
}

// Steps of one sum that round: each fma, or one or two for each group of a block.
static double rounded_steps(const PackedWeights *w, bool quantized) {
    const Format *f = format_of(w->format);
    if (!quantized || !f) return (double)w->depth + 2;
    return (double)w->depth / f->group * (format_has_minimum(f) ? 2 : 1) + 6;
}

static void matmul_bound(EvalContext *c, Node *n, double *bound) {
    const Value **in = c->in;
    double depth = (double)in[0]->dim[in[0]->rank - 1];
    Value out = c->out, sizes[2] = {magnitudes(c, in[0]), magnitudes(c, in[1])};
    c->in = (const Value *[]){&sizes[0], &sizes[1]};
    op_info[OP_matmul].eval(c, n);
    const double *sums = value_dense(c, &c->out, DT_f64);
    for (int64_t i = 0, count = value_count(&out); i < count; i++)
        bound[i] = U * (depth + 1) * sums[i];
    c->in = in, c->out = out;
}

// --math=fast: of more rows (runtime/kernels/matmul_rounded.h)
enum { ROUNDED_ABOVE = 12 };
void eval_round_rows(EvalContext *c) { c->rounds_rows = true; }
static bool rounds_rows(const EvalContext *c, const Value *x, const PackedWeights *w) {
    return c->rounds_rows && w->format == DT_bf16 &&
           value_count(x) > ROUNDED_ABOVE * x->dim[x->rank - 1];
}

static void packed_bound(EvalContext *c, Node *n, double *bound) {
    const Value **in = c->in;
    PackedWeights sizes = *in[1]->packed;
    Value out = c->out, *sources = ARENA_ARRAY(c->arena, Value, sizes.n_sources), packed = *in[1];
    bool quantized = dtype_is_rows(in[0]->dtype), glu = attr_int(n, "glu", 0);
    for (int i = 0; i < sizes.n_sources; i++) sources[i] = weight_magnitudes(c, &sizes.sources[i]);
    const bool rounds = rounds_rows(c, in[0], &sizes);
    double factor = U * rounded_steps(&sizes, quantized) + (rounds ? 0x1p-9 : 0);
    sizes.sources = sources, sizes.format = DT_f64;
    packed.packed = &sizes;
    Value rows = quantized ? value_dequantized(c, in[0]) : *in[0], x = magnitudes(c, &rows);
    const Value **args = ARENA_ARRAY(c->arena, const Value *, n->n_in + 1);
    const double **errors = ARENA_ARRAY(c->arena, const double *, n->n_in + 1);
    Value sums[2];
    for (int i = 0; i <= glu; i++) {
        sums[i] = eval_product_sums(c, n, i);
        c->in = (const Value *[]){&x, &packed, n->op == OP_expert_matmul ? in[EXPERT_INDEX] : NULL};
        Value total = eval_product_sums(c, n, i);
        c->in = in;
        double *e = value_out(&total);
        for (int64_t j = 0, count = value_count(&total); j < count; j++)
            e[j] = e[j] * factor + (rounds ? (double)sizes.depth * SUBNORMAL : 0);
        args[i] = &sums[i], errors[i] = e;
    }
    for (int i = product_epilogue(n); i < n->n_in; i++)
        args[i - product_epilogue(n) + 1 + glu] = in[i];
    const Expr *epilogue = attr_expr(n, "epilogue");
    c->out = out;
    formula_bound(c, epilogue ? epilogue : expr_arg(c->arena, 0), args, errors, bound);
}

// -------------------------------------------------------------------------------------------- rows
static void reduce_bound(EvalContext *c, Node *n, double *bound) {
    const Value **in = c->in;
    Value out = c->out, sizes = magnitudes(c, in[0]);
    double length =
        (double)value_count(in[0]) / (double)(value_count(&out) ? value_count(&out) : 1);
    double steps = n->op == OP_reduce_prod
                       ? length
                       : length / MAX_LANES + TREE;  // a chain over other axes is longer
    int count;
    const int64_t *axes = attr_ints(n, "axes", &count);
    for (int i = 0; i < count; i++)
        if (axes[i] != in[0]->rank - 1) steps = length + 1;
    c->in = (const Value *[]){&sizes};
    op_info[n->op].eval(c, n);
    const double *sums = value_dense(c, &c->out, DT_f64);
    bool exact = n->op == OP_reduce_max || n->op == OP_reduce_min;
    for (int64_t i = 0, results = value_count(&out); i < results; i++)
        bound[i] = exact ? 0 : U * (steps + 1) * sums[i];
    c->in = in, c->out = out;
}

static void softmax_bound(EvalContext *c, const Node *n, double *bound) {
    const double *x = value_dense(c, c->in[0], DT_f64), *y = value_dense(c, &c->out, DT_f64);
    int64_t axis = node_axis(n), count = value_count(&c->out), stride = 1;
    for (int i = c->out.rank - 1; i > axis; i--) stride *= c->out.dim[i];
    int64_t length = c->out.rank ? c->out.dim[axis] : 1;
    for (int64_t i = 0; i < count; i++) {
        if (i / stride % length) continue;
        double top = -INFINITY, mean = 0;
        for (int64_t j = 0; j < length; j++) top = fmax(top, x[i + j * stride]);
        for (int64_t j = 0; j < length; j++)
            if (y[i + j * stride] > 0) mean += y[i + j * stride] * (top - x[i + j * stride]);
        for (int64_t j = 0; j < length; j++) {
            double v = y[i + j * stride], far = v > 0 ? top - x[i + j * stride] : 0;
            bound[i + j * stride] =
                U * (far + mean + (double)length / (stride == 1 ? MAX_LANES : 1) + 10) * v;
        }
    }
}

typedef struct {
    const double *x, *weight, *y;
    double *bound;
    int64_t length;
    double epsilon;
    bool rms;
} NormRow;

static void norm_row_bound(const NormRow *r) {
    double n = (double)r->length, mean = 0, sizes = 0, squares = 0;
    for (int64_t i = 0; i < r->length; i++) mean += r->x[i] / n, sizes += fabs(r->x[i]) / n;
    if (r->rms) mean = 0;
    for (int64_t i = 0; i < r->length; i++) squares += (r->x[i] - mean) * (r->x[i] - mean) / n;
    double scale = 1 / sqrt(squares + r->epsilon),
           mean_error = r->rms ? 0 : U * (n / MAX_LANES + TREE + 1) * sizes;
    double scale_error = U * (n / (2 * MAX_LANES) + 6) + mean_error * scale;
    for (int64_t i = 0; i < r->length; i++) {
        double d = r->x[i] - mean, w = fabs(r->weight[i]) * scale;
        r->bound[i] = w * (mean_error + fabs(d) * (scale_error + 3 * U)) + U * fabs(r->y[i]);
    }
}

// Item 0 of a skip norm is a sum; item 1 the norm of a sum that was rounded.
static void norm_bound(EvalContext *c, const Node *n, int item, double *bound) {
    bool skip = n->op == OP_skip_rms_normalization || n->op == OP_skip_layer_normalization;
    const Value *x = skip ? &c->out.items[0] : c->in[0], *y = skip ? &c->out.items[item] : &c->out;
    int64_t count = value_count(y);
    const double *out = value_dense(c, y, DT_f64);
    if (skip && item == 0) {
        for (int64_t i = 0; i < count; i++) bound[i] = U * fabs(out[i]);
        return;
    }
    NormRow r = {.x = value_dense(c, x, DT_f64),
                 .weight = value_dense(c, c->in[skip ? SKIP_NORM_WEIGHT : NORM_WEIGHT], DT_f64)};
    r.rms = n->op == OP_rms_normalization || n->op == OP_skip_rms_normalization;
    r.length = y->dim[y->rank - 1], r.epsilon = attr_float(n, "epsilon", 0);
    r.y = out, r.bound = bound;
    for (int64_t at = 0; at < count;
         at += r.length, r.x += r.length, r.y += r.length, r.bound += r.length) {
        norm_row_bound(&r);
        for (int64_t i = 0; skip && i < r.length; i++) r.bound[i] += 2 * U * fabs(r.y[i]);
    }
}

static void rotary_bound(EvalContext *c, Node *n, double *bound) {
    Value sizes[3], out = c->out;
    const Value **in = c->in;
    for (int i = 0; i < 3; i++) sizes[i] = magnitudes(c, in[i]);
    for (int64_t i = 0, count = value_count(&sizes[2]); i < count; i++)
        ((double *)value_out(&sizes[2]))[i] *= -1;
    c->in = (const Value *[]){&sizes[0], &sizes[1],
                              &sizes[2]};  // |a| |cos| + |b| |sin| in the first of each pair
    op_info[OP_rotary_embedding].eval(c, n);
    const double *first = value_dense(c, &c->out, DT_f64);
    Value other = magnitudes(c, &sizes[2]);
    c->in = (const Value *[]){&sizes[0], &sizes[1], &other};  // and in the second
    op_info[OP_rotary_embedding].eval(c, n);
    const double *second = value_dense(c, &c->out, DT_f64);
    for (int64_t i = 0, count = value_count(&out); i < count; i++)
        bound[i] = 2 * U * fmax(fabs(first[i]), fabs(second[i]));
    c->in = in, c->out = out;
}

// Products with kept keys and sums of kept values: U (K + 1) sum |x| |w|
static void kept_bound(EvalContext *c, Node *n, double *bound) {
    const Value **in = c->in, *sizes[KEYS_OPERANDS];
    Value x = magnitudes(c, in[KEYS_X]), rows = magnitudes(c, in[KEYS_ROWS]), out = c->out;
    int64_t count = value_count(&out), terms = in[KEYS_X]->dim[2];
    for (int i = 0; i < n->n_in; i++) sizes[i] = in[i];
    sizes[KEYS_X] = &x, sizes[KEYS_ROWS] = &rows;
    c->in = sizes;
    op_info[n->op].eval(c, n);
    const double *size = value_dense(c, &c->out, DT_f64);
    for (int64_t i = 0; i < count; i++) bound[i] = U * ((double)terms + 1) * size[i];
    c->in = in, c->out = out;
}

// --------------------------------------------------------------------------------------- the whole
// The error of one query and head, into y.
void attention_row_bound(const AttentionRow *a, void *out) {
    double *y = out, top = -INFINITY, total = 0, mean = 0;
    int64_t n = a->to - a->from;
    for (int64_t d = 0; d < a->e; d++) y[d] = 0;
    if (n <= 0) return;
    if (a->sink) top = *(const double *)a->sink;
    double *score = malloc((size_t)n * 2 * sizeof *score), *error = score + n;
    for (int64_t j = 0; j < n; j++) {
        const double *q = a->q, *k = (const double *)a->keys + (a->from + j) * a->key_stride;
        double s = 0, sizes = 0;
        for (int64_t d = 0; d < a->d; d++) s += q[d] * k[d], sizes += fabs(q[d] * k[d]);
        s *= a->scale, error[j] = U * ((double)a->d + 2) * sizes * fabs(a->scale);
        if (a->softcap != 0) s = tanh(s / a->softcap) * a->softcap, error[j] += 8 * U * fabs(s);
        if (a->bias) s += ((const double *)a->bias)[a->from + j], error[j] += U * fabs(s);
        if (a->mask) s += ((const double *)a->mask)[a->from + j], error[j] += U * fabs(s);
        score[j] = s;
        if (s > top) top = s;
    }
    if (a->sink) total = exp(*(const double *)a->sink - top);
    for (int64_t j = 0; j < n; j++) {
        error[j] += score[j] > -INFINITY ? U * (top - score[j]) : 0;
        score[j] = exp(score[j] - top);
        total += score[j], mean += score[j] * error[j];
    }
    double chain = U * (SEGMENT_KEYS + 6 * ((double)n / SEGMENT_KEYS + 1) + 24);
    for (int64_t j = 0; j < n && total > 0; j++) {
        const double *v = (const double *)a->values + (a->from + j) * a->value_stride;
        double weight = score[j] / total * (error[j] + mean / total + chain);
        for (int64_t d = 0; weight > 0 && d < a->e; d++) y[d] += weight * fabs(v[d]);
    }
    free(score);
}

static void raw_bound(EvalContext *c, Node *n, int item, double *bound) {
    const OpInfo *info = &op_info[n->op];
    if (op_is_elementwise(n->op) || n->op == OP_elementwise) return elementwise_bound(c, n, bound);
    if (info->eval == op_info[OP_reduce_sum].eval) return reduce_bound(c, n, bound);
    switch (n->op) {
        case OP_softmax:
            softmax_bound(c, n, bound);
            break;
        case OP_matmul:
            matmul_bound(c, n, bound);
            break;
        case OP_matmul_packed:
        case OP_expert_matmul:
            packed_bound(c, n, bound);
            break;
        case OP_rms_normalization:
        case OP_layer_normalization:
        case OP_skip_rms_normalization:
        case OP_skip_layer_normalization:
            norm_bound(c, n, item, bound);
            break;
        case OP_rotary_embedding:
            rotary_bound(c, n, bound);
            break;
        case OP_key_products:
        case OP_key_sums:
            kept_bound(c, n, bound);
            break;
        case OP_attention:
            eval_attention_bound(c, n, bound);
            break;
        default:
            break;
    }
}

double *eval_bound(EvalContext *c, Node *n, const Tensor *const *operands, int item,
                   int64_t *count) {
    eval_alone(c, n, operands);
    Value y = c->out.items ? c->out.items[item] : c->out;
    DType dtype = n->type.dtype == DT_tuple ? n->items[item].dtype : n->type.dtype;
    *count = y.packed || dtype_is_rows(y.dtype) ? 0 : value_count(&y);
    double *bound = calloc((size_t)*count + 1, sizeof *bound);
    if (!bound) diag_fatal(NO_LOC, "out of memory (%lld bounds)", (long long)*count);
    if (!*count || !dtype_is_float(dtype)) return bound;
    raw_bound(c, n, item, bound);
    double last = dtype == DT_bf16 ? 0x1p-8 : dtype == DT_f16 ? 0x1p-11 : 0;
    const double *truth = value_dense(c, &y, DT_f64);
    for (int64_t i = 0; i < *count; i++)
        if (bound[i] > 0 || last > 0)
            bound[i] = SAFETY * bound[i] + last * fabs(truth[i]) + FLT_MIN;
    return bound;
}
