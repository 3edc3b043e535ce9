// Sizes that must be equal, since a node fits for equal ones only.
//
//   reshape of 48 * s25 * s33 elements to [s25, 4 * s27, 12]     s27 and s33 are two names of one size
//   reshape of 48 * seq elements to [11, 4, 12]                  the trace had 11, and the file takes nothing else
//   reshape of 48 * T elements to [1, min(64, T), 48]            T is at most 64
//   sum of [batch, past + seq] and [batch, total]                total is past + seq
//
// The result applies everywhere: to the nodes imported so far, and to the options, for later nodes.
#include "frontend/onnx/scope.h"

enum { MOST_SYMBOLS = 8 };

typedef struct Pair {
    const Dim *side[2];
    const Dim *symbol[MOST_SYMBOLS];
    int n;  // of symbols, those that are more left out
} Pair;

static void collect(const Dim *d, Pair *p) {
    if (d->kind == DIM_SYMBOL) {
        for (int i = 0; i < p->n; i++)
            if (p->symbol[i] == d) return;
        if (p->n < MOST_SYMBOLS) p->symbol[p->n++] = d;
    } else if (d->a) {
        collect(d->a, p);
        collect(d->b, p);
    }
}

static bool fits(Graph *g, const Pair *p, const Dim *old, const Dim *by) {
    return dim_substitute(g, p->side[0], old, by) == dim_substitute(g, p->side[1], old, by);
}

// ------------------------------------------------------------------------------------------ bounds
// min(64, T) is T where T is at most 64, max(0, T - 8) is T - 8 where T is at least 8.
static int64_t value_of_only(const Dim *symbol, void *user) {
    (void)symbol;
    return *(const int64_t *)user;
}

// The greatest value of the expression's only symbol with which it reaches no more than `most`; 0:
// there is none, or it falls.
static int64_t greatest_within(const Dim *d, const Dim *symbol, int64_t most) {
    int64_t low = symbol->lower, high = symbol->value;
    if (dim_eval(d, value_of_only, &low) > most || dim_eval(d, value_of_only, &high) <= most)
        return 0;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (dim_eval(d, value_of_only, &middle) <= most)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// min(39, (T + 11) // 16 - 1) is the latter where T is at most 629.
static bool bound_expression(OnnxCall *c, const Node *n, const Pair *p, const Dim *d) {
    const Dim *part[2] = {d->a, d->b};
    for (int i = 0; i < 2; i++) {
        Pair one = {0};
        int64_t most, greatest;
        collect(part[i], &one);
        if (one.n != 1 || !dim_is_const(part[1 - i], &most) || !fits(c->graph, p, d, part[i]))
            continue;
        greatest = greatest_within(part[i], one.symbol[0], most);
        if (greatest < 1) continue;
        dim_tighten(one.symbol[0], greatest);
        onnx_fix_size(c, n, one.symbol[0], one.symbol[0]);
        return true;
    }
    return false;
}

static bool bound_extreme(OnnxCall *c, const Node *n, const Pair *p, const Dim *d) {
    if (!d->a) return false;
    if (d->kind == DIM_MIN || d->kind == DIM_MAX) {
        const Dim *part[2] = {d->a, d->b};
        for (int i = 0; i < 2; i++) {
            const Dim *symbol = part[i]->kind == DIM_ADD ? part[i]->a : part[i];
            if (symbol->kind != DIM_SYMBOL || !dim_is_const(part[1 - i], NULL) ||
                !fits(c->graph, p, d, part[i]))
                continue;
            if (d->kind == DIM_MIN)
                dim_tighten(part[i], dim_upper(part[1 - i]));
            else
                dim_raise(part[i], dim_upper(part[1 - i]));
            onnx_fix_size(c, n, symbol, symbol);
            return true;
        }
        if (d->kind == DIM_MIN && bound_expression(c, n, p, d)) return true;
    }
    return bound_extreme(c, n, p, d->a) || bound_extreme(c, n, p, d->b);
}

// -------------------------------------------------------------------------------------------- sums
static bool is_asked_for(const OnnxCall *c, const Dim *symbol) {
    return onnx_find_dim(c->import->options, symbol->name);
}

// The value of each symbol whose bound is neither requested nor lower.
static int64_t share_of(const OnnxCall *c, const Dim *const *part, int n, int64_t room) {
    int64_t share = room / n;
    for (int again = 0; again < n; again++) {
        int64_t left = room, open = 0;
        for (int i = 0; i < n; i++) {
            bool keeps = is_asked_for(c, part[i]) || part[i]->value <= share;
            left -= keeps ? part[i]->value : 0;
            open += !keeps;
        }
        if (open) share = left / open;
    }
    return share;
}

void onnx_share_room(OnnxCall *c, const Node *except, const Dim *const *part, int n, int64_t room,
                     const char *where) {
    int64_t share = share_of(c, part, n, room);
    for (int i = 0; i < n; i++) {
        if (is_asked_for(c, part[i]) || part[i]->lower > share || part[i]->value <= share) continue;
        dim_tighten(part[i], share);
        if (onnx_is_main_graph(c)) onnx_fix_size(c, except, part[i], part[i]);
        onnx_note(c,
                  "\"%s\" is taken to be at most %lld, since %s has room for %lld: --max=%s=N says "
                  "otherwise",
                  part[i]->name, (long long)share, where, (long long)room, part[i]->name);
    }
}

// The length of a mask is that of the past plus the new keys.
static bool sum_of(OnnxCall *c, const Node *n, const Pair *p, const Dim *whole,
                   const Dim *const part[2]) {
    const Dim *sum = dim_binary(c->graph, DIM_ADD, part[0], part[1]);
    if (whole == part[0] || whole == part[1] || !fits(c->graph, p, whole, sum)) return false;
    if (is_asked_for(c, whole) || whole->value < ONNX_DEFAULT_BOUND)
        onnx_share_room(c, n, part, 2, whole->value,
                        arena_printf(c->graph->arena, "\"%s\"", whole->name));
    onnx_fix_size(c, n, whole, sum);
    onnx_note(c, "\"%s\" is taken to be \"%s + %s\", which alone fits here", whole->name,
              part[0]->name, part[1]->name);
    return true;
}

static bool one_sum(OnnxCall *c, const Node *n, const Pair *p) {
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->n; j++)
            for (int k = j + 1; k < p->n; k++)
                if (sum_of(c, n, p, p->symbol[i], (const Dim *[]){p->symbol[j], p->symbol[k]}))
                    return true;
    return false;
}

// ------------------------------------------------------------------------------------------- names
static void rename_size(OnnxCall *c, const Node *n, const Dim *other, const Dim *kept) {
    dim_tighten(kept, other->value);
    dim_raise(kept, other->lower);
    onnx_fix_size(c, n, other, kept);
    onnx_note(c, "\"%s\" is taken to be \"%s\", which alone fits here", other->name, kept->name);
}

static bool one_name(OnnxCall *c, const Node *n, const Pair *p) {
    for (int i = 0; i < p->n; i++) {
        for (int j = 0; j < p->n; j++) {
            const Dim *kept = p->symbol[i], *other = p->symbol[j];
            if (kept->id >= other->id || !fits(c->graph, p, other, kept)) continue;
            rename_size(c, n, other, kept);
            return true;
        }
    }
    return false;
}

// The axis of the graph's first input that has the symbol as its size; -1: there is none.
static int input_axis(const Graph *g, const Dim *symbol) {
    for (int i = 0; i < g->n_inputs; i++) {
        const Type *t = &g->inputs[i]->type;
        for (int j = 0; j < t->rank; j++) {
            if (t->dim[j] == symbol) return j;
        }
    }
    return -1;
}

static bool are_alike(OnnxCall *c, const Dim *kept, const Dim *other) {
    int axis = input_axis(c->graph, kept);
    return kept != other && kept->id < other->id && axis >= 0 &&
           axis == input_axis(c->graph, other);
}

// Two symbols are two others: a product of both (b2 * n2 and b1 * n1) tells no more. Symbols of the
// same axis of two inputs are one size.
static bool two_names(OnnxCall *c, const Node *n, const Pair *p) {
    Graph *g = c->graph;
    for (int pair = 0; pair < p->n * p->n * p->n * p->n; pair++) {
        const Dim *a = p->symbol[pair % p->n], *b = p->symbol[pair / p->n % p->n];
        const Dim *x = p->symbol[pair / p->n / p->n % p->n],
                  *y = p->symbol[pair / p->n / p->n / p->n];
        if (a->id >= x->id || a == y || b == x || b == y || !are_alike(c, a, b) ||
            !are_alike(c, x, y))
            continue;
        const Dim *sides[2];
        for (int i = 0; i < 2; i++) {
            sides[i] = dim_substitute(g, dim_substitute(g, p->side[i], b, a), y, x);
        }
        if (sides[0] != sides[1]) continue;
        rename_size(c, n, b, a);
        rename_size(c, n, y, x);
        return true;
    }
    return false;
}

// ----------------------------------------------------------------------------------------- numbers
typedef struct Sample {
    const Dim *symbol;
    int64_t value, others;
} Sample;

static int64_t value_of(const Dim *symbol, void *user) {
    const Sample *s = user;
    return symbol == s->symbol ? s->value : s->others;
}

// The only number for a symbol that makes both sides equal for any other symbols, or 0.
static int64_t only_number(Graph *g, const Pair *p, const Dim *symbol) {
    int64_t found = 0;
    for (Sample s = {symbol, symbol->lower, 7}; s.value <= symbol->value; s.value++) {
        if (dim_eval(p->side[0], value_of, &s) != dim_eval(p->side[1], value_of, &s)) continue;
        if (!fits(g, p, symbol, dim_const(g, s.value))) continue;
        if (found) return 0;
        found = s.value;
    }
    return found;
}

static bool one_number(OnnxCall *c, const Node *n, const Pair *p) {
    for (int i = 0; i < p->n; i++) {
        int64_t value = only_number(c->graph, p, p->symbol[i]);
        if (!value) continue;
        onnx_fix_size(c, n, p->symbol[i], dim_const(c->graph, value));
        onnx_note(c, "\"%s\" is taken to be %lld, which alone fits here", p->symbol[i]->name,
                  (long long)value);
        return true;
    }
    return false;
}

bool onnx_make_one(OnnxCall *c, const Node *except, const Dim *d) {
    Pair p = {0};
    collect(d, &p);
    if (p.n != 1 || dim_lower(d) > 1 || dim_upper(d) < 1) return false;
    const Dim *symbol = p.symbol[0];
    int64_t greatest = dim_upper(d) > 1 ? greatest_within(d, symbol, 1) : symbol->value;
    if (greatest < 1 ||
        (is_asked_for(c, symbol) && symbol->lower < symbol->value && greatest < symbol->lower))
        return false;
    dim_raise(d, 1);
    dim_tighten(symbol, greatest);
    if (dim_lower(d) != 1 || dim_upper(d) != 1) return false;
    onnx_note(c, "\"%s\" is taken to be from %lld to %lld, as only these fit here", symbol->name,
              (long long)symbol->lower, (long long)symbol->value);
    onnx_fix_size(c, except, symbol, symbol);
    return true;
}

// One side is the other times a quotient: (x + 15) // 48 is 1 for x from 33 to 80.
static bool quotient_of_one(OnnxCall *c, const Node *n, const Dim *whole, const Dim *rest,
                            const Dim *part) {
    if (part->kind == DIM_MUL)
        return quotient_of_one(c, n, whole, rest, part->a) ||
               quotient_of_one(c, n, whole, rest, part->b);
    return part->kind == DIM_FLOORDIV && dim_binary(c->graph, DIM_MUL, rest, part) == whole &&
           onnx_make_one(c, n, part);
}

bool onnx_unify_sizes(OnnxCall *c, const Node *n, const Dim *x, const Dim *y) {
    Pair p = {.side = {x, y}};
    collect(x, &p);
    collect(y, &p);
    return bound_extreme(c, n, &p, x) || bound_extreme(c, n, &p, y) || one_name(c, n, &p) ||
           two_names(c, n, &p) || one_sum(c, n, &p) || one_number(c, n, &p) ||
           quotient_of_one(c, n, x, y, x) || quotient_of_one(c, n, y, x, y);
}

// ------------------------------------------------------------------------------------------- hints
typedef struct Sizes {
    const Dim *batch;
    int64_t length;
} Sizes;

static int64_t value_of_trace(const Dim *symbol, void *user) {
    const Sizes *s = user;
    return symbol == s->batch ? 1 : s->length;
}

// The greatest length at which both are the same for one sequence: that of the trace. 0: there is
// none.
static int64_t traced_length(const Dim *x, const Dim *y, const Dim *batch, const Dim *symbol) {
    enum { LONGEST = 4096 };
    Sizes s = {batch, symbol->value < LONGEST ? symbol->value : LONGEST};
    while (s.length >= symbol->lower && s.length > 0 &&
           dim_eval(x, value_of_trace, &s) != dim_eval(y, value_of_trace, &s))
        s.length--;
    return s.length >= symbol->lower ? s.length : 0;
}

static const char *trace_hint(const OnnxCall *c, const Dim *x, const Dim *y) {
    Pair p = {.side = {x, y}};
    collect(x, &p);
    collect(y, &p);
    for (int i = 0; p.n == 2 && i < 2; i++) {
        const Dim *batch = p.symbol[i], *symbol = p.symbol[1 - i];
        int64_t length = onnx_is_batch(c, batch) && !onnx_is_batch(c, symbol)
                             ? traced_length(x, y, batch, symbol)
                             : 0;
        if (length > 0)
            return arena_printf(c->graph->arena, "--dim=%s=1 --dim=%s=%lld", batch->name,
                                symbol->name, (long long)length);
    }
    return "";
}

const char *onnx_trace_hint(const OnnxCall *c, const Type *x, const Type *y) {
    const char *hint = "";
    for (int i = 1; !*hint && i <= x->rank && i <= y->rank; i++) {
        const Dim *a = x->dim[x->rank - i], *b = y->dim[y->rank - i];
        if (!dim_broadcast(c->graph, a, b)) hint = trace_hint(c, a, b);
    }
    return hint;
}
