// burin check --bisect: which pass changed the numbers, and at which node.
//
// The interpreter computes the module after every pass, in f64 and over the same inputs: --input
// and --tokens, or made up. A pass may move an output as far as f32 rounding would, since constants
// are folded in f32. The node is the first that has no equal among the values before the pass,
// though all it is computed from have.
#include "debug/bisect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/crash.h"
#include "debug/check.h"
#include "passes/pass.h"

enum { INVENTED_SIZE = 6 };

// ------------------------------------------------------------------------------------------ traces
static const char *output_name(const Node *n) {
    for (int i = 0; i < n->graph->n_outputs; i++)
        if (n->graph->outputs[i] == n) return n->graph->output_names[i];
    return NULL;
}

static void remember(void *user, Node *n, const Tensor *exact, const Tensor *contract) {
    Trace *t = user;
    const char *output = output_name(n);
    if (!t->all && !output) return;
    if (t->n == t->capacity) {
        TracedValue *values =
            ARENA_ARRAY(t->arena, TracedValue, t->capacity = 2 * t->capacity + 64);
        if (t->n) memcpy(values, t->values, (size_t)t->n * sizeof *values);
        t->values = values;
    }
    t->values[t->n++] = (TracedValue){.node = n,
                                      .graph = n->graph->name,
                                      .output = output,
                                      .exact = tensor_copy(t->arena, exact),
                                      .contract = tensor_copy(t->arena, contract)};
}

void trace_module(Trace *t, const Options *o, const Module *m, bool all) {
    *t = (Trace){.arena = arena_new(), .all = all};
    CheckInputs inputs = check_inputs(t->arena, o, NULL);
    inputs.invented = true, inputs.size = INVENTED_SIZE, inputs.memory = 1;
    InterpretBoth w;
    interpret_both_open(&w);
    check_walk(&inputs, m, &w, remember, t);
    interpret_both_close(&w);
}

void trace_free(Trace *t) {
    if (t->arena) arena_free(t->arena);
    *t = (Trace){0};
}

static const TracedValue *find_output(const Trace *t, const TracedValue *output) {
    for (int i = 0; i < t->n; i++) {
        const TracedValue *v = &t->values[i];
        if (v->output && !strcmp(v->graph, output->graph) && !strcmp(v->output, output->output))
            return v;
    }
    return NULL;
}

static Difference difference(const TracedValue *after, const TracedValue *before) {
    return tensor_difference(after->exact, before->exact, before->contract, 0x1p-24);
}

const TracedValue *trace_compare(const Trace *before, const Trace *after, Difference *d) {
    const TracedValue *farthest = NULL;
    double most = -1;
    *d = (Difference){0};
    for (int i = 0; i < after->n; i++) {
        const TracedValue *a = &after->values[i], *b = a->output ? find_output(before, a) : NULL;
        if (!b || tensor_count(a->exact) != tensor_count(b->exact)) continue;
        Difference here = difference(a, b);
        double share = here.explained > 0 ? here.found / here.explained : here.found;
        if (share <= most) continue;
        most = share, *d = here, farthest = a;
    }
    return farthest;
}

// ------------------------------------------------------------------------------------------- nodes
typedef struct Blame {
    const Trace *before, *after;
    const TracedValue **by_mark;  // of the graph after
    bool *equal;                  // by mark: some value before the pass is the same
    const Node *node;
} Blame;

static bool same_values(const TracedValue *a, const TracedValue *b) {
    if (tensor_count(a->exact) != tensor_count(b->exact)) return false;
    return !difference(a, b).outside;
}

static const TracedValue *find_named(const Trace *t, const Node *n) {
    for (int i = 0; i < t->n; i++)
        if (!strcmp(t->values[i].node->name, n->name) &&
            !strcmp(t->values[i].node->graph->name, n->graph->name))
            return &t->values[i];
    return NULL;
}

static bool has_equal(const Trace *before, const TracedValue *after) {
    const TracedValue *named = find_named(before, after->node);
    if (named && same_values(after, named)) return true;
    for (int i = 0; i < before->n; i++)
        if (same_values(after, &before->values[i])) return true;
    return false;
}

// Constants, states and inputs of the new form have no value of their own to compare.
static bool is_given(const Blame *b, const Node *n) {
    return !n || n->op == OP_input || !b->by_mark[n->mark] || b->equal[n->mark];
}

static void search(Blame *b, const Node *n) {
    const Node *op = n->op == OP_item ? n->in[0] : n;
    if (b->node) return;
    for (int i = 0; i < op->n_in; i++)
        if (!is_given(b, op->in[i])) search(b, op->in[i]);
    if (!b->node) b->node = n;
}

static const Node *find_node(const Trace *before, const Trace *after, const Node *output) {
    Blame b = {.before = before, .after = after};
    int nodes = 0;
    EACH_NODE(n, output->graph) n->mark = nodes++;
    b.by_mark = ARENA_ARRAY(after->arena, const TracedValue *, nodes);
    b.equal = ARENA_ARRAY(after->arena, bool, nodes);
    for (int i = 0; i < after->n; i++) {
        const TracedValue *t = &after->values[i];
        if (t->node->graph != output->graph) continue;
        b.by_mark[t->node->mark] = t;
        b.equal[t->node->mark] = has_equal(before, t);
    }
    search(&b, output);
    return b.node;
}

// -------------------------------------------------------------------------------------- the passes
static const char *line_of(Arena *arena, const Node *n) {
    Text t = {0};
    node_print(&t, n);
    const char *line = arena_message(arena, "%s", t.data);
    text_free(&t);
    return line;
}

static void name_node(const Options *o, const Module *was, const Module *is, Pass pass) {
    Trace before, after;
    Difference d;
    trace_module(&before, o, was, true);
    trace_module(&after, o, is, true);
    const TracedValue *output = trace_compare(&before, &after, &d);
    const Node *n = find_node(&before, &after, output->node);
    const TracedValue *named = find_named(&before, n);
    diag_error(n->loc,
               "the pass %s changed the numbers, first those of %s: the output %s is %.9g, it was "
               "%.9g, rounding explains %.2g\n"
               "note: after it:  %-s%-s%-s",
               pass_info[pass].name, n->name, output->output, d.value, d.expected, d.explained,
               line_of(after.arena, n), named ? "\nnote: before it: " : "",
               named ? line_of(after.arena, named->node) : "");
    trace_free(&before), trace_free(&after);
}

// A pass that changed the numbers, with the graphs on both sides of it. Another pass of its group
// may take that back: forms in between need not have a meaning of their own.
typedef struct Suspect {
    Arena *arena;  // NULL: none
    Module was, is;
    Pass pass;
    bool crashes;
} Suspect;

typedef struct Bisection {
    Build *build;
    Trace outputs;  // after the last pass that changed nothing
    Suspect suspect;
} Bisection;

static void clear(Suspect *s) {
    if (s->arena) arena_free(s->arena);
    *s = (Suspect){0};
}

// Formats of --quant and --kv, and rows of int8, change numbers: later passes are compared with the
// changed ones.
static bool may_change(Pass pass) { return pass == PASS_quantize; }

static bool changes(const Trace *before, const Trace *after, Pass pass) {
    Difference d;
    const TracedValue *output = trace_compare(before, after, &d);
    double unit = d.largest > 0 ? d.largest : 1;
    bool outside = output && d.outside, changed = outside && !may_change(pass);
    printf("%-20s %10.2g %10.2g%s\n", pass_info[pass].name, d.found / unit, d.explained / unit,
           changed   ? "  changed"
           : outside ? "  other formats"
           : output  ? ""
                     : "  other outputs");
    fflush(stdout);
    return changed;
}

static void suspect(Bisection *b, Suspect *s) {
    if (b->suspect.arena)
        clear(s);
    else
        b->suspect = *s;
}

static void bisect_pass(Bisection *b, Pass pass) {
    Build *build = b->build;
    Suspect s = {.arena = arena_new(), .pass = pass};
    s.was = module_clone(s.arena, build->module);
    s.crashes = build->options->reduce && pass_effect(build, &s.was, pass) == PASS_CRASHES;
    if (s.crashes) {
        printf("%-20s crashes\n", pass_info[pass].name);
        clear(&b->suspect);
        return suspect(b, &s);
    }
    Trace after;
    pass_apply(build->module, &build->passes, pass);
    trace_module(&after, build->options, build->module, false);
    if (changes(&b->outputs, &after, pass)) {
        s.is = module_clone(s.arena, build->module);
        trace_free(&after);
        return suspect(b, &s);
    }
    clear(&s), clear(&b->suspect);
    trace_free(&b->outputs);
    b->outputs = after;
}

// At the end of a group nothing is left that could take a change back.
static bool is_found(const Suspect *s, Pass pass) {
    return s->arena && (s->crashes || pass == group_last(pass_info[pass].group));
}

static int report(Bisection *b) {
    const Suspect *s = &b->suspect;
    if (b->build->options->reduce) reduce(b->build, &s->was, s->pass);
    fflush(stdout);
    if (!s->crashes) name_node(b->build->options, &s->was, &s->is, s->pass);
    return 1;
}

int check_bisect(Build *build) {
    Bisection b = {.build = build};
    int status = 0;
    build_open(build);
    build_load(build);
    crash_watch(build);
    build->passes.module = build->module;
    trace_module(&b.outputs, build->options, build->module, false);
    printf("%-20s %10s %10s\n", "pass", "difference", "rounding");
    for (int i = build->passes.start_from; i < PASS_COUNT && !status; i++) {
        bisect_pass(&b, (Pass)i);
        if (is_found(&b.suspect, (Pass)i)) status = report(&b);
    }
    if (!status) printf("no pass changed the numbers\n");
    clear(&b.suspect);
    trace_free(&b.outputs);
    return status;
}
