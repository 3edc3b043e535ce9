// burin check --against: compares values recorded from another framework with the model's graphs.
//
// The graphs are those of the description or file, before any pass; the interpreter computes them
// in f64. A value differs if it is farther away than rounding explains: than the interpreter's f32
// on the same graph (interpret_both.h). A value that differs while values depending on it agree was
// misnamed.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/align.h"
#include "debug/check.h"
#include "debug/check_inputs.h"
#include "debug/interpret_both.h"
#include "ir/convert.h"
#include "passes/pass.h"

typedef struct Place {
    struct Place *next;  // of the same node
    const Tensor *recorded;
    Node *node;
    Difference difference;
    bool compared, other;  // other: what depends on it agrees
} Place;

typedef struct Against {
    Arena *arena;
    const Options *options;
    const Recording *recording;
    CheckInputs inputs;
    InterpretBoth walk;
    Place *places;  // in the order they are computed
    int n_places;
    bool *placed;    // by recorded value
    Place **at;      // by mark, of the graph at hand
    double step;     // of the recording's arithmetic
    int first_here;  // place of the graph at hand
} Against;

// --------------------------------------------------------------------------------------- precision
static bool is_narrow(const Tensor *t, DType type) {
    char bits[8];
    for (int64_t i = 0, n = tensor_count(t); i < n; i++) {
        double v = dtype_load(t->dtype, t->data, i);
        dtype_store(type, bits, 0, v);
        if (dtype_load(type, bits, 0) != v && v == v) return false;
    }
    return true;
}

// A model that ran in 16 bits gave values of 16 bits: most of them, for some may have passed
// through a cast or a sum in f32.
static double step_of(const Recording *r) {
    int floats = 0, f16 = 0, bf16 = 0;
    for (int i = 0; i < r->n; i++) {
        if (!dtype_is_float(r->values[i].dtype)) continue;
        floats++, f16 += is_narrow(&r->values[i], DT_f16),
            bf16 += is_narrow(&r->values[i], DT_bf16);
    }
    return 2 * bf16 > floats ? 0x1p-9 : 2 * f16 > floats ? 0x1p-12 : 0x1p-24;
}

// ---------------------------------------------------------------------------------------- the walk
static int by_mark(const void *a, const void *b) {
    const Place *x = a, *y = b;
    return x->node->mark - y->node->mark;
}

static void align(Against *a, const Graph *g) {
    Aligner *aligner = align_open(a->arena, g, a->recording, a->walk.exact);
    a->first_here = a->n_places;
    for (int i = 0; i < a->recording->n; i++) {
        const Tensor *t = &a->recording->values[i];
        Node *n = dtype_is_float(t->dtype) && !a->placed[i] ? align_find(aligner, t) : NULL;
        if (!n) continue;
        a->placed[i] = true;
        a->places[a->n_places++] = (Place){.recorded = t, .node = n};
    }
    qsort(a->places + a->first_here, (size_t)(a->n_places - a->first_here), sizeof *a->places,
          by_mark);
    a->at = ARENA_ARRAY(a->arena, Place *, g->last ? g->last->mark + 1 : 1);
    for (int i = a->n_places; i-- > a->first_here;) {
        Place *p = &a->places[i];
        p->next = a->at[p->node->mark];
        a->at[p->node->mark] = p;
    }
}

static void visit(void *user, Node *n, const Tensor *exact, const Tensor *contract) {
    Against *a = user;
    for (Place *p = a->at[n->mark]; p; p = p->next) {
        p->compared = tensor_count(p->recorded) == tensor_count(exact);
        if (p->compared) p->difference = tensor_difference(p->recorded, exact, contract, a->step);
    }
    for (int i = 0; i < n->graph->n_outputs; i++)
        if (n->graph->outputs[i] == n)
            check_inputs_add(&a->inputs, n->graph->output_names[i], exact);
}

// Marks in `scratch` all nodes that depend on a node.
static void follow(Node *n) {
    if (n->scratch) return;
    n->scratch = n;
    for (int i = 0; i < n->n_users; i++) follow(n->users[i]);
}

static bool differs(const Place *p) { return p->compared && p->difference.outside && !p->other; }

static void settle(Against *a, const Graph *g) {
    for (int i = a->first_here; i < a->n_places; i++) {
        Place *p = &a->places[i];
        if (!differs(p)) continue;
        EACH_NODE(n, g) n->scratch = NULL;
        follow(p->node);
        for (int j = i + 1; j < a->n_places; j++) {
            const Place *q = &a->places[j];
            p->other |=
                q->node != p->node && q->node->scratch && q->compared && !q->difference.outside;
        }
    }
}

// -------------------------------------------------------------------------------------- the report
static const char *shape_of(Arena *arena, const Tensor *t) {
    Text text = {0};
    for (int i = 0; i < t->rank; i++) text_add(&text, "%s%" PRId64, i ? ", " : "[", t->dim[i]);
    text_add(&text, t->rank ? "]" : "[]");
    const char *shape = arena_strndup(arena, text.data, text.length);
    text_free(&text);
    return shape;
}

static void print_place(const Against *a, const char *name, const Place *p, const Place *first) {
    const Difference *d = &p->difference;
    double unit = d->largest > 0 ? d->largest : 1;
    print_spelled("%-44s %-16s %10.3g %10.2g %10.2g%s\n", name, shape_of(a->arena, p->recorded),
                  d->largest, d->found / unit, d->explained / unit,
                  p == first   ? "  <- first that differs"
                  : p->other   ? "  another value"
                  : d->outside ? "  differs"
                               : "");
}

// A line a layer: the last value of it that was recorded, or the first that differs.
static void print_growth(const Against *a, const Place *first) {
    printf("%-44s %-16s %10s %10s %10s\n", "value", "shape", "largest", "difference", "rounding");
    for (int i = 0; i < a->n_places; i++) {
        const Place *p = &a->places[i];
        const char *layer = align_layer(a->arena, p->recorded->name);
        bool last =
            i + 1 == a->n_places || strcmp(layer, align_layer(a->arena, p[1].recorded->name));
        if (p->compared && (a->options->verbose || last || p == first))
            print_place(a, p->recorded->name, p, first);
    }
}

static bool agrees(const Against *a, const Node *n) {
    for (const Place *p = a->at[n->mark]; p; p = p->next)
        if (p->compared && !p->difference.outside) return true;
    return false;
}

enum { MOST_LINES = 16 };

typedef struct Between {
    const Against *against;
    Text agreed, lines;
    const char *last_line;
    int n_lines, left_out;  // ops
} Between;

static void add_op(Between *b, const Node *n) {
    const char *line = arena_strdup(b->against->arena, loc_text(n->loc)), *op = op_info[n->op].name;
    bool same = b->last_line && !strcmp(line, b->last_line);
    if (!same && b->n_lines == MOST_LINES) {
        b->left_out++, b->last_line = NULL;
        return;
    }
    if (same)
        text_add(&b->lines, ", %s", op);
    else
        text_spell(&b->lines, "\n  %s: %s", line, op);
    b->n_lines += !same, b->last_line = line;
}

// The nodes between agreeing values and the differing one: the cause is among them.
static void collect(Between *b, Node *n, const Node *end) {
    if (n->scratch || is_weight_chain(n)) return;
    n->scratch = n;
    if (n != end && (n->op == OP_input || agrees(b->against, n))) {
        const Place *p = b->against->at[n->mark];
        text_spell(&b->agreed, "%s%s", b->agreed.length ? ", " : "",
                   p ? p->recorded->name : n->name);
        return;
    }
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i]) collect(b, n->in[i], end);
    add_op(b, n);
}

// The rows of the last axis: the positions of a text.
static void print_rows(const Place *p, Text *t) {
    const Tensor *r = p->recorded;
    int64_t columns = r->rank ? r->dim[r->rank - 1] : 1;
    if (columns && tensor_count(r) > columns)
        text_add(t, "row %" PRId64 ", column %" PRId64, p->difference.at / columns,
                 p->difference.at % columns);
    else
        text_add(t, "element %" PRId64, p->difference.at);
}

static void name_first(const Against *a, const Graph *g, const Place *first) {
    Between b = {.against = a};
    Text where = {0};
    EACH_NODE(n, g) n->scratch = NULL;
    collect(&b, first->node, first->node);
    if (b.left_out) text_add(&b.lines, "\n  and %d more: record values in between", b.left_out);
    print_rows(first, &where);
    const Difference *d = &first->difference;
    diag_error(first->node->loc,
               "%s is the first value that differs: %s is %.9g here and %.9g in the recording; "
               "rounding explains %.2g\n"
               "note: what it is computed from agrees: %-s\nnote: computed since then:%-s",
               first->recorded->name, where.data, d->expected, d->value, d->explained,
               b.agreed.length ? b.agreed.data : "nothing",
               b.lines.length ? b.lines.data : " nothing");
    text_free(&b.agreed), text_free(&b.lines), text_free(&where);
}

static void print_unplaced(const Against *a) {
    int n = 0;
    for (int i = 0; i < a->recording->n; i++)
        n += !a->placed[i] && dtype_is_float(a->recording->values[i].dtype);
    if (!n) return;
    printf("%d recorded values have no place in the model%s", n,
           a->options->verbose ? ":" : " (-v names them)");
    for (int i = 0; i < a->recording->n && a->options->verbose; i++)
        if (!a->placed[i] && dtype_is_float(a->recording->values[i].dtype))
            print_spelled(" %s", a->recording->values[i].name);
    printf("\n");
}

static int compare_graphs(Against *a, const Module *m) {
    const Place *first = NULL;
    for (int i = 0; i < m->n_graphs && !first; i++) {
        const Graph *g = m->graphs[i];
        const Tensor **inputs = check_inputs_of(&a->inputs, g, a->walk.exact);
        align(a, g);
        interpret_both_graph(&a->walk, g, inputs, visit, a);
        settle(a, g);
        for (int j = a->n_places; j-- > a->first_here;)
            if (differs(&a->places[j])) first = &a->places[j];
        if (first || i + 1 == m->n_graphs) print_growth(a, first);
        if (first) name_first(a, g, first);
    }
    return first ? 1 : 0;
}

static int print_result(Against *a, int status) {
    int compared = 0, outside = 0;
    for (int i = 0; i < a->n_places; i++)
        compared += a->places[i].compared, outside += differs(&a->places[i]);
    if (!compared)
        diag_fatal(NO_LOC,
                   "no value of %s is one of this model, by name and shape\nhint: names are paths "
                   "of modules "
                   "(model.layers.0.mlp), those of an ONNX file's values, or an output: logits",
                   a->recording->path);
    print_unplaced(a);
    printf("%d values compared, %d differ\n", compared, outside);
    return status;
}

int check_against(Build *b) {
    Against a = {.arena = b->arena, .options = b->options};
    b->passes.stop_after = PASS_infer;
    build_open(b);
    build_load(b);
    build_passes(b);
    a.recording = recording_read(b->arena, b->options->against);
    a.inputs = check_inputs(b->arena, b->options, a.recording);
    a.places = ARENA_ARRAY(b->arena, Place, a.recording->n);
    a.placed = ARENA_ARRAY(b->arena, bool, a.recording->n);
    a.step = step_of(a.recording);
    interpret_both_open(&a.walk);
    int status = compare_graphs(&a, b->module);
    interpret_both_close(&a.walk);
    return print_result(&a, status);
}
