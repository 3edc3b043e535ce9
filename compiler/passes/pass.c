// The runner: passes.def in order, over every graph of the module.
//
// Before a pass its needs are checked against what the passes so far gave and broke; after it the
// graph is verified, in every build, and dumped when asked (--dump-ir: 00-input.ir, 01-infer.ir
// ...). Also the fusion report: one line for each candidate.
#include "passes/pass.h"

#include <stdlib.h>
#include <string.h>

#include "ir/dump.h"
#include "passes/fault.h"

#define PASS(group, name, ...) PassFunction pass_##name;
#include "passes.def"

const PassInfo pass_info[PASS_COUNT] = {
#define PASS(group, name, where, needs, gives, breaks, help) \
    {#name, GROUP_##group, pass_##name, where, needs, gives, breaks, help},
#include "passes.def"
};

const GroupInfo group_info[GROUP_COUNT] = {
#define GROUP(name, help) {#name, help},
#include "passes.def"
};

static const char *const property_name[] = {
#define X(name, bit, text) [bit] = (text),
    GRAPH_PROPERTIES(X)
#undef X
};

Pass group_first(PassGroup group) {
    int i = 0;
    while (pass_info[i].group != group) i++;
    return (Pass)i;
}

Pass group_last(PassGroup group) {
    int i = PASS_COUNT - 1;
    while (pass_info[i].group != group) i--;
    return (Pass)i;
}

static void check_needs(const PassInfo *pass, unsigned have) {
    unsigned missing = pass->needs & ~have;
    for (int i = 0; i < (int)(sizeof property_name / sizeof *property_name); i++) {
        if (missing & 1u << i)
            diag_fatal(NO_LOC, "pass %s needs %s, which the passes before it broke", pass->name,
                       property_name[i]);
    }
}

static unsigned properties_after(const PassInfo *pass, unsigned have) {
    return (have & ~pass->breaks) | pass->gives;
}

// Bodies of loops and branches come after their graph: by then they have its constants. Rows belong
// to the outer graph.
bool pass_run(const PassInfo *pass, Graph *g, PassContext *c) {
    bool changed = pass->run(g, c);
    if (pass->where == OUTER) return changed;
    EACH_NODE(n, g)
        for (const Attr *a = n->attrs; a; a = a->next)
            if (a->kind == ATTR_GRAPH) changed |= pass_run(pass, a->graph, c);
    return changed;
}

bool group_run(PassGroup group, Graph *g, PassContext *c) {
    bool changed = false;
    for (int i = 0; i < PASS_COUNT; i++)
        if (pass_info[i].group == group) changed |= pass_run(&pass_info[i], g, c);
    return changed;
}

static void plant_fault(Graph *g, Pass pass) {
    if (FAULT_ABORT == (int)pass) abort();
    if (FAULT_OPERAND == (int)pass) g->last->in[0] = g->first;
}

void pass_apply(Module *m, PassContext *c, Pass pass) {
    for (PassGuard *w = c->guards; w; w = w->next)
        if (w->before) w->before(w->user, m, pass);
    for (int i = 0; i < m->n_graphs; i++) {
        pass_run(&pass_info[pass], m->graphs[i], c);
        plant_fault(m->graphs[i], pass);
        diag_stop_if_errors();
        if (graph_verify(m->graphs[i], pass_info[pass].name)) continue;
        for (PassGuard *w = c->guards; w; w = w->next)
            if (w->failed) w->failed(w->user, m, pass);
        diag_stop();
    }
    for (PassGuard *w = c->guards; w; w = w->next)
        if (w->after) w->after(w->user, m, pass);
}

static void require_fusions(const PassContext *c) {
    if (!c->require_fusion) return;
    for (const FusionSite *s = c->sites; s; s = s->next) {
        if (s->missed)
            diag_error(s->loc, "%s is not fused\nnote: %%%s: %s", s->pattern, s->node, s->why);
    }
    diag_stop_if_errors();
}

static void dump(const Module *m, const PassContext *c, int number, const char *pass,
                 ConstantFile **constants) {
    if (c->dump_dir) module_dump(m, c->dump_dir, number, pass, constants);
}

static bool run_passes(Module *m, PassContext *c, ConstantFile **constants) {
    unsigned have = 0;
    if (!c->start_from) dump(m, c, 0, "input", constants);
    if (c->observer) c->observer(c, -1);
    for (int i = 0; i < PASS_COUNT; i++) {
        const PassInfo *pass = &pass_info[i];
        if (i >= c->start_from) {
            check_needs(pass, have);
            pass_apply(m, c, (Pass)i);
            dump(m, c, i + 1, pass->name, constants);
            if (c->observer) c->observer(c, i);
            if (pass->gives & HAS_FUSIONS) require_fusions(c);
        }
        have = properties_after(pass, have);
        if (i == c->stop_after) return false;
    }
    return true;
}

bool passes_run(Module *m, PassContext *c) {
    ConstantFile *constants = NULL;
    c->module = m;
    bool finished = run_passes(m, c, &constants);
    if (constants) constants_close(constants);
    return finished;
}

void fusion_note(PassContext *c, const char *what, Loc loc, const Node *by, const char *why) {
    FusionSite *s = ARENA_NEW(c->arena, FusionSite);
    *s = (FusionSite){.pattern = what, .loc = loc};
    if (by) {
        s->node = arena_strdup(c->arena, by->name ? by->name : op_info[by->op].name);
        s->why = why;
    }
    if (!c->sites_end) c->sites_end = &c->sites;
    *c->sites_end = s;
    c->sites_end = &s->next;
}

void fusion_site(PassContext *c, const char *pattern, Loc loc, const Node *broke, const char *why) {
    FusionSite **place = c->sites_end ? c->sites_end : &c->sites;
    fusion_note(c, pattern, loc, broke, why);
    (*place)->missed = broke != NULL;
}

// ------------------------------------------------------------------------------------------- paths
enum { MOST_STEPS = 512 };

typedef struct Search {
    const Node *node[MOST_STEPS];
    int before[MOST_STEPS], n;  // the step that led there
} Search;

static void visit(Search *s, const Node *n, int from) {
    for (int i = 0; i < s->n; i++)
        if (s->node[i] == n) return;
    if (!n || s->n == MOST_STEPS) return;
    s->node[s->n] = n, s->before[s->n++] = from;
}

// Breadth first: the shortest path. Where the node is reached, or -1.
static int search(Search *s, const Node *from, const Node *to, bool users) {
    s->n = 0;
    visit(s, from, -1);
    for (int i = 0; i < s->n; i++) {
        const Node *n = s->node[i];
        if (n == to) return i;
        for (int j = 0; j < (users ? n->n_users : n->n_in); j++)
            visit(s, users ? n->users[j] : n->in[j], i);
    }
    return -1;
}

static void print_path(Text *t, const Search *s, int at, const char *arrow) {
    if (s->before[at] >= 0) print_path(t, s, s->before[at], arrow), text_add(t, " %s ", arrow);
    text_add(t, "%s %%%s", op_info[s->node[at]->op].name,
             s->node[at]->name ? s->node[at]->name : "");
}

void fusion_path(PassContext *c, const Node *site, const Node *broke) {
    Search s;
    Text t = {0};
    int at = broke ? search(&s, site, broke, false) : -1;
    const char *arrow = "<-";
    if (broke && at < 0) at = search(&s, site, broke, true), arrow = "->";
    if (at < 0) return;
    print_path(&t, &s, at, arrow);
    FusionSite *last = c->sites;
    while (last->next) last = last->next;
    last->path = arena_strdup(c->arena, t.data);
    text_free(&t);
}

// ------------------------------------------------------------------------------------------- sites
static int count_sites(const PassContext *c, const char *pattern, bool missed) {
    int n = 0;
    for (const FusionSite *s = c->sites; s; s = s->next)
        n += !strcmp(s->pattern, pattern) && s->missed == missed;
    return n;
}

static bool is_first_of_pattern(const PassContext *c, const FusionSite *site) {
    const FusionSite *s = c->sites;
    while (strcmp(s->pattern, site->pattern)) s = s->next;
    return s == site;
}

void fusion_table(const PassContext *c, Text *t) {
    text_add(t, "%-24s %8s %8s\n", "pattern", "matched", "missed");
    for (const FusionSite *s = c->sites; s; s = s->next) {
        if (!is_first_of_pattern(c, s)) continue;
        text_add(t, "%-24s %8d %8d\n", s->pattern, count_sites(c, s->pattern, false),
                 count_sites(c, s->pattern, true));
    }
}

void fusion_report(const PassContext *c, Text *t) {
    fusion_table(c, t);
    for (const FusionSite *s = c->sites; s; s = s->next) {
        if (!s->node) continue;
        const char *where = loc_text(s->loc);
        text_spell(t, "%s%s%s%s: %%%s: %s\n", where, *where ? ": " : "", s->missed ? "missed " : "",
                   s->pattern, s->node, s->why);
    }
}
