// The parts of a dimension: constants, symbols, linear terms; substitution of symbols, and of
// graphs.
#include "ir.h"

bool dim_is_const(const Dim *d, int64_t *value) {
    if (d->kind != DIM_CONST) return false;
    if (value) *value = d->value;
    return true;
}

bool dim_is(const Dim *d, int64_t value) { return d->kind == DIM_CONST && d->value == value; }

bool dim_has_symbol(const Dim *d, const Dim *symbol) {
    if (d == symbol) return true;
    return d->a && (dim_has_symbol(d->a, symbol) || dim_has_symbol(d->b, symbol));
}

bool dim_divides(Graph *g, const Dim *by, const Dim *d) {
    return dim_is(dim_binary(g, DIM_MOD, d, by), 0);
}

const Dim *dim_substitute(Graph *g, const Dim *d, const Dim *symbol, const Dim *by) {
    if (d == symbol) return by;
    if (!d->a) return d;
    const Dim *a = dim_substitute(g, d->a, symbol, by), *b = dim_substitute(g, d->b, symbol, by);
    return a == d->a && b == d->b && by != symbol ? d : dim_binary(g, d->kind, a, b);
}

bool dim_is_line(Graph *g, const Dim *d, const Dim *symbol, int64_t *factor, int64_t *offset) {
    int64_t at_0, at_1;
    const Dim *zero = dim_const(g, 0), *one = dim_const(g, 1);
    if (!dim_is_const(dim_substitute(g, d, symbol, zero), &at_0)) return false;
    if (!dim_is_const(dim_substitute(g, d, symbol, one), &at_1) || at_1 <= at_0) return false;
    const Dim *line = dim_binary(g, DIM_MUL, dim_const(g, at_1 - at_0), symbol);
    if (dim_binary(g, DIM_ADD, line, dim_const(g, at_0)) != d) return false;
    *factor = at_1 - at_0, *offset = at_0;
    return true;
}

const Dim *dim_import(Graph *g, const Dim *d) {
    if (d->kind == DIM_CONST) return dim_const(g, d->value);
    if (d->kind == DIM_SYMBOL) return dim_symbol(g, d->name, d->lower, d->value);
    return dim_binary(g, d->kind, dim_import(g, d->a), dim_import(g, d->b));
}
