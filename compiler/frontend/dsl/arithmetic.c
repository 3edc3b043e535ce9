// Operators on compile-time values. Integers are exact: overflow is an error, 6 / 3 is 2, and 5 / 2
// is 2.5. Dimensions that are known only when the program runs join in as expressions. An integer
// remembers the parameters it came from (Origin).
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "frontend/dsl/elaborate.h"

// ----------------------------------------------------------------------------------------- origins
const Origin *origin_new(Elaborator *e, AstKind op, const Origin *a, const Origin *b) {
    Origin *o = ARENA_NEW(e->arena, Origin);
    *o = (Origin){.op = op, .a = a, .b = b};
    return o;
}

const Origin *origin_of(Elaborator *e, Value v) {
    if (v.origin) return v.origin;
    Origin *o = ARENA_NEW(e->arena, Origin);
    *o = (Origin){.op = AST_INT, .value = v.i};
    return o;
}

static Value with_origin(Elaborator *e, Value result, AstKind op, Value a, Value b) {
    if (result.kind == V_INT && (a.origin || b.origin))
        result.origin = origin_new(e, op, origin_of(e, a), origin_of(e, b));
    return result;
}

// ---------------------------------------------------------------------------------------- integers
static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b && (a < 0) != (b < 0)); }

static bool int_power(int64_t base, int64_t exponent, int64_t *result) {
    *result = 1;
    if (exponent < 0) return false;
    if (base == 0 || base == 1) return *result = exponent ? base : 1, true;
    if (base == -1) return *result = exponent % 2 ? -1 : 1, true;
    for (; exponent; exponent--)
        if (__builtin_mul_overflow(*result, base, result)) return false;
    return true;
}

bool int_operation(AstKind op, int64_t a, int64_t b, int64_t *result) {
    *result = 0;
    bool divides = op == AST_DIV || op == AST_FLOORDIV || op == AST_MOD;
    if (divides && (b == 0 || (b == -1 && a == INT64_MIN))) return false;
    switch (op) {
        case AST_ADD:
            return !__builtin_add_overflow(a, b, result);
        case AST_SUB:
            return !__builtin_sub_overflow(a, b, result);
        case AST_MUL:
            return !__builtin_mul_overflow(a, b, result);
        case AST_DIV:
            return *result = a / b, a % b == 0;
        case AST_FLOORDIV:
            return *result = floor_divide(a, b), true;
        case AST_MOD:
            return *result = a - floor_divide(a, b) * b, true;
        case AST_POWER:
            return int_power(a, b, result);
        default:
            return false;
    }
}

static double float_operation(AstKind op, double a, double b) {
    switch (op) {
        case AST_ADD:
            return a + b;
        case AST_SUB:
            return a - b;
        case AST_MUL:
            return a * b;
        case AST_DIV:
            return a / b;
        case AST_FLOORDIV:
            return floor(a / b);
        case AST_MOD:
            return a - floor(a / b) * b;
        default:
            return pow(a, b);
    }
}

enum { MAX_ORIGIN_DEPTH = 12 };

// The parameter that is 0 among those that the number comes from.
static const Declaration *zero_parameter(const Origin *o, int depth) {
    if (!o || depth > MAX_ORIGIN_DEPTH) return NULL;
    if (o->op == AST_CONFIG) return o->value ? NULL : o->config;
    const Declaration *d = zero_parameter(o->a, depth + 1);
    return d ? d : zero_parameter(o->b, depth + 1);
}

static Value division_by_zero(Elaborator *e, Loc at, Value b) {
    const Declaration *d = b.kind == V_INT ? zero_parameter(b.origin, 0) : NULL;
    const char *hint = d ? arena_message(e->arena, "\nhint: %s is 0 in %s",
                                         config_called(e, d->ast->name), config_file(e))
                         : "";
    return report(e, at, "division by zero%-s", hint);
}

static Value number_operation(Elaborator *e, const Ast *x, Value a, Value b) {
    bool divides = x->kind == AST_DIV || x->kind == AST_FLOORDIV || x->kind == AST_MOD;
    if (divides && value_number(b) == 0) return division_by_zero(e, x->loc, b);
    int64_t result;
    bool ints = a.kind == V_INT && b.kind == V_INT;
    if (ints && int_operation(x->kind, a.i, b.i, &result))
        return with_origin(e, VALUE_INT(result), x->kind, a, b);
    bool inexact = x->kind == AST_DIV || (x->kind == AST_POWER && b.kind == V_INT && b.i < 0);
    if (ints && !inexact) return report(e, x->loc, "the result is too large for an integer");
    return VALUE_FLOAT(float_operation(x->kind, value_number(a), value_number(b)));
}

// -------------------------------------------------------------------------------------- dimensions
static Value dim_operation(Elaborator *e, const Ast *x, Value a, Value b) {
    const Dim *p = want_dim(e, a, x->loc, "the left operand"),
              *q = p ? want_dim(e, b, x->loc, "the right operand") : NULL;
    if (!p || !q) return VALUE(V_ERROR);
    bool divides = x->kind == AST_DIV || x->kind == AST_FLOORDIV || x->kind == AST_MOD;
    if (divides && (b.kind != V_INT || b.i == 0))
        return report(e, x->loc, "a dimension can only be divided by an integer other than 0");
    if (x->kind == AST_DIV && !dim_divides(e->graph, q, p))
        return report(e, x->loc,
                      "%s does not always divide by %s\nhint: // divides and rounds down",
                      value_text(e, a), value_text(e, b));
    DimKind kind = x->kind == AST_MUL   ? DIM_MUL
                   : x->kind == AST_MOD ? DIM_MOD
                   : divides            ? DIM_FLOORDIV
                                        : DIM_ADD;
    if (x->kind == AST_POWER) return report(e, x->loc, "a dimension has no powers");
    if (x->kind == AST_SUB) q = dim_binary(e->graph, DIM_MUL, q, dim_const(e->graph, -1));
    return value_of_dim(dim_binary(e->graph, kind, p, q));
}

// ------------------------------------------------------------------------------- lists and strings
static Value join(Elaborator *e, const Ast *x, Value a, Value b) {
    if (a.kind == V_STRING) {
        size_t n = strlen(a.s) + strlen(b.s);
        if (n > MAX_LIST) return report(e, x->loc, "this string is too long");
        spend(e, x->loc, n);
        return VALUE_STRING(arena_printf(e->arena, "%s%s", a.s, b.s));
    }
    int64_t n = (int64_t)a.list.n + b.list.n;
    if (n > MAX_LIST) return report(e, x->loc, "a list of %lld elements is too long", (long long)n);
    Value *items = ARENA_ARRAY(e->arena, Value, n);
    if (a.list.n) memcpy(items, a.list.items, (size_t)a.list.n * sizeof *items);
    if (b.list.n) memcpy(items + a.list.n, b.list.items, (size_t)b.list.n * sizeof *items);
    return list_of(e, x->loc, items, (int)n);
}

static const char *operator_text(AstKind op) {
    static const char *const texts[] = {
        [AST_ADD] = "+",       [AST_SUB] = "-", [AST_MUL] = "*",    [AST_DIV] = "/",
        [AST_FLOORDIV] = "//", [AST_MOD] = "%", [AST_MATMUL] = "@", [AST_POWER] = "^",
        [AST_EQ] = "==",       [AST_NE] = "!=", [AST_LT] = "<",     [AST_LE] = "<=",
        [AST_GT] = ">",        [AST_GE] = ">=", [AST_IN] = "in"};
    return texts[op];
}

static Value cannot(Elaborator *e, const Ast *x, Value a, Value b) {
    if (a.kind == V_ERROR || b.kind == V_ERROR) return VALUE(V_ERROR);
    const char *null = a.kind == V_NULL ? a.path : b.kind == V_NULL ? b.path : NULL;
    const char *hint = null ? arena_message(e->arena, "\nnote: \"%s\" is null or absent in %s",
                                            config_called(e, null), config_file(e))
                            : "";
    return report(e, x->loc, "%s cannot take %s and %s%-s", operator_text(x->kind),
                  value_kind_name(a.kind), value_kind_name(b.kind), hint);
}

Value arithmetic(Elaborator *e, const Ast *x, Value a, Value b) {
    bool a_number = value_is_number(a), b_number = value_is_number(b);
    if (a_number && b_number) return number_operation(e, x, a, b);
    if ((a.kind == V_DIM && (b.kind == V_DIM || b.kind == V_INT)) ||
        (b.kind == V_DIM && a.kind == V_INT))
        return dim_operation(e, x, a, b);
    if (x->kind == AST_ADD && a.kind == b.kind && (a.kind == V_STRING || a.kind == V_LIST))
        return join(e, x, a, b);
    return cannot(e, x, a, b);
}

// ------------------------------------------------------------------------------------- comparisons
static Value contains(Elaborator *e, const Ast *x, Value a, Value b) {
    if (a.kind == V_STRING && b.kind == V_STRING) return VALUE_BOOL(strstr(b.s, a.s));
    if (b.kind != V_LIST) return cannot(e, x, a, b);
    for (int i = 0; i < b.list.n; i++)
        if (value_equal(a, b.list.items[i])) return VALUE_BOOL(true);
    return VALUE_BOOL(false);
}

Value compare(Elaborator *e, const Ast *x, Value a, Value b) {
    if (a.kind == V_ERROR || b.kind == V_ERROR) return VALUE(V_ERROR);
    if (value_has_items(b))
        list_of(e, x->loc, (Value[]){a, b}, 2);  // comparing costs as much as making
    if (x->kind == AST_IN) return contains(e, x, a, b);
    if (x->kind == AST_EQ) return VALUE_BOOL(value_equal(a, b));
    if (x->kind == AST_NE) return VALUE_BOOL(!value_equal(a, b));
    if (!value_is_number(a) || !value_is_number(b)) return cannot(e, x, a, b);
    bool ints = a.kind == V_INT && b.kind == V_INT;
    bool less = ints ? a.i < b.i : value_number(a) < value_number(b),
         equal = ints ? a.i == b.i : value_number(a) == value_number(b);
    bool unordered = isnan(value_number(a)) || isnan(value_number(b));
    switch (x->kind) {
        case AST_LT:
            return VALUE_BOOL(less);
        case AST_LE:
            return VALUE_BOOL(less || equal);
        case AST_GT:
            return VALUE_BOOL(!less && !equal && !unordered);
        default:
            return VALUE_BOOL(!less && !unordered);
    }
}

// --------------------------------------------------------------------------------------- functions
// The elementwise ops on numbers, where a description computes with parameters.
static const struct {
    Op op;
    double (*run)(double);
} UNARY[] = {{OP_abs, fabs},    {OP_exp, exp},   {OP_log, log},   {OP_sqrt, sqrt},
             {OP_sin, sin},     {OP_cos, cos},   {OP_tanh, tanh}, {OP_erf, erf},
             {OP_floor, floor}, {OP_ceil, ceil}, {OP_round, rint}};

static Value whole_number(double x) {
    return fabs(x) < 0x1p53 ? VALUE_INT((int64_t)x) : VALUE_FLOAT(x);
}

static Value extreme(Op op, Value a, Value b) {
    bool less = a.kind == V_INT && b.kind == V_INT ? a.i < b.i : value_number(a) < value_number(b);
    return less == (op == OP_min) ? a : b;
}

Value scalar_function(Elaborator *e, Op op, Loc at, const Value *v, int n) {
    for (int i = 0; i < n; i++)
        if (!value_is_number(v[i]))
            return report(e, at, "%s cannot take %s", op_info[op].name, value_kind_name(v[i].kind));
    if (n == 2 && (op == OP_min || op == OP_max)) return extreme(op, v[0], v[1]);
    if (n == 2 && op == OP_pow) return VALUE_FLOAT(pow(value_number(v[0]), value_number(v[1])));
    if (n != 1) return report(e, at, "%s takes tensors", op_info[op].name);
    double x = value_number(v[0]);
    if ((op == OP_sqrt && x < 0) || (op == OP_log && x <= 0))
        return report(e, at, "%s of %s", op_info[op].name, value_text(e, v[0]));
    bool keeps_int =
        op == OP_floor || op == OP_ceil || op == OP_round || (op == OP_abs && v->kind == V_INT);
    for (size_t i = 0; i < sizeof UNARY / sizeof *UNARY; i++)
        if (UNARY[i].op == op)
            return keeps_int ? whole_number(UNARY[i].run(x)) : VALUE_FLOAT(UNARY[i].run(x));
    return report(e, at, "%s takes tensors", op_info[op].name);
}
