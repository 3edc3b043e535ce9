// Elementwise ops, one or a fused chain of them, with broadcasting: one loop for all ops and all
// dtypes.
//
// The result is computed in chunks of CHUNK elements. Operands are brought into the chunk
// (broadcast, converted to the type that is computed in: f32, f64 or i64), the formula is applied
// chunk by chunk, and the result is rounded to the result's dtype. Inside a fused chain every op
// rounds as if it were alone, so fusing does not change the numbers.
#include <string.h>

#include "ir/eval/eval_internal.h"
#include "kernels/plain.h"
#include "kernels/vec.h"

enum { CHUNK = 256 };

typedef enum { LANE_F32, LANE_F64, LANE_I64 } Lane;

typedef struct Chunk {
    // element type of the node's type; DT_COUNT: a constant that adopts the other operand's type
    DType dtype;
    Lane lane;
    union {
        float f[CHUNK];
        double d[CHUNK];
        int64_t i[CHUNK];
        uint64_t u[CHUNK];
    };
} Chunk;

// The context of a formula over a chunk.
typedef struct {
    EvalContext *context;
    const Value *args;  // broadcast to the result
    const DType *arg_dtypes;
    int64_t first, n;  // elements of the result
    int rank;
    const int64_t *dim;
    Chunk *scratch;  // one for each step of the formula
    int used;
} Span;

static Lane lane_of(const EvalContext *c, DType t) {
    if (!dtype_is_float(t)) return LANE_I64;
    return eval_real(c, t) == DT_f64 ? LANE_F64 : LANE_F32;
}

static DType dtype_of_lane(Lane l) {
    return l == LANE_F32 ? DT_f32 : l == LANE_F64 ? DT_f64 : DT_i64;
}

// ---------------------------------------------------------------------------------------- operands
// Elements first .. first + n of the result, from an operand that is broadcast to it.
static void load_chunk(const Span *s, const Value *v, Chunk *out) {
    DType wide = dtype_of_lane(out->lane);
    size_t size = (size_t)dtype_bits(wide) / 8;
    int64_t inner = s->rank ? s->dim[s->rank - 1] : 1;
    bool dense = value_is_dense(v);
    for (int64_t done = 0; done < s->n;) {
        int64_t rest = s->first + done, column = rest % inner, at = v->offset,
                run = dense ? s->n : inner - column;
        if (run > s->n - done) run = s->n - done;
        for (int i = s->rank; i-- > 0; rest /= s->dim[i]) at += rest % s->dim[i] * v->stride[i];
        Value part = {.dtype = v->dtype, .rank = 1, .dim = {run}, .offset = at, .data = v->data};
        part.stride[0] = dense ? 1 : v->stride[s->rank - 1];
        value_copy(wide, (char *)out->f + (size_t)done * size, &part);
        done += run;
    }
}

// --------------------------------------------------------------------------------------- functions
// clang-format off
#define INTEGER_UNARY(X) X(neg) X(abs) X(relu) X(floor) X(ceil) X(round)
#define INTEGER_BINARY(X)                                                                     \
    X(add) X(sub) X(mul) X(div) X(mod) X(fmod) X(pow) X(min) X(max)                           \
    X(bit_and) X(bit_or) X(bit_xor) X(shift_left) X(shift_right)
#define UNSIGNED_BINARY(X) X(div) X(mod) X(fmod) X(min) X(max) X(shift_right)
// clang-format on

static bool in_f32(Op op, float *y, const float *a, const float *b) {
    switch (op) {
#define UNARY(how, name, exact, off)                                                       \
    case OP_##name:                                                                        \
        for (int i = 0; i < CHUNK; i += LANES) vf_store(y + i, vf_##name(vf_load(a + i))); \
        return true;
#define BINARY(how, name, exact, off)                                   \
    case OP_##name:                                                     \
        for (int i = 0; i < CHUNK; i += LANES)                          \
            vf_store(y + i, vf_##name(vf_load(a + i), vf_load(b + i))); \
        return true;
#include "kernels/functions.h"
        default:
            return false;
    }
}

static bool in_f64(Op op, double *y, const double *a, const double *b) {
    switch (op) {
#define UNARY(how, name, exact, off)                            \
    case OP_##name:                                             \
        for (int i = 0; i < CHUNK; i++) y[i] = sd_##name(a[i]); \
        return true;
#define BINARY(how, name, exact, off)                                 \
    case OP_##name:                                                   \
        for (int i = 0; i < CHUNK; i++) y[i] = sd_##name(a[i], b[i]); \
        return true;
#include "kernels/functions.h"
        default:
            return false;
    }
}

// Sums and products wrap (they are taken in unsigned arithmetic), and narrow to the dtype
// afterwards.
static int64_t in_i64(Op op, int64_t a, int64_t b) {
    switch (op) {
#define X(name)     \
    case OP_##name: \
        return sl_##name(a);
        INTEGER_UNARY(X)
#undef X
#define X(name)     \
    case OP_##name: \
        return sl_##name(a, b);
        INTEGER_BINARY(X)
#undef X
        case OP_not:
            return !a;
        case OP_and:
            return a && b;
        case OP_or:
            return a || b;
        default:
            diag_fatal(NO_LOC, "%s of integers is not defined", op_info[op].name);
    }
}

// u64 where the sign bit is part of the number.
static int64_t in_u64(Op op, int64_t a, int64_t b) {
    switch (op) {
#define X(name)     \
    case OP_##name: \
        return su_##name(a, b);
        UNSIGNED_BINARY(X)
#undef X
        case OP_relu:
        case OP_abs:
            return a;
        default:
            return in_i64(op, a, b);
    }
}

#define COMPARE_LANES(field)                                                      \
    switch (op) {                                                                 \
        case OP_less:                                                             \
            for (int i = 0; i < CHUNK; i++) y->i[i] = a->field[i] < b->field[i];  \
            break;                                                                \
        case OP_less_or_equal:                                                    \
            for (int i = 0; i < CHUNK; i++) y->i[i] = a->field[i] <= b->field[i]; \
            break;                                                                \
        case OP_greater:                                                          \
            for (int i = 0; i < CHUNK; i++) y->i[i] = a->field[i] > b->field[i];  \
            break;                                                                \
        case OP_greater_or_equal:                                                 \
            for (int i = 0; i < CHUNK; i++) y->i[i] = a->field[i] >= b->field[i]; \
            break;                                                                \
        default:                                                                  \
            for (int i = 0; i < CHUNK; i++) y->i[i] = a->field[i] == b->field[i]; \
    }

static void compare(Op op, Chunk *y, const Chunk *a, const Chunk *b) {
    if (a->lane == LANE_F32) {
        COMPARE_LANES(f)
    } else if (a->lane == LANE_F64) {
        COMPARE_LANES(d)
    } else if (a->dtype == DT_u64) {
        COMPARE_LANES(u)
    } else {
        COMPARE_LANES(i)
    }
}

// ---------------------------------------------------------------------------------------- formulas
// Rounds floats of 16 and 8 bits and wraps integers, as storing the value would.
static void settle(Chunk *y, DType dtype) {
    y->dtype = dtype;
    uint8_t stored[CHUNK * 8];
    bool same = dtype == DT_f32 || dtype == DT_f64 || dtype == DT_i64 || dtype == DT_u64 ||
                dtype == DT_bool;
    if (same || (y->lane == LANE_F64 && dtype_bits(dtype) >= 32)) return;
    convert_elements(dtype, stored, dtype_of_lane(y->lane), y->f, CHUNK);
    convert_elements(dtype_of_lane(y->lane), y->f, dtype, stored, CHUNK);
}

// A constant adopts the type of the other operand.
static void adopt(const EvalContext *c, Chunk *x, DType dtype) {
    if (x->dtype != DT_COUNT) return;
    double value = x->d[0];
    x->lane = lane_of(c, dtype);
    for (int i = 0; i < CHUNK; i++) dtype_store(dtype_of_lane(x->lane), x->f, i, value);
    settle(x, dtype);
}

static void select(Chunk *y, const Chunk *condition, const Chunk *a, const Chunk *b) {
    y->lane = a->lane;
    size_t size = a->lane == LANE_F32 ? 4 : 8;
    for (int i = 0; i < CHUNK; i++)
        memcpy((char *)y->f + (size_t)i * size,
               (const char *)(condition->i[i] ? a : b)->f + (size_t)i * size, size);
    y->dtype = a->dtype;
}

static void apply(const EvalContext *c, Op op, Chunk *y, Chunk *in, int n) {
    DType dtype = DT_COUNT;
    for (int i = op == OP_where; i < n; i++)
        if (in[i].dtype != DT_COUNT) dtype = in[i].dtype;
    if (dtype == DT_COUNT) dtype = DT_f32;
    for (int i = op == OP_where; i < n; i++) adopt(c, &in[i], dtype);
    if (op == OP_where) {
        adopt(c, &in[0], DT_bool);
        select(y, &in[0], &in[1], &in[2]);
        return;
    }
    y->lane = op_is_comparison(op) ? LANE_I64 : in[0].lane;
    if (op_is_comparison(op)) {
        compare(op, y, &in[0], &in[1]);
        y->dtype = DT_bool;
        return;
    }
    const Chunk *b = &in[n - 1];
    bool done = y->lane == LANE_F32   ? in_f32(op, y->f, in[0].f, b->f)
                : y->lane == LANE_F64 ? in_f64(op, y->d, in[0].d, b->d)
                                      : false;
    if (!done && y->lane != LANE_I64)
        diag_fatal(NO_LOC, "%s of floats is not defined", op_info[op].name);
    for (int i = 0; !done && i < CHUNK; i++)
        y->i[i] =
            dtype == DT_u64 ? in_u64(op, in[0].i[i], b->i[i]) : in_i64(op, in[0].i[i], b->i[i]);
    bool rounds = !(c->mode == EVAL_F64 && dtype_is_float(dtype));
    if (rounds)
        settle(y, dtype);
    else
        y->dtype = dtype;
}

static int expr_size(const Expr *e) {
    int n = 1;
    for (int i = 0; i < e->n; i++) n += expr_size(e->in[i]);
    return n;
}

static void evaluate(Span *s, const Expr *e, Chunk *y) {
    if (e->kind == EXPR_CONST) {
        y->dtype = DT_COUNT;
        y->d[0] = e->value;
    } else if (e->kind == EXPR_ARG) {
        y->dtype = s->arg_dtypes[e->arg];
        y->lane = lane_of(s->context, y->dtype);
        load_chunk(s, &s->args[e->arg], y);
    } else {
        Chunk *in = s->scratch + s->used;
        s->used += e->n;
        for (int i = 0; i < e->n; i++) evaluate(s, e->in[i], &in[i]);
        apply(s->context, e->op, y, in, e->n);
    }
}

void eval_formula(EvalContext *c, const Expr *e, const Value *const *args, DType dtype,
                  Value *out) {
    int n = expr_max_arg(e) + 1;
    Value *broadcast = ARENA_ARRAY(c->arena, Value, n);
    DType *dtypes = ARENA_ARRAY(c->arena, DType, n);
    for (int i = 0; i < n; i++) {
        broadcast[i] = value_broadcast(args[i], out->rank, out->dim);
        dtypes[i] = args[i]->dtype;
    }
    Span s = {
        .context = c, .args = broadcast, .arg_dtypes = dtypes, .rank = out->rank, .dim = out->dim};
    s.scratch = ARENA_ARRAY(c->arena, Chunk, expr_size(e));
    char *to = value_out(out);
    for (int64_t count = value_count(out); s.first < count; s.first += CHUNK) {
        s.used = 1;
        s.n = count - s.first < CHUNK ? count - s.first : CHUNK;
        evaluate(&s, e, s.scratch);
        adopt(c, s.scratch, dtype);
        convert_elements(out->dtype, to + s.first * (dtype_bits(out->dtype) / 8),
                         dtype_of_lane(s.scratch->lane), s.scratch->f, s.n);
    }
}

void eval_elementwise(EvalContext *c, Node *n) {
    const Expr *e = attr_expr(n, "expr");
    const Value **in = c->in;
    if (n->op != OP_elementwise) {
        const Expr *args[3];
        for (int i = 0; i < n->n_in; i++) args[i] = expr_arg(c->arena, i);
        e = expr_op(c->arena, n->op, n->n_in, args);
    }
    eval_formula(c, e, in, n->type.dtype, eval_result(c, n));
}
