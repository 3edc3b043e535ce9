// Scalar formulas: mul(silu($0), $1), add($0, 0x1p-3). Immutable; $i is operand i of the node that
// holds the formula.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir.h"

enum { MAX_EXPR_DEPTH = 64, MAX_EXPR_IN = 3 };

static Expr *expr_new(Arena *arena, ExprKind kind) {
    Expr *e = ARENA_NEW(arena, Expr);
    e->kind = kind;
    return e;
}

const Expr *expr_arg(Arena *arena, int i) {
    Expr *e = expr_new(arena, EXPR_ARG);
    e->arg = i;
    return e;
}

const Expr *expr_const(Arena *arena, double value) {
    Expr *e = expr_new(arena, EXPR_CONST);
    e->value = value;
    return e;
}

const Expr *expr_op(Arena *arena, Op op, int n, const Expr *const *in) {
    Expr *e = expr_new(arena, EXPR_OP);
    e->op = op;
    e->n = n;
    for (int i = 0; i < n; i++) e->in[i] = in[i];
    return e;
}

const Expr *expr_substitute(Arena *arena, const Expr *e, const Expr *const *args) {
    if (e->kind == EXPR_ARG) return args[e->arg];
    if (e->kind == EXPR_CONST) return expr_const(arena, e->value);
    const Expr *in[MAX_EXPR_IN];
    for (int i = 0; i < e->n; i++) in[i] = expr_substitute(arena, e->in[i], args);
    return expr_op(arena, e->op, e->n, in);
}

bool expr_equal(const Expr *a, const Expr *b) {
    if (a == b) return true;
    if (a->kind != b->kind) return false;
    if (a->kind == EXPR_ARG) return a->arg == b->arg;
    if (a->kind == EXPR_CONST) return !memcmp(&a->value, &b->value, sizeof a->value);
    if (a->op != b->op || a->n != b->n) return false;
    for (int i = 0; i < a->n; i++)
        if (!expr_equal(a->in[i], b->in[i])) return false;
    return true;
}

int expr_max_arg(const Expr *e) {
    int most = e->kind == EXPR_ARG ? e->arg : -1;
    for (int i = 0; i < e->n; i++) {
        int m = expr_max_arg(e->in[i]);
        if (m > most) most = m;
    }
    return most;
}

void expr_print(Text *t, const Expr *e) {
    if (e->kind == EXPR_ARG) {
        text_add(t, "$%d", e->arg);
    } else if (e->kind == EXPR_CONST) {
        text_add(t, isfinite(e->value) ? "%a" : "%f", e->value);
    } else {
        text_add(t, "%s(", op_info[e->op].name);
        for (int i = 0; i < e->n; i++) {
            if (i) text_add(t, ", ");
            expr_print(t, e->in[i]);
        }
        text_add(t, ")");
    }
}

typedef struct {
    Arena *arena;
    const char *at;
    int depth;
} ExprReader;

static bool accept(ExprReader *r, char c) {
    r->at = skip_blanks(r->at);
    return *r->at == c ? r->at++, true : false;
}

static const Expr *read_expr(ExprReader *r);

static const Expr *read_call(ExprReader *r) {
    size_t n = strspn(r->at, "abcdefghijklmnopqrstuvwxyz0123456789_");
    char name[64];
    Op op;
    if (!n || n >= sizeof name) return NULL;
    memcpy(name, r->at, n);
    name[n] = 0;
    if (!op_find(name, &op) || !op_is_elementwise(op)) return NULL;
    r->at += n;
    if (!accept(r, '(')) return NULL;
    const Expr *in[MAX_EXPR_IN];
    int count = 0;
    do {
        if (count == MAX_EXPR_IN || !(in[count++] = read_expr(r))) return NULL;
    } while (accept(r, ','));
    if (!accept(r, ')') || count < op_least(op) || count > op_most(op)) return NULL;
    return expr_op(r->arena, op, count, in);
}

static const Expr *read_number(ExprReader *r) {
    char *end;
    double value = strtod(r->at, &end);
    if (end == r->at) return NULL;
    r->at = end;
    return expr_const(r->arena, value);
}

static const Expr *read_arg(ExprReader *r) {
    int value = 0, digits = 0;
    for (r->at++; isdigit((unsigned char)*r->at) && digits < 4; digits++)
        value = 10 * value + (*r->at++ - '0');
    return digits ? expr_arg(r->arena, value) : NULL;
}

static const Expr *read_expr(ExprReader *r) {
    if (r->depth >= MAX_EXPR_DEPTH) return NULL;
    r->depth++;
    r->at = skip_blanks(r->at);
    const Expr *e;
    if (*r->at == '$')
        e = read_arg(r);
    else if (isdigit((unsigned char)*r->at) || *r->at == '-' || !strncmp(r->at, "inf", 3) ||
             !strncmp(r->at, "nan", 3))
        e = read_number(r);
    else
        e = read_call(r);
    r->depth--;
    return e;
}

const Expr *expr_parse(Arena *arena, const char *text, const char **end) {
    ExprReader r = {.arena = arena, .at = text};
    const Expr *e = read_expr(&r);
    if (end) *end = r.at;
    return e;
}
