// Dimensions: integer expressions over bounded symbols, kept as sums of products in one canonical
// order, so that equal expressions are equal pointers ("T - T" is 0, "(2 * T) // 2" is T, "(T - 1)
// // 2 + 1" and "(T + 1) // 2" are one).
//
// Every operation turns its operands into polynomials over atoms (symbols, quotients, remainders,
// minima and maxima), works on those, and builds the chain of additions and products again. The
// order of atoms is by structure (symbols by name), not by age: a printed and parsed graph has the
// same dimensions.
#include <string.h>

#include "ir.h"
#include "ir/internal.h"
#include "util/diag.h"
#include "util/hash.h"

enum { FIRST_SLOTS = 64, MAX_TERMS = 512 };

struct DimTable {
    Dim **slots;
    uint32_t n, capacity;
    Map symbols;
};

typedef struct Term {
    int64_t factor;
    int n;              // of atoms; 0: the constant term
    const Dim **atoms;  // in order
} Term;

typedef struct Poly {
    Term *terms;
    int n;
} Poly;

// -------------------------------------------------------------------- saturating 64-bit arithmetic
static int64_t sat_add(int64_t a, int64_t b) {
    int64_t r;
    return __builtin_add_overflow(a, b, &r) ? (a < 0 ? INT64_MIN : INT64_MAX) : r;
}

static int64_t sat_mul(int64_t a, int64_t b) {
    int64_t r;
    return __builtin_mul_overflow(a, b, &r) ? ((a < 0) != (b < 0) ? INT64_MIN : INT64_MAX) : r;
}

static int64_t floor_div(int64_t a, int64_t b) {
    if (!b) return 0;
    if (b == -1) return sat_mul(a, -1);
    int64_t q = a / b;
    return q - (a % b && (a < 0) != (b < 0));
}

static int64_t floor_mod(int64_t a, int64_t b) {
    if (!b || b == -1) return 0;
    int64_t r = a % b;
    return r && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t gcd64(int64_t a, int64_t b) {
    if (a == INT64_MIN || b == INT64_MIN) return 1;
    a = a < 0 ? -a : a, b = b < 0 ? -b : b;
    while (b) {
        int64_t r = a % b;
        a = b, b = r;
    }
    return a;
}

// ------------------------------------------------------------------------------------ hash-consing
struct DimTable *dim_table_new(Arena *arena) {
    struct DimTable *t = ARENA_NEW(arena, struct DimTable);
    map_init(&t->symbols, arena);
    return t;
}

static uint64_t dim_hash(const Dim *d) {
    uint64_t key[4] = {(uint64_t)d->kind, (uint64_t)d->value, (uintptr_t)d->a, (uintptr_t)d->b};
    return hash_bytes(key, sizeof key, 0);
}

static Dim **dim_slot(const struct DimTable *t, const Dim *d) {
    for (uint64_t i = dim_hash(d);; i++) {
        Dim **slot = &t->slots[i & (t->capacity - 1)];
        if (!*slot) return slot;
        const Dim *o = *slot;
        if (o->kind == d->kind && o->value == d->value && o->a == d->a && o->b == d->b) return slot;
    }
}

static void dim_table_grow(Graph *g) {
    struct DimTable *t = g->dims;
    Dim **old = t->slots;
    uint32_t n = t->capacity;
    t->capacity = n ? 2 * n : FIRST_SLOTS;
    t->slots = ARENA_ARRAY(g->arena, Dim *, t->capacity);
    for (uint32_t i = 0; i < n; i++)
        if (old[i]) *dim_slot(t, old[i]) = old[i];
}

static const Dim *dim_intern(Graph *g, Dim wanted) {
    struct DimTable *t = g->dims;
    if (2 * t->n >= t->capacity) dim_table_grow(g);
    Dim **slot = dim_slot(t, &wanted);
    if (*slot) return *slot;
    Dim *d = ARENA_NEW(g->arena, Dim);
    *d = wanted;
    d->id = ++t->n;
    return *slot = d;
}

static const Dim *dim_pair(Graph *g, DimKind kind, const Dim *a, const Dim *b) {
    return dim_intern(g, (Dim){.kind = kind, .a = a, .b = b});
}

const Dim *dim_const(Graph *g, int64_t value) {
    return dim_intern(g, (Dim){.kind = DIM_CONST, .value = value});
}

const Dim *dim_find_symbol(const Graph *g, const char *name) {
    return map_get(&g->dims->symbols, name);
}

const Dim *dim_symbol(Graph *g, const char *name, int64_t lower, int64_t upper) {
    const Dim *found = dim_find_symbol(g, name);
    if (found) return found;
    Dim *d = ARENA_NEW(g->arena, Dim);
    *d = (Dim){.kind = DIM_SYMBOL,
               .value = upper,
               .lower = lower,
               .name = arena_strdup(g->arena, name),
               .id = ++g->dims->n};
    if (2 * g->dims->n >= g->dims->capacity) dim_table_grow(g);
    map_put(&g->dims->symbols, d->name, d);
    return d;
}

void dim_tighten(const Dim *d, int64_t upper) {
    int64_t offset = 0;
    if (d->kind == DIM_ADD && dim_is_const(d->b, &offset)) d = d->a;
    if (d->kind != DIM_SYMBOL || upper - offset < d->lower || upper - offset >= d->value) return;
    ((Dim *)(uintptr_t)d)->value = upper - offset;
}

void dim_raise(const Dim *d, int64_t lower) {
    int64_t c = 0;
    for (; d->kind != DIM_SYMBOL; d = d->a) {
        if (d->kind == DIM_MIN) {
            dim_raise(d->a, lower);
            dim_raise(d->b, lower);
            return;
        }
        if (d->kind == DIM_CONST || !dim_is_const(d->b, &c) || (d->kind != DIM_ADD && c < 1))
            return;
        if (d->kind == DIM_ADD)
            lower -= c;
        else if (d->kind == DIM_MUL)
            lower = -floor_div(-lower, c);
        else if (d->kind != DIM_FLOORDIV || __builtin_mul_overflow(lower, c, &lower))
            return;
    }
    if (lower > d->lower && lower <= d->value) ((Dim *)(uintptr_t)d)->lower = lower;
}

void dim_each_symbol(const Graph *g, void (*visit)(const Dim *, void *user), void *user) {
    for (int i = 0; i < g->dims->symbols.n; i++) visit(g->dims->symbols.entries[i].value, user);
}

// --------------------------------------------------------------------- polynomials and their order
static int dim_compare(const Dim *a, const Dim *b) {
    if (a == b) return 0;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->kind == DIM_CONST) return a->value < b->value ? -1 : 1;
    if (a->kind == DIM_SYMBOL) return strcmp(a->name, b->name);
    int first = dim_compare(a->a, b->a);
    return first ? first : dim_compare(a->b, b->b);
}

// Higher degree first, then by atoms: the constant term is last.
static int term_compare(const Term *s, const Term *t) {
    if (s->n != t->n) return s->n > t->n ? -1 : 1;
    for (int i = 0; i < s->n; i++) {
        int c = dim_compare(s->atoms[i], t->atoms[i]);
        if (c) return c;
    }
    return 0;
}

static Term term_product(Arena *arena, const Term *s, const Term *t) {
    Term r = {sat_mul(s->factor, t->factor), 0, ARENA_ARRAY(arena, const Dim *, s->n + t->n + 1)};
    for (int i = 0, j = 0; i < s->n || j < t->n;) {
        bool from_s = j == t->n || (i < s->n && dim_compare(s->atoms[i], t->atoms[j]) <= 0);
        r.atoms[r.n++] = from_s ? s->atoms[i++] : t->atoms[j++];
    }
    return r;
}

// Adds a term in its place; `p` has room.
static void poly_add_term(Poly *p, Term t) {
    int i = 0;
    for (int end = p->n; i < end;) {
        int middle = i + (end - i) / 2;
        if (term_compare(&p->terms[middle], &t) < 0)
            i = middle + 1;
        else
            end = middle;
    }
    if (i < p->n && !term_compare(&p->terms[i], &t)) {
        p->terms[i].factor = sat_add(p->terms[i].factor, t.factor);
        if (p->terms[i].factor) return;
        memmove(p->terms + i, p->terms + i + 1, (size_t)(--p->n - i) * sizeof t);
        return;
    }
    if (!t.factor) return;
    memmove(p->terms + i + 1, p->terms + i, (size_t)(p->n++ - i) * sizeof t);
    p->terms[i] = t;
}

static Term term_of(Arena *arena, const Dim *d) {
    int n = 1;
    for (const Dim *m = d; m->kind == DIM_MUL; m = m->b) n++;
    Term t = {1, 0, ARENA_ARRAY(arena, const Dim *, n)};
    for (; d->kind == DIM_MUL; d = d->b) t.atoms[t.n++] = d->a;
    if (d->kind == DIM_CONST)
        t.factor = d->value;
    else
        t.atoms[t.n++] = d;
    return t;
}

static Poly poly_of(Arena *arena, const Dim *d) {
    int n = 1;
    for (const Dim *s = d; s->kind == DIM_ADD; s = s->b) n++;
    Poly p = {ARENA_ARRAY(arena, Term, n), 0};
    for (; d->kind == DIM_ADD; d = d->b) p.terms[p.n++] = term_of(arena, d->a);
    if (d->kind != DIM_CONST || d->value) p.terms[p.n++] = term_of(arena, d);
    return p;
}

static const Dim *dim_of_term(Graph *g, const Term *t) {
    if (!t->n) return dim_const(g, t->factor);
    const Dim *d = t->factor == 1 ? NULL : dim_const(g, t->factor);
    for (int i = t->n; i-- > 0;) d = d ? dim_pair(g, DIM_MUL, t->atoms[i], d) : t->atoms[i];
    return d;
}

// Sums of sums multiply: without a limit a few lines of a model make more terms than memory holds.
static void check_terms(int64_t n) {
    if (n > MAX_TERMS)
        diag_fatal(
            NO_LOC,
            "a size is a sum of more than %d products of other sizes\nhint: --dim gives a size "
            "a number",
            MAX_TERMS);
}

static const Dim *dim_of_poly(Graph *g, const Poly *p) {
    check_terms(p->n);
    if (!p->n) return dim_const(g, 0);
    const Dim *d = dim_of_term(g, &p->terms[p->n - 1]);
    for (int i = p->n - 1; i-- > 0;) d = dim_pair(g, DIM_ADD, dim_of_term(g, &p->terms[i]), d);
    return d;
}

static const Dim *dim_add(Graph *g, const Dim *a, const Dim *b, int64_t factor_of_b) {
    Arena *scratch = arena_new();
    Poly p = poly_of(scratch, a), q = poly_of(scratch, b),
         sum = {ARENA_ARRAY(scratch, Term, p.n + q.n + 1), p.n};
    if (p.n) memcpy(sum.terms, p.terms, (size_t)p.n * sizeof *p.terms);
    for (int i = 0; i < q.n; i++) {
        Term t = q.terms[i];
        t.factor = sat_mul(t.factor, factor_of_b);
        poly_add_term(&sum, t);
    }
    const Dim *d = dim_of_poly(g, &sum);
    arena_free(scratch);
    return d;
}

static const Dim *dim_mul(Graph *g, const Dim *a, const Dim *b) {
    Arena *scratch = arena_new();
    Poly p = poly_of(scratch, a), q = poly_of(scratch, b);
    check_terms((int64_t)p.n * q.n);
    Poly r = {ARENA_ARRAY(scratch, Term, p.n * q.n + 1), 0};
    for (int i = 0; i < p.n; i++)
        for (int j = 0; j < q.n; j++)
            poly_add_term(&r, term_product(scratch, &p.terms[i], &q.terms[j]));
    const Dim *d = dim_of_poly(g, &r);
    arena_free(scratch);
    return d;
}

// ------------------------------------------------------------------------ quotients and remainders
// s / t when t divides s: its atoms are among those of s, and its factor divides that of s.
static bool term_quotient(Arena *arena, const Term *s, const Term *t, Term *q) {
    if (!t->factor || s->factor % t->factor) return false;
    *q = (Term){s->factor / t->factor, 0, ARENA_ARRAY(arena, const Dim *, s->n + 1)};
    int j = 0;
    for (int i = 0; i < s->n; i++) {
        if (j < t->n && s->atoms[i] == t->atoms[j])
            j++;
        else
            q->atoms[q->n++] = s->atoms[i];
    }
    return j == t->n;
}

// a == quotient * b + rest, with every term of a that b divides moved to the quotient and, for a
// constant b, the constant of the rest brought into [0, b).
static void poly_split(Arena *arena, const Poly *a, const Poly *b, Poly *quotient, Poly *rest) {
    *quotient = *rest = (Poly){0};
    quotient->terms = ARENA_ARRAY(arena, Term, a->n + 2),
    rest->terms = ARENA_ARRAY(arena, Term, a->n + 2);
    bool one = b->n == 1, constant = one && !b->terms[0].n && b->terms[0].factor > 0;
    for (int i = 0; i < a->n; i++) {
        Term q, s = a->terms[i];
        if (one && term_quotient(arena, &s, &b->terms[0], &q)) {
            poly_add_term(quotient, q);
        } else if (constant && !s.n) {
            int64_t c = b->terms[0].factor;
            poly_add_term(quotient, (Term){floor_div(s.factor, c), 0, NULL});
            poly_add_term(rest, (Term){floor_mod(s.factor, c), 0, NULL});
        } else {
            poly_add_term(rest, s);
        }
    }
}

// The quotient when b divides a without a rest: leading term by leading term.
static bool poly_exact(Arena *arena, const Poly *a, const Poly *b, Poly *quotient) {
    enum { MOST_TERMS = 16 };
    Poly rest = {ARENA_ARRAY(arena, Term, a->n + (MOST_TERMS + 1) * b->n), a->n};
    for (int i = 0; i < a->n; i++) rest.terms[i] = a->terms[i];
    *quotient = (Poly){ARENA_ARRAY(arena, Term, MOST_TERMS + 1), 0};
    for (int steps = 0; rest.n; steps++) {
        Term q;
        if (steps == MOST_TERMS || !term_quotient(arena, &rest.terms[0], &b->terms[0], &q))
            return false;
        poly_add_term(quotient, q);
        for (int i = 0; i < b->n; i++) {
            Term t = term_product(arena, &q, &b->terms[i]);
            t.factor = sat_mul(t.factor, -1);
            poly_add_term(&rest, t);
        }
    }
    return true;
}

// Divides the factors of both by their greatest common divisor.
static void poly_reduce(Poly *a, Poly *b) {
    int64_t common = 0;
    for (int i = 0; i < a->n; i++) common = gcd64(common, a->terms[i].factor);
    for (int i = 0; i < b->n; i++) common = gcd64(common, b->terms[i].factor);
    if (common <= 1) return;
    for (int i = 0; i < a->n; i++) a->terms[i].factor /= common;
    for (int i = 0; i < b->n; i++) b->terms[i].factor /= common;
}

// (x // a + b) // c is (x + a b) // (a c).
static const Dim *quotient_of_sum(Graph *g, const Dim *rest, const Dim *by, int64_t c) {
    int64_t added, a;
    if (rest->kind != DIM_ADD || !dim_is_const(rest->b, &added))
        return dim_pair(g, DIM_FLOORDIV, rest, by);
    if (rest->a->kind != DIM_FLOORDIV || !dim_is_const(rest->a->b, &a) || a < 1)
        return dim_pair(g, DIM_FLOORDIV, rest, by);
    const Dim *sum = dim_binary(g, DIM_ADD, rest->a->a, dim_const(g, sat_mul(a, added)));
    return dim_binary(g, DIM_FLOORDIV, sum, dim_const(g, sat_mul(a, c)));
}

static const Dim *dim_quotient(Graph *g, const Dim *rest, const Dim *b) {
    int64_t value, c;
    if (rest->kind == DIM_CONST && !rest->value) return rest;
    if (rest->kind == DIM_CONST && b->kind == DIM_CONST && b->value)
        return dim_const(g, floor_div(rest->value, b->value));
    if (dim_lower(rest) >= 0 && dim_upper(rest) < dim_lower(b)) return dim_const(g, 0);
    if (rest->kind == DIM_FLOORDIV && dim_is_const(rest->b, &value) && dim_is_const(b, &c) &&
        value > 0 && c > 0)
        return dim_binary(g, DIM_FLOORDIV, rest->a, dim_const(g, sat_mul(value, c)));
    return dim_is_const(b, &c) && c > 0 ? quotient_of_sum(g, rest, b, c)
                                        : dim_pair(g, DIM_FLOORDIV, rest, b);
}

static const Dim *dim_divide(Graph *g, const Dim *a, const Dim *b) {
    if (a == b) return dim_const(g, 1);
    if (b->kind == DIM_CONST && !b->value) return dim_pair(g, DIM_FLOORDIV, a, b);
    Arena *scratch = arena_new();
    Poly p = poly_of(scratch, a), q = poly_of(scratch, b), quotient, rest = {0};
    poly_reduce(&p, &q);
    if (q.n < 2 || !poly_exact(scratch, &p, &q, &quotient))
        poly_split(scratch, &p, &q, &quotient, &rest);
    const Dim *whole = dim_of_poly(g, &quotient);
    bool split = quotient.n > 0 && rest.n > 0;
    if (split) poly_reduce(&rest, &q);
    const Dim *part = dim_quotient(g, dim_of_poly(g, &rest), dim_of_poly(g, &q));
    arena_free(scratch);
    if (part->kind == DIM_FLOORDIV && dim_lower(part) == dim_upper(part))
        part = dim_const(g, dim_lower(part));
    return dim_add(g, whole, part, 1);
}

static bool begins_with_minus(const Dim *d) {
    if (d->kind == DIM_ADD) d = d->a;
    while (d->kind == DIM_MUL) d = d->b;
    return d->kind == DIM_CONST && d->value < 0;
}

// -x % c and -(x % c) % c are what x lacks to a multiple of c: (x + c - 1) // c * c - x, whose sum
// with x is that multiple.
static const Dim *lacking(Graph *g, const Dim *d, const Dim *c) {
    if (!begins_with_minus(d) || !dim_is_const(c, NULL) || dim_lower(c) <= 0) return NULL;
    const Dim *x = dim_mul(g, d, dim_const(g, -1));
    if (x->kind == DIM_MOD && x->b == c) x = x->a;
    const Dim *up = dim_divide(g, dim_add(g, dim_add(g, x, c, 1), dim_const(g, 1), -1), c);
    return dim_add(g, dim_mul(g, up, c), x, -1);
}

static const Dim *dim_modulo(Graph *g, const Dim *a, const Dim *b) {
    if (a == b) return dim_const(g, 0);
    if (b->kind == DIM_CONST && !b->value) return dim_pair(g, DIM_MOD, a, b);
    Arena *scratch = arena_new();
    Poly p = poly_of(scratch, a), q = poly_of(scratch, b), quotient, rest = {0};
    if (q.n < 2 || !poly_exact(scratch, &p, &q, &quotient))
        poly_split(scratch, &p, &q, &quotient, &rest);
    const Dim *left = dim_of_poly(g, &rest);
    arena_free(scratch);
    if (left->kind == DIM_CONST && b->kind == DIM_CONST)
        return dim_const(g, floor_mod(left->value, b->value));
    if (left->kind == DIM_CONST && !left->value) return left;
    if (dim_lower(left) >= 0 && dim_upper(left) < dim_lower(b)) return left;
    const Dim *multiple = lacking(g, left, b);
    return multiple ? multiple : dim_pair(g, DIM_MOD, left, b);
}

// ----------------------------------------------------------------------------- minimum and maximum
static bool dim_at_least(Graph *g, const Dim *a, const Dim *b) {
    return a == b || dim_lower(dim_add(g, a, b, -1)) >= 0;
}

// Adds x to the chain of candidates unless one of them bounds it; drops those that x bounds.
static void extreme_insert(Graph *g, DimKind kind, const Dim **list, int *n, const Dim *x) {
    for (int i = 0; i < *n; i++)
        if (kind == DIM_MIN ? dim_at_least(g, x, list[i]) : dim_at_least(g, list[i], x)) return;
    int kept = 0;
    for (int i = 0; i < *n; i++) {
        bool bounded = kind == DIM_MIN ? dim_at_least(g, list[i], x) : dim_at_least(g, x, list[i]);
        if (!bounded) list[kept++] = list[i];
    }
    int at = kept;
    for (; at > 0 && dim_compare(list[at - 1], x) > 0; at--) list[at] = list[at - 1];
    list[at] = x;
    *n = kept + 1;
}

static const Dim *dim_extreme(Graph *g, DimKind kind, const Dim *a, const Dim *b) {
    const Dim *operand[2] = {a, b}, *d;
    int n = 0, room = 2;
    for (int i = 0; i < 2; i++)
        for (d = operand[i]; d->kind == kind; d = d->b) room++;
    Arena *scratch = arena_new();
    const Dim **list = ARENA_ARRAY(scratch, const Dim *, room);
    for (int i = 0; i < 2; i++) {
        for (d = operand[i]; d->kind == kind; d = d->b) extreme_insert(g, kind, list, &n, d->a);
        extreme_insert(g, kind, list, &n, d);
    }
    d = list[--n];
    while (n-- > 0) d = dim_pair(g, kind, list[n], d);
    arena_free(scratch);
    return d;
}

static int64_t fold(DimKind kind, int64_t a, int64_t b) {
    switch (kind) {
        case DIM_ADD:
            return sat_add(a, b);
        case DIM_MUL:
            return sat_mul(a, b);
        case DIM_FLOORDIV:
            return floor_div(a, b);
        case DIM_MOD:
            return floor_mod(a, b);
        case DIM_MIN:
            return a < b ? a : b;
        default:
            return a > b ? a : b;
    }
}

const Dim *dim_binary(Graph *g, DimKind kind, const Dim *a, const Dim *b) {
    bool by_zero = (kind == DIM_FLOORDIV || kind == DIM_MOD) && b->kind == DIM_CONST && !b->value;
    if (a->kind == DIM_CONST && b->kind == DIM_CONST && !by_zero)
        return dim_const(g, fold(kind, a->value, b->value));
    switch (kind) {
        case DIM_ADD:
            return dim_add(g, a, b, 1);
        case DIM_MUL:
            return dim_mul(g, a, b);
        case DIM_FLOORDIV:
            return dim_divide(g, a, b);
        case DIM_MOD:
            return dim_modulo(g, a, b);
        case DIM_MIN:
        case DIM_MAX:
            return dim_extreme(g, kind, a, b);
        case DIM_CONST:
        case DIM_SYMBOL:
            break;
    }
    return a;
}

const Dim *dim_sub(Graph *g, const Dim *a, const Dim *b) {
    if (a->kind == DIM_CONST && b->kind == DIM_CONST)
        return dim_const(g, sat_add(a->value, sat_mul(b->value, -1)));
    return dim_add(g, a, b, -1);
}

// ------------------------------------------------------------------------------- bounds and values
typedef struct {
    int64_t lower, upper;
} Range;

static Range range_of_corners(int64_t p, int64_t q, int64_t r, int64_t s) {
    Range x = {p < q ? p : q, p > q ? p : q}, y = {r < s ? r : s, r > s ? r : s};
    return (Range){x.lower < y.lower ? x.lower : y.lower, x.upper > y.upper ? x.upper : y.upper};
}

// c * (y // c) is within c - 1 below y: if the other terms of a sum are a number less y, the sum is
// known that well.
static bool range_of_rest(const Dim *d, Range *range) {
    Arena *scratch = arena_new();
    Poly p = poly_of(scratch, d);
    bool found = false;
    for (int i = 0; i < p.n && !found; i++) {
        const Term *t = &p.terms[i];
        int64_t c;
        if (t->n != 1 || t->atoms[0]->kind != DIM_FLOORDIV || !dim_is_const(t->atoms[0]->b, &c) ||
            t->factor != c || c < 1)
            continue;
        Poly y = poly_of(scratch, t->atoms[0]->a),
             sum = {ARENA_ARRAY(scratch, Term, p.n + y.n + 1), 0};
        for (int j = 0; j < p.n; j++)
            if (j != i) poly_add_term(&sum, p.terms[j]);
        for (int j = 0; j < y.n; j++) poly_add_term(&sum, y.terms[j]);
        found = !sum.n || (sum.n == 1 && !sum.terms[0].n);
        int64_t upper = sum.n ? sum.terms[0].factor : 0;
        if (found) *range = (Range){sat_add(upper, 1 - c), upper};
    }
    arena_free(scratch);
    return found;
}

static Range dim_range(const Dim *d) {
    if (d->kind == DIM_CONST) return (Range){d->value, d->value};
    if (d->kind == DIM_SYMBOL) return (Range){d->lower, d->value};
    Range a = dim_range(d->a), b = dim_range(d->b), rest;
    switch (d->kind) {
        case DIM_ADD:
            if ((a.lower < 0 || b.lower < 0) && range_of_rest(d, &rest)) return rest;
            return (Range){sat_add(a.lower, b.lower), sat_add(a.upper, b.upper)};
        case DIM_MUL:
            return range_of_corners(sat_mul(a.lower, b.lower), sat_mul(a.lower, b.upper),
                                    sat_mul(a.upper, b.lower), sat_mul(a.upper, b.upper));
        case DIM_FLOORDIV:
            if (b.lower <= 0) return (Range){INT64_MIN, INT64_MAX};
            return range_of_corners(floor_div(a.lower, b.lower), floor_div(a.lower, b.upper),
                                    floor_div(a.upper, b.lower), floor_div(a.upper, b.upper));
        case DIM_MOD:
            if (b.lower <= 0) return (Range){INT64_MIN, INT64_MAX};
            return (Range){0, a.lower >= 0 && a.upper < b.upper - 1 ? a.upper : b.upper - 1};
        case DIM_MIN:
            return (Range){a.lower < b.lower ? a.lower : b.lower,
                           a.upper < b.upper ? a.upper : b.upper};
        default:
            return (Range){a.lower > b.lower ? a.lower : b.lower,
                           a.upper > b.upper ? a.upper : b.upper};
    }
}

int64_t dim_upper(const Dim *d) { return dim_range(d).upper; }
int64_t dim_lower(const Dim *d) { return dim_range(d).lower; }

int64_t dim_eval(const Dim *d, int64_t (*value_of)(const Dim *symbol, void *user), void *user) {
    if (d->kind == DIM_CONST) return d->value;
    if (d->kind == DIM_SYMBOL) return value_of(d, user);
    return fold(d->kind, dim_eval(d->a, value_of, user), dim_eval(d->b, value_of, user));
}
