// burin check --bisect --reduce: the smallest graph on which a pass still misbehaves (delta
// debugging).
//
// Nodes become inputs with random values, outputs are cut and moved forward, nodes are replaced by
// their operands, sizes shrink in the text. A change is kept if the pass still does the same, in a
// process of its own; the result is written as a dump.
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debug/bisect.h"
#include "ir/dump.h"
#include "ir/parse.h"
#include "passes/pass.h"

typedef struct Reduction {
    Build *build;
    Pass pass;
    PassEffect wanted;
    Arena *arena;  // of `now`
    Module now;
    int tries;
} Reduction;

// ------------------------------------------------------------------------------------- the attempt
enum { STATUS_CHANGES = 10, STATUS_KEEPS, STATUS_INVALID, SECONDS = 60 };

// In the child. The pass's messages are discarded: it exits with status 1 if it refuses the graph.
static void try_pass(const Build *b, const Module *m, Pass pass) {
    Arena *arena = arena_new();
    Module mine = module_clone(arena, m);
    PassContext c = b->passes;
    Trace before, after;
    Difference d;
    signal(SIGABRT, SIG_DFL), signal(SIGSEGV, SIG_DFL), signal(SIGFPE, SIG_DFL);
    alarm(SECONDS);
    for (int i = 0; i < mine.n_graphs; i++)
        if (!graph_verify(mine.graphs[i], "reducing")) _exit(STATUS_INVALID);
    c.arena = arena, c.module = &mine, c.guards = NULL, c.observer = NULL, c.sites = NULL,
    c.sites_end = NULL;
    trace_module(&before, b->options, m, false);
    pass_apply(&mine, &c, pass);
    trace_module(&after, b->options, &mine, false);
    const TracedValue *output = trace_compare(&before, &after, &d);
    _exit(output && d.outside ? STATUS_CHANGES : STATUS_KEEPS);
}

PassEffect pass_effect(const Build *b, const Module *m, Pass pass) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout))
            _exit(STATUS_INVALID);
        try_pass(b, m, pass);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        diag_fatal(NO_LOC, "cannot run a pass in a process of its own");
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGALRM ? PASS_REFUSES : PASS_CRASHES;
    return WEXITSTATUS(status) == STATUS_CHANGES ? PASS_CHANGES
           : WEXITSTATUS(status) == STATUS_KEEPS ? PASS_KEEPS
                                                 : PASS_REFUSES;
}

// The candidate replaces the graphs if the pass does the same to it.
static bool accept(Reduction *r, Arena *arena, Module *candidate) {
    r->tries++;
    bool same = pass_effect(r->build, candidate, r->pass) == r->wanted;
    if (same) {
        arena_free(r->arena);
        r->arena = arena, r->now = *candidate;
    } else {
        arena_free(arena);
    }
    return same;
}

// ----------------------------------------------------------------------------------------- changes
typedef bool Change(Graph *, Node *);  // false: there is nothing to change

static Node *node_at(const Graph *g, int at) {
    Node *n = g->first;
    while (n && at--) n = n->next;
    return n;
}

static int count_nodes(const Graph *g) {
    int nodes = 0;
    EACH_NODE(n, g) nodes++;
    return nodes;
}

static void drop_inputs(Graph *g) {
    for (int i = g->n_inputs; i-- > 0;)
        if (!node_uses(g->inputs[i])) graph_drop_input(g, i);
}

static bool try_change(Reduction *r, int graph, int at, Change *change) {
    Arena *arena = arena_new();
    Module candidate = module_clone(arena, &r->now);
    Graph *g = candidate.graphs[graph];
    Node *n = node_at(g, at);
    if (!n || !change(g, n)) {
        arena_free(arena);
        return false;
    }
    graph_sort(g);
    graph_sweep(g);
    drop_inputs(g);
    return accept(r, arena, &candidate);
}

static bool become_input(Graph *g, Node *n) {
    if (n->op == OP_input || n->type.dtype == DT_tuple || dtype_is_rows(n->type.dtype) ||
        n->op == OP_pack)
        return false;
    node_replace(n, graph_add_input(g, n->name, n->type, n->loc));
    return true;
}

static bool become_operand(Graph *g, Node *n) {
    (void)g;
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i] || !type_equal(&n->in[i]->type, &n->type)) continue;
        node_replace(n, n->in[i]);
        return true;
    }
    return false;
}

// The only output.
static bool become_output(Graph *g, Node *n) {
    if (n->op == OP_input || n->op == OP_constant || n->op == OP_state || n->type.dtype == DT_tuple)
        return false;
    if (g->n_outputs == 1 && g->outputs[0] == n) return false;
    while (g->n_outputs) graph_drop_output(g, g->n_outputs - 1);
    graph_add_output(g, n, "y");
    return true;
}

// From the last node, whose operands bring most with them, to the first.
static bool change_backwards(Reduction *r, int graph, Change *change) {
    bool changed = false;
    for (int at = count_nodes(r->now.graphs[graph]); at-- > 0;) {
        if (!try_change(r, graph, at, change)) continue;
        changed = true;
        int nodes = count_nodes(r->now.graphs[graph]);
        at = at < nodes ? at : nodes;
    }
    return changed;
}

// The first node that can be the only output: all later nodes go.
static bool move_output(Reduction *r, int graph) {
    int nodes = count_nodes(r->now.graphs[graph]);
    for (int at = 0; at < nodes; at++)
        if (try_change(r, graph, at, become_output)) return true;
    return false;
}

// ------------------------------------------------------------------------------------------- sizes
static bool is_of_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '%';
}

// The text with each whole word `from` replaced.
static char *with_size(Arena *arena, const char *text, const char *from, const char *to) {
    Text t = {0};
    size_t n = strlen(from);
    for (const char *c = text; *c; c++) {
        bool found = !strncmp(c, from, n) && !is_of_word(c[n]) && (c == text || !is_of_word(c[-1]));
        text_append(&t, found ? to : c, found ? strlen(to) : 1);
        if (found) c += n - 1;
    }
    char *result = arena_strndup(arena, t.data ? t.data : "", t.length);
    text_free(&t);
    return result;
}

static bool has_large_constants(const Graph *g) {
    EACH_NODE(n, g)
        if (n->op == OP_constant && n->value && n->value->bytes > 16 * 8) return true;
    return false;
}

// Parsing in the child alone would be safer, but unparsable text is detected here, with its errors
// suppressed.
static Graph *parse_quietly(Arena *arena, const char *text) {
    Source *source = ARENA_NEW(arena, Source);
    *source = (Source){.name = "small.ir", .text = text, .size = strlen(text)};
    fflush(stderr);
    int heard = dup(STDERR_FILENO);
    bool quiet = freopen("/dev/null", "w", stderr) != NULL;
    Graph *g = quiet ? graph_parse(source, NULL) : NULL;
    fflush(stderr);
    if (heard >= 0) dup2(heard, STDERR_FILENO), close(heard);
    if (g) graph_give(g, arena);
    return g;
}

static bool try_size(Reduction *r, int64_t from, int64_t to) {
    Arena *arena = arena_new();
    Module candidate = r->now;
    Text t = {0};
    graph_print(&t, r->now.graphs[0]);
    const char *text = with_size(arena, t.data, arena_printf(arena, "%lld", (long long)from),
                                 arena_printf(arena, "%lld", (long long)to));
    text_free(&t);
    Graph *g = parse_quietly(arena, text);
    if (!g) {
        arena_free(arena);
        return false;
    }
    candidate.arena = arena;
    candidate.graphs = ARENA_ARRAY(arena, Graph *, 1);
    candidate.graphs[0] = g;
    return accept(r, arena, &candidate);
}

// The largest size of a type below `below`, or 0.
static int64_t next_size(const Graph *g, int64_t below) {
    int64_t most = 0, size;
    EACH_NODE(n, g)
        for (int i = 0; i < n->type.rank; i++)
            if (dim_is_const(n->type.dim[i], &size) && size < below && size > most) most = size;
    return most;
}

static bool shrink_sizes(Reduction *r) {
    bool changed = false;
    if (r->now.n_graphs != 1 || has_large_constants(r->now.graphs[0])) return false;
    for (int64_t size = next_size(r->now.graphs[0], INT64_MAX); size > 2;
         size = next_size(r->now.graphs[0], size))
        for (int64_t to = 2; to < size; to *= 2)
            if (try_size(r, size, to)) {
                changed = true;
                break;
            }
    return changed;
}

// ------------------------------------------------------------------------------------------ result
static bool reduce_graph(Reduction *r, int graph) {
    bool changed = move_output(r, graph);
    changed |= change_backwards(r, graph, become_input);
    return change_backwards(r, graph, become_operand) | changed;
}

static void drop_graphs(Reduction *r) {
    for (int i = r->now.n_graphs; i-- > 0 && r->now.n_graphs > 1;) {
        Arena *arena = arena_new();
        Module candidate = module_clone(arena, &r->now);
        memmove(candidate.graphs + i, candidate.graphs + i + 1,
                (size_t)(--candidate.n_graphs - i) * sizeof *candidate.graphs);
        accept(r, arena, &candidate);
    }
}

void reduce(Build *b, const Module *before, Pass pass) {
    Reduction r = {.build = b, .pass = pass, .arena = arena_new()};
    const char *output = b->options->reduced, *name = pass_info[pass].name;
    int nodes = 0, left = 0;
    r.now = module_clone(r.arena, before);
    r.wanted = pass_effect(b, &r.now, pass);
    for (int i = 0; i < before->n_graphs; i++) nodes += count_nodes(before->graphs[i]);
    drop_graphs(&r);
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < r.now.n_graphs; i++) changed |= reduce_graph(&r, i);
        changed |= shrink_sizes(&r);
    }
    for (int i = 0; i < r.now.n_graphs; i++) left += count_nodes(r.now.graphs[i]);
    r.now.tokenizer = NULL;
    module_save(&r.now, output);
    printf("%s: %d nodes of %d, in %d tries; %s\n", output, left, nodes, r.tries,
           arena_printf(b->arena, "burin check %s --start-from=%s --bisect", output, name));
    arena_free(r.arena);
}
