// Constants of two modules, by their names: how many elements differ, how far, and where; whether a
// matrix is another one, or transposed.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/diff.h"
#include "ir/convert.h"
#include "ir/format.h"

enum { RUN = 256 };

static void add_graph(Map *m, const Graph *g) {
    EACH_NODE(n, g) {
        const char *name = n->value && n->value->name ? n->value->name : n->name;
        if (n->op == OP_constant && n->value && !map_get(m, name)) map_put(m, name, n);
        for (const Attr *a = n->attrs; a; a = a->next)
            if (a->kind == ATTR_GRAPH) add_graph(m, a->graph);
    }
}

static Map constants_of(Arena *arena, const Module *m) {
    Map all;
    map_init(&all, arena);
    for (int i = 0; i < m->n_graphs; i++) add_graph(&all, m->graphs[i]);
    return all;
}

// Elements first to first + n, as numbers.
static void read_run(const Tensor *t, int64_t first, int64_t n, double *values) {
    float blocks[RUN];
    const Format *f = format_of(t->dtype);
    if (f) format_read(f, t->data, first, 1, n, blocks);
    for (int64_t i = 0; i < n; i++)
        values[i] = f ? (double)blocks[i] : dtype_load(t->dtype, t->data, first + i);
}

typedef struct Distance {
    int64_t different, at;
    double most, squares, size;
} Distance;

static Distance distance(const Tensor *a, const Tensor *b) {
    Distance d = {.at = -1};
    double x[RUN], y[RUN];
    int64_t count = tensor_count(a);
    for (int64_t first = 0; first < count; first += RUN) {
        int64_t n = count - first < RUN ? count - first : RUN;
        read_run(a, first, n, x);
        read_run(b, first, n, y);
        for (int64_t i = 0; i < n; i++) {
            double here = x[i] == y[i] || (isnan(x[i]) && isnan(y[i])) ? 0 : fabs(x[i] - y[i]);
            d.different += here != 0;
            d.squares += here * here;
            d.size += x[i] * x[i];
            if (here > d.most || (here != 0 && d.at < 0)) {
                d.most = here;
                d.at = first + i;
            }
        }
    }
    return d;
}

static bool is_transposed(const Tensor *a, const Tensor *b) {
    bool square =
        a->rank == 2 && a->dim[0] == a->dim[1] && !format_of(a->dtype) && !format_of(b->dtype);
    for (int64_t i = 0; square && i < a->dim[0]; i++)
        for (int64_t j = 0; j < a->dim[1]; j++)
            if (dtype_load(a->dtype, a->data, i * a->dim[1] + j) !=
                dtype_load(b->dtype, b->data, j * a->dim[0] + i))
                return false;
    return square;
}

// The constant of the other side with these bytes.
static const char *twin_of(const Map *others, Node *n) {
    for (int i = 0; i < others->n; i++) {
        Node *other = others->entries[i].value;
        if (other->value->bytes == n->value->bytes && constant_hash(other) == constant_hash(n))
            return others->entries[i].key;
    }
    return NULL;
}

static const char *index_text(Arena *arena, const Tensor *t, int64_t at) {
    const char *text = "";
    for (int i = t->rank; i-- > 0; at /= t->dim[i])
        text = arena_printf(arena, "%" PRId64 "%s%s", at % t->dim[i], *text ? ", " : "", text);
    return text;
}

static void print_distance(const Sides *s, const char *name, Node *a, Node *b, const Map *others) {
    Distance d = distance(a->value, b->value);
    int64_t count = tensor_count(a->value);
    const char *twin = twin_of(others, a);
    const char *where = a->value->name ? "" : arena_printf(s->arena, " (%s)", loc_text(a->loc));
    print_spelled("%s%s %s: %" PRId64 " of %" PRId64
                  " elements differ, by %.3g at most, at [%s]; %.3g of its size",
                  name, where, type_text(&a->type), d.different, count, d.most,
                  index_text(s->arena, a->value, d.at),
                  d.size > 0 ? sqrt(d.squares / d.size) : 0.0);
    if (twin)
        print_spelled(": it is %s there", twin);
    else if (is_transposed(a->value, b->value))
        printf(": it is transposed there");
    printf("\n");
}

static bool same_shape(const Tensor *a, const Tensor *b) {
    return a->rank == b->rank && !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
}

static bool same_numbers(Node *a, Node *b) {
    if (a->value->dtype == b->value->dtype && constant_hash(a) == constant_hash(b)) return true;
    return !distance(a->value, b->value).different;
}

// How many of the one side the other does not have; the names that passes made up are left out.
static int missing(const Map *from, const Map *in, const char *sign) {
    int n = 0;
    for (int i = 0; i < from->n; i++) {
        const Node *c = from->entries[i].value;
        if (!c->value->name || map_get(in, from->entries[i].key)) continue;
        print_spelled("%s %s %s\n", sign, from->entries[i].key, type_text(&c->type));
        n++;
    }
    return n;
}

int diff_weights(const Sides *s, const Module *a, const Module *b) {
    Map left = constants_of(s->arena, a), right = constants_of(s->arena, b);
    int found = 0, same = 0;
    for (int i = 0; i < left.n; i++) {
        const char *name = left.entries[i].key;
        Node *x = left.entries[i].value, *y = map_get(&right, name);
        if (!y) continue;
        if (same_shape(x->value, y->value) && same_numbers(x, y)) {
            same++;
            continue;
        }
        found++;
        if (same_shape(x->value, y->value))
            print_distance(s, name, x, y, &right);
        else
            print_spelled("%s: %s, and %s\n", name, type_text(&x->type), type_text(&y->type));
    }
    found += missing(&left, &right, "-") + missing(&right, &left, "+");
    printf("weights: %d are the same, %d differ\n", same, found);
    return found;
}
