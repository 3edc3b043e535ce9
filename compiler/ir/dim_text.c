// The text of dimensions: 2 * T + 1, (T + 1) // 2, min(8, T), T % 4. Printed text parses back to
// the same dimension.
#include <ctype.h>
#include <string.h>

#include "ir.h"

enum { MAX_PARSE_DEPTH = 64 };

// ---------------------------------------------------------------------------------------- printing
static void print_operand(Text *t, const Dim *d) {
    bool plain = d->kind == DIM_SYMBOL || d->kind == DIM_MIN || d->kind == DIM_MAX ||
                 (d->kind == DIM_CONST && d->value >= 0);
    if (!plain) text_add(t, "(");
    dim_print(t, d);
    if (!plain) text_add(t, ")");
}

// A product without its sign when `bare`: the factor is in front, though it is last in the chain.
static void print_product(Text *t, const Dim *d, bool bare) {
    const Dim *last = d;
    while (last->kind == DIM_MUL) last = last->b;
    const Dim *factor = last->kind == DIM_CONST ? last : NULL;
    if (factor && !(bare && factor->value == -1)) {
        int64_t value = bare && factor->value != INT64_MIN ? -factor->value : factor->value;
        text_add(t, "%lld * ", (long long)value);
    }
    for (; d->kind == DIM_MUL; d = d->b) {
        print_operand(t, d->a);
        if (d->b != factor) text_add(t, " * ");
    }
    if (d != factor) print_operand(t, d);
}

static bool is_negative(const Dim *d) {
    while (d->kind == DIM_MUL) d = d->b;
    return d->kind == DIM_CONST && d->value < 0 && d->value != INT64_MIN;
}

static void print_sum(Text *t, const Dim *d) {
    dim_print(t, d->a);
    for (d = d->b;; d = d->b) {
        const Dim *term = d->kind == DIM_ADD ? d->a : d;
        bool minus = is_negative(term);
        text_add(t, minus ? " - " : " + ");
        if (term->kind == DIM_CONST)
            text_add(t, "%lld", (long long)(minus ? -term->value : term->value));
        else if (term->kind == DIM_MUL)
            print_product(t, term, minus);
        else
            dim_print(t, term);
        if (d->kind != DIM_ADD) return;
    }
}

void dim_print(Text *t, const Dim *d) {
    switch (d->kind) {
        case DIM_CONST:
            text_add(t, "%lld", (long long)d->value);
            return;
        case DIM_SYMBOL:
            text_add(t, "%s", d->name);
            return;
        case DIM_ADD:
            print_sum(t, d);
            return;
        case DIM_MUL:
            print_product(t, d, false);
            return;
        case DIM_FLOORDIV:
        case DIM_MOD:
            print_operand(t, d->a);
            text_add(t, d->kind == DIM_MOD ? " %% " : " // ");
            print_operand(t, d->b);
            return;
        case DIM_MIN:
        case DIM_MAX:
            text_add(t, d->kind == DIM_MIN ? "min(" : "max(");
            dim_print(t, d->a);
            text_add(t, ", ");
            dim_print(t, d->b);
            text_add(t, ")");
            return;
    }
}

// ----------------------------------------------------------------------------------------- parsing
typedef struct {
    Graph *graph;
    const char *at;
    int depth;
} DimReader;

static const Dim *read_sum(DimReader *r);

static bool accept(DimReader *r, const char *word) {
    r->at = skip_blanks(r->at);
    size_t n = strlen(word);
    if (strncmp(r->at, word, n)) return false;
    r->at += n;
    return true;
}

static const Dim *read_number(DimReader *r) {
    int64_t value = 0;
    for (; isdigit((unsigned char)*r->at); r->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *r->at - '0', &value))
            return NULL;
    return dim_const(r->graph, value);
}

static const Dim *read_call(DimReader *r, DimKind kind) {
    const Dim *a = read_sum(r);
    if (!a || !accept(r, ",")) return NULL;
    const Dim *b = read_sum(r);
    return b && accept(r, ")") ? dim_binary(r->graph, kind, a, b) : NULL;
}

static const Dim *read_name(DimReader *r) {
    const char *start = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_' || *r->at == '.') r->at++;
    size_t n = (size_t)(r->at - start);
    char name[256];
    if (!n || n >= sizeof name) return NULL;
    memcpy(name, start, n);
    name[n] = 0;
    if (!strcmp(name, "min") && accept(r, "(")) return read_call(r, DIM_MIN);
    if (!strcmp(name, "max") && accept(r, "(")) return read_call(r, DIM_MAX);
    const Dim *symbol = dim_find_symbol(r->graph, name);
    if (!symbol) r->at = start;
    return symbol;
}

static const Dim *read_atom(DimReader *r) {
    if (r->depth >= MAX_PARSE_DEPTH) return NULL;
    r->depth++;
    const Dim *d;
    r->at = skip_blanks(r->at);
    if (isdigit((unsigned char)*r->at)) {
        d = read_number(r);
    } else if (accept(r, "-")) {
        d = read_atom(r);
        if (d) d = dim_sub(r->graph, dim_const(r->graph, 0), d);
    } else if (accept(r, "(")) {
        d = read_sum(r);
        if (d && !accept(r, ")")) d = NULL;
    } else {
        d = read_name(r);
    }
    r->depth--;
    return d;
}

static const Dim *read_product(DimReader *r) {
    const Dim *d = read_atom(r);
    while (d) {
        DimKind kind;
        if (accept(r, "//"))
            kind = DIM_FLOORDIV;
        else if (accept(r, "*"))
            kind = DIM_MUL;
        else if (accept(r, "%"))
            kind = DIM_MOD;
        else
            break;
        const Dim *b = read_atom(r);
        d = b ? dim_binary(r->graph, kind, d, b) : NULL;
    }
    return d;
}

static const Dim *read_sum(DimReader *r) {
    const Dim *d = read_product(r);
    while (d) {
        int sign = accept(r, "+") ? 1 : accept(r, "-") ? -1 : 0;
        if (!sign) break;
        const Dim *b = read_product(r);
        d = !b ? NULL : sign > 0 ? dim_binary(r->graph, DIM_ADD, d, b) : dim_sub(r->graph, d, b);
    }
    return d;
}

const Dim *dim_parse(Graph *g, const char *text, const char **end) {
    DimReader r = {.graph = g, .at = text};
    const Dim *d = read_sum(&r);
    if (end) *end = r.at;
    return d;
}
