// Loop nests over element types without vectors (i64, u32, f64 ...) and integer arithmetic without
// vector form: one element at a time, in C's own types.
//
//   // %y = add(%a, %b) : i64[R, 4]
//   for (int i1 = 0; i1 < 4; i1++) {
//       y[...] = ((int64_t)(sl_add((int64_t)a0[...], (int64_t)a1[...])));
//
// A value is computed as float (f32, f16, bf16), double (f64) or int64_t (integers, bool), and
// rounded to its type after every op, as the interpreter does (ir/eval/eval_elementwise.c).
#include <math.h>
#include <string.h>

#include "codegen/nest.h"

typedef enum { LANE_FLOAT, LANE_DOUBLE, LANE_INTEGER } Lane;

static Lane lane_of(DType t) {
    return t == DT_f64 ? LANE_DOUBLE : dtype_is_float(t) ? LANE_FLOAT : LANE_INTEGER;
}

static bool is_unsigned(DType t) { return t == DT_u8 || t == DT_u16 || t == DT_u32 || t == DT_u64; }

static bool is_small(DType t) {
    return t == DT_f8e4m3fn || t == DT_f8e4m3fnuz || t == DT_f8e5m2 || t == DT_f8e5m2fnuz;
}

static bool is_packed(DType t) { return dtype_bits(t) > 0 && dtype_bits(t) < 8; }

static bool has_plain_code(DType t) {
    return is_small(t) || is_packed(t) || (dtype_bits(t) >= 16 && dtype_is_float(t)) ||
           (dtype_bits(t) >= 8 && !dtype_is_float(t) && t < DT_string);
}

// -------------------------------------------------------------------------------- loads and stores
void nest_plain_check(const Kernel *k, DType t) {
    if (!has_plain_code(t))
        diag_fatal(k->loc, "%s: no code is generated for elements of type %s", op_info[k->op].name,
                   dtype_name(t));
}

// "(ptrdiff_t)i0 * 3 + i1": which element of memory, where no pointer names it
static void write_index(Text *t, const Program *p, const Kernel *k, const View *v, NestIndex at) {
    int64_t offset;
    if (!dim_is_const(v->offset, &offset) || offset)
        diag_fatal(k->loc, "%s: no code is generated for parts of tensors of type %s",
                   op_info[k->op].name, dtype_name(v->type.dtype));
    nest_offset(t, p, v, at);
}

static void load_packed(Text *t, const Program *p, const Kernel *k, int i, NestIndex at) {
    DType type = k->in[i].type.dtype;
    const char *load = type == DT_i4 || type == DT_i2 ? "signed_load" : "bits_load";
    text_add(t, "%s%s(a%d, ", dtype_is_float(type) ? "sf_from_f4e2m1((uint8_t)" : "(int64_t)(",
             load, i);
    write_index(t, p, k, &k->in[i], at), text_add(t, ", %d))", dtype_bits(type));
}

void nest_plain_load(Text *t, const Program *p, const View *v, int i, NestIndex at) {
    char base[16];
    DType type = v->type.dtype;
    snprintf(base, sizeof base, "a%d", i);
    if (v->base == BASE_SCALAR) {
        if (lane_of(type) == LANE_INTEGER)
            text_add(t, "INT64_C(%lld)", (long long)v->scalar);
        else
            text_add(t, "(%s)", lane_of(type) == LANE_DOUBLE ? "double" : "float"),
                c_float(t, v->scalar);
        return;
    }
    bool converted = is_small(type) || type == DT_f16 || type == DT_bf16;
    if (converted)
        text_add(t, "sf_from_%s(", dtype_name(type));
    else if (lane_of(type) == LANE_INTEGER && type != DT_i64)
        text_add(t, "(int64_t)");
    nest_element(t, p, v, base, at), text_add(t, converted ? ")" : "");
}

// Opening words that turn a value of `from` into the stored form of `to`, closed by *closing.
void nest_plain_convert(Text *t, DType from, DType to, const char **closing) {
    bool from_integer = lane_of(from) == LANE_INTEGER, to_integer = lane_of(to) == LANE_INTEGER;
    const char *real = from == DT_u64 ? "sd_from_u64(" : "(double)(";
    *closing = "))";
    if (to == from && lane_of(to) != LANE_INTEGER && dtype_bits(to) >= 32) {
        *closing = "";
    } else if (to == DT_bool) {
        text_add(t, "((");
        *closing = ") != 0)";
    } else if (to_integer && from_integer) {
        text_add(t, "((%s)(", c_type(to));
    } else if (to_integer) {
        text_add(t, "(%s)(sl_from_real((double)(", c_type(to));
        *closing = dtype_bits(to) == 64   ? is_unsigned(to) ? "), 64, true))" : "), 64, false))"
                   : dtype_bits(to) == 32 ? is_unsigned(to) ? "), 32, true))" : "), 32, false))"
                   : dtype_bits(to) == 16 ? is_unsigned(to) ? "), 16, true))" : "), 16, false))"
                   : is_unsigned(to)      ? "), 8, true))"
                                          : "), 8, false))";
    } else if (is_small(to)) {
        text_add(t, "%s_from_float(sf_rounded_to_odd(%s", dtype_name(to), real);
        *closing = ")))";
    } else if (to == DT_f16 || to == DT_bf16) {
        text_add(t, "%s_from_real(%s", dtype_name(to), real);
    } else {
        text_add(t, to == DT_f32 ? "((float)%s" : "(%s", real);
    }
}

static void write_store_open(Text *t, const Program *p, const Kernel *k, int depth) {
    const View *out = &k->out[0];
    nest_indent(t, depth), nest_element(t, p, out, "y", nest_index(&out->type, out->type.rank)),
        text_add(t, " = ");
}

// ---------------------------------------------------------------------------------------- formulas
typedef struct Plain {
    const Program *p;
    const Kernel *k;
    NestIndex at;
} Plain;

// The operand type of an op: DT_COUNT if all operands are constants, which adopt the type of the
// other operand.
static DType operand_type(const Plain *w, const Expr *e);

static DType expr_type(const Plain *w, const Expr *e) {
    if (e->kind == EXPR_ARG) return w->k->in[e->arg].type.dtype;
    if (e->kind == EXPR_CONST) return DT_COUNT;
    return op_is_comparison(e->op) ? DT_bool : operand_type(w, e);
}

static DType operand_type(const Plain *w, const Expr *e) {
    DType type = DT_COUNT;
    for (int i = e->op == OP_where; i < e->n; i++) {
        DType t = expr_type(w, e->in[i]);
        if (t != DT_COUNT) type = t;
    }
    return type == DT_COUNT ? DT_f32 : type;
}

static void write_expr(Text *t, const Plain *w, const Expr *e, DType type);

static void write_constant(Text *t, double value, DType type) {
    if (type == DT_bool)
        text_add(t, "%d", value != 0);
    else if (lane_of(type) == LANE_INTEGER)
        text_add(t, "INT64_C(%lld)",
                 value <= -0x1p63  ? -(long long)INT64_MAX
                 : value >= 0x1p63 ? (long long)INT64_MAX
                                   : (long long)value);
    else if (lane_of(type) == LANE_DOUBLE && isfinite(value))
        text_add(t, "%a", value);
    else
        text_add(t, "(%s)", lane_of(type) == LANE_DOUBLE ? "double" : "float"), c_float(t, value);
}

static void write_call(Text *t, const Plain *w, const Expr *e, DType type) {
    static const Op of_unsigned[] = {OP_div, OP_mod,         OP_fmod, OP_min,
                                     OP_max, OP_shift_right, OP_relu, OP_abs};
    const char *prefix = lane_of(type) == LANE_DOUBLE  ? "sd"
                         : lane_of(type) == LANE_FLOAT ? "sf"
                                                       : "sl";
    for (size_t i = 0; type == DT_u64 && i < sizeof of_unsigned / sizeof *of_unsigned; i++)
        if (of_unsigned[i] == e->op) prefix = "su";
    text_add(t, "%s_%s(", prefix,
             lane_of(type) == LANE_INTEGER ? op_info[e->op].name : op_info[e->op].scalar);
    for (int i = 0; i < e->n; i++) text_add(t, i ? ", " : ""), write_expr(t, w, e->in[i], type);
    text_add(t, ")");
}

static void write_comparison(Text *t, const Plain *w, const Expr *e, DType type) {
    const char *sign = e->op == OP_less            ? "<"
                       : e->op == OP_less_or_equal ? "<="
                       : e->op == OP_greater       ? ">"
                       : e->op == OP_equal         ? "=="
                                                   : ">=";
    const char *as = type == DT_u64 ? "(uint64_t)" : "";
    text_add(t, "(%s", as), write_expr(t, w, e->in[0], type), text_add(t, " %s %s", sign, as);
    write_expr(t, w, e->in[1], type), text_add(t, ")");
}

static void write_logical(Text *t, const Plain *w, const Expr *e) {
    text_add(t, e->op == OP_not ? "(!" : "("), write_expr(t, w, e->in[0], DT_bool);
    if (e->n > 1)
        text_add(t, e->op == OP_and ? " && " : " || "), write_expr(t, w, e->in[1], DT_bool);
    text_add(t, ")");
}

// The result of an op, rounded or wrapped to its type.
static void write_settled(Text *t, const Plain *w, const Expr *e, DType type) {
    const char *closing = "";
    if (type == DT_f16 || type == DT_bf16 || is_small(type)) {
        text_add(t, "sf_from_%s(%s_from_float(", dtype_name(type), dtype_name(type));
        closing = "))";
    } else if (lane_of(type) == LANE_INTEGER && dtype_bits(type) < 64 && type != DT_bool) {
        text_add(t, "(int64_t)(%s)(", c_type(type));
        closing = ")";
    }
    write_call(t, w, e, type), text_add(t, "%s", closing);
}

// The value of `e`, in the lane of `type`, which a constant takes.
static void write_expr(Text *t, const Plain *w, const Expr *e, DType type) {
    if (e->kind == EXPR_CONST) {
        write_constant(t, e->value, type);
    } else if (e->kind == EXPR_ARG && is_packed(w->k->in[e->arg].type.dtype) &&
               w->k->in[e->arg].base != BASE_SCALAR) {
        load_packed(t, w->p, w->k, e->arg, w->at);
    } else if (e->kind == EXPR_ARG) {
        nest_plain_load(t, w->p, &w->k->in[e->arg], e->arg, w->at);
    } else if (op_is_comparison(e->op)) {
        write_comparison(t, w, e, operand_type(w, e));
    } else if (op_is_logical(e->op)) {
        write_logical(t, w, e);
    } else if (e->op == OP_where) {
        text_add(t, "("), write_expr(t, w, e->in[0], DT_bool), text_add(t, " ? "),
            write_expr(t, w, e->in[1], type);
        text_add(t, " : "), write_expr(t, w, e->in[2], type), text_add(t, ")");
    } else {
        write_settled(t, w, e, type);
    }
}

// --------------------------------------------------------------------------------------- pointwise
static bool needs_plain(const Kernel *k, const Expr *e) {
    static const Op not_in_vectors[] = {OP_pow,        OP_fmod,       OP_floor,  OP_ceil,
                                        OP_round,      OP_bit_and,    OP_bit_or, OP_bit_xor,
                                        OP_shift_left, OP_shift_right};
    Plain w = {.k = k};
    if (e->kind != EXPR_OP) return false;
    bool integer = lane_of(operand_type(&w, e)) == LANE_INTEGER;
    for (size_t i = 0; integer && i < sizeof not_in_vectors / sizeof *not_in_vectors; i++)
        if (not_in_vectors[i] == e->op) return true;
    for (int i = 0; i < e->n; i++)
        if (needs_plain(k, e->in[i])) return true;
    return false;
}

// Several ops in a row, each of which rounds to 16 bits.
static bool rounds_between(const Kernel *k, const Expr *e) {
    bool nested = false;
    for (int i = 0; e->kind == EXPR_OP && i < e->n; i++) nested |= e->in[i]->kind == EXPR_OP;
    for (int i = 0; nested && i < k->n_in; i++)
        if (k->in[i].type.dtype == DT_f16 || k->in[i].type.dtype == DT_bf16) return true;
    return false;
}

bool nest_is_plain(const Kernel *k, const Expr *e) {
    for (int i = 0; i < k->n_in; i++)
        if (!nest_in_vectors(k->in[i].type.dtype)) return true;
    return !nest_in_vectors(k->out[0].type.dtype) || needs_plain(k, e) || rounds_between(k, e);
}

// bits_clear_rest(y, 15, 4): no bits of earlier values in the last byte
static void write_last_bits(Text *t, const Program *p, const Type *type) {
    const Dim *count = type_count(p->graph, type);
    if (dim_divides(p->graph, dim_const(p->graph, 8 / dtype_bits(type->dtype)), count)) return;
    text_add(t, "    bits_clear_rest(y, "), c_dim(t, p, count);
    text_add(t, ", %d);\n", dtype_bits(type->dtype));
}

void write_plain(Text *t, const Program *p, const Kernel *k, const Expr *e) {
    Plain w = {p, k, nest_index(&k->out[0].type, k->out[0].type.rank)};
    DType to = k->out[0].type.dtype, type = expr_type(&w, e);
    const char *closing;
    if (type == DT_COUNT) type = to;
    for (int i = 0; i < k->n_in; i++) nest_plain_check(k, k->in[i].type.dtype);
    nest_plain_check(k, to);
    int depth = nest_open(t, p, k, k->out[0].type.rank);
    if (is_packed(to)) {
        nest_indent(t, depth), text_add(t, "bits_store(y, "),
            write_index(t, p, k, &k->out[0], w.at);
        text_add(t, ", %d, ", dtype_bits(to));
        const char *open = dtype_is_float(to) ? "f4e2m1_from_float(sf_rounded_to_odd((double)("
                                              : "sl_from_real((double)(";
        bool integer = lane_of(type) == LANE_INTEGER && !dtype_is_float(to);
        text_add(t, "%s", integer ? "(" : open), write_expr(t, &w, e, type);
        text_add(t, "%s);\n", integer ? ")" : dtype_is_float(to) ? ")))" : "), 64, false)");
        nest_close(t, depth);
        write_last_bits(t, p, &k->out[0].type);
        return;
    }
    write_store_open(t, p, k, depth);
    if (is_small(to) && !kernel_int(k, "saturate", 1)) {  // a cast from a float
        text_add(t, "%s_overflowing(sf_rounded_to_odd((double)(", dtype_name(to));
        closing = ")))";
    } else {
        nest_plain_convert(t, type, to, &closing);
    }
    write_expr(t, &w, e, type);
    text_add(t, "%s;\n", closing);
    nest_close(t, depth);
}

// -------------------------------------------------------------------------------------- reductions
// One chain over all reduced axes: exact for integers; f64 is outside of the contract.
void write_plain_reduce(Text *t, const Program *p, const Kernel *k, const PlainReduction *r) {
    DType type = k->in[0].type.dtype;
    bool integer = lane_of(type) == LANE_INTEGER;
    const char *c = integer ? "int64_t" : "double", *prefix = integer ? "sl" : "sd", *closing;
    static const struct {
        Op op;
        const char *function, *integer, *real;
    } ops[] = {{OP_reduce_sum, "add", "0", "0"},
               {OP_reduce_mean, "add", "0", "0"},
               {OP_reduce_prod, "mul", "1", "1"},
               {OP_reduce_max, "max", NULL, "-INFINITY"},
               {OP_reduce_min, "min", NULL, "INFINITY"}};
    size_t which = 0;
    while (ops[which].op != k->op) which++;
    nest_plain_check(k, type);
    int64_t limit = integer ? dtype_limit(type, k->op == OP_reduce_min) : 0;
    bool shifted = limit == INT64_MIN;  // which C has no literal of
    nest_indent(t, r->depth), text_add(t, "%s total = ", c);
    if (integer && !ops[which].integer)
        text_add(t, "INT64_C(%lld)%s;\n", (long long)(limit + shifted), shifted ? " - 1" : "");
    else
        text_add(t, "%s;\n", integer ? ops[which].integer : ops[which].real);
    int inside = r->depth;
    for (int i = 0; i < k->in[0].type.rank; i++)
        if (r->reduced[i]) inside = nest_loop(t, p, r->at.index[i], k->in[0].type.dim[i], inside);
    nest_indent(t, inside), text_add(t, "total = %s_%s(total, ", prefix, ops[which].function);
    nest_plain_load(t, p, &k->in[0], 0, r->at), text_add(t, ");\n");
    while (inside > r->depth) nest_indent(t, --inside), text_add(t, "}\n");
    if (k->op == OP_reduce_mean)
        nest_indent(t, r->depth), text_add(t, "total = %s_div(total, ", prefix),
            c_dim(t, p, r->count), text_add(t, ");\n");
    write_store_open(t, p, k, r->depth);
    nest_plain_convert(t, integer ? DT_i64 : DT_f64, k->out[0].type.dtype, &closing);
    text_add(t, "total%s;\n", closing);
}

// ------------------------------------------------------------------------------------------ matmul
// Indices of the operands: batch axes of the result, then its row and k, or k and its column. A
// vector has k alone.
static void matmul_indices(const Kernel *k, NestIndex *a, NestIndex *b) {
    const Type *x = &k->in[0].type, *w = &k->in[1].type, *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank);
    int columns = w->rank > 1, rows = x->rank > 1, batch = type->rank - columns - rows;
    *a = nest_index(x, x->rank), *b = nest_index(w, w->rank);
    for (int i = 0; i + 2 < x->rank; i++) a->index[i] = at.index[batch - (x->rank - 2) + i];
    for (int i = 0; i + 2 < w->rank; i++) b->index[i] = at.index[batch - (w->rank - 2) + i];
    if (rows) a->index[x->rank - 2] = at.index[batch];
    a->index[x->rank - 1] = "k";
    b->index[columns ? w->rank - 2 : 0] = "k";
    if (columns) b->index[w->rank - 1] = at.index[type->rank - 1];
}

// One chain over ascending k for each element: of fma in f32 (16-bit floats too), of products and
// sums in f64 and integers.
void write_plain_matmul(Text *t, const Program *p, const Kernel *k) {
    const Type *x = &k->in[0].type, *type = &k->out[0].type;
    Lane lane = lane_of(type->dtype);
    NestIndex a, b;
    const char *closing, *c = lane == LANE_INTEGER  ? "int64_t"
                              : lane == LANE_DOUBLE ? "double"
                                                    : "float";
    nest_plain_check(k, type->dtype);
    matmul_indices(k, &a, &b);
    int depth = nest_open(t, p, k, type->rank);
    nest_indent(t, depth), text_add(t, "%s sum = 0;\n", c);
    nest_indent(t, depth), text_add(t, "for (int k = 0; k < "), c_dim(t, p, x->dim[x->rank - 1]),
        text_add(t, "; k++)\n");
    nest_indent(t, depth + 1);
    text_add(t, lane == LANE_FLOAT    ? "sum = sf_fma("
                : lane == LANE_DOUBLE ? "sum += "
                                      : "sum = sl_add(sum, sl_mul(");
    nest_plain_load(t, p, &k->in[0], 0, a), text_add(t, lane == LANE_DOUBLE ? " * " : ", ");
    nest_plain_load(t, p, &k->in[1], 1, b);
    text_add(t, lane == LANE_FLOAT ? ", sum);\n" : lane == LANE_DOUBLE ? ";\n" : "));\n");
    write_store_open(t, p, k, depth);
    nest_plain_convert(t,
                       lane == LANE_INTEGER  ? DT_i64
                       : lane == LANE_DOUBLE ? DT_f64
                                             : DT_f32,
                       type->dtype, &closing);
    text_add(t, "sum%s;\n", closing);
    nest_close(t, depth);
}
