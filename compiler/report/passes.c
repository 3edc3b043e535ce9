// The changes of each pass: the lines of the graphs before and after it, compared by the names of
// their values.
//
// Equal changes in many layers are one entry. A line's key is its text without layer-specific
// parts: numbers after names (%q.12), layers in paths ("model.layers.3.mlp"), hashes of constants.
//
//   %y.4 = matmul(%x.3, %w.3) : f32[T, 64] @llama.burin:16:16 "model.layers.3.mlp"
//   %y = matmul(%x, %w) : f32[T, 64] @llama.burin:16:16 "model.layers.*.mlp"           x 30
#include <ctype.h>
#include <string.h>

#include "passes/pass.h"
#include "report/report.h"

typedef struct Lines {
    Map of_value;  // name -> its line
    int ops[OP_COUNT], n;
} Lines;

struct PassLog {
    Build *build;
    Arena *arena;
    Lines *graphs[PASS_COUNT + 1];  // before pass i, of each graph; NULL: the passes began later
    int sites[PASS_COUNT + 1], n_graphs;  // fusion sites before pass i
};

static Lines lines_of(Arena *arena, const Graph *g) {
    Lines l = {0};
    map_init(&l.of_value, arena);
    EACH_NODE(n, g) {
        Text t = {0};
        node_print(&t, n);
        map_put(&l.of_value, arena_strdup(arena, n->name), arena_strndup(arena, t.data, t.length));
        text_free(&t);
        l.ops[n->op]++, l.n++;
    }
    return l;
}

static int count_sites(const PassContext *c) {
    int n = 0;
    for (const FusionSite *s = c->sites; s; s = s->next) n++;
    return n;
}

static void watch(PassContext *c, int pass) {
    PassLog *log = c->observer_data;
    const Module *m = c->module;
    Lines *graphs = ARENA_ARRAY(log->arena, Lines, m->n_graphs);
    for (int i = 0; i < m->n_graphs; i++) graphs[i] = lines_of(log->arena, m->graphs[i]);
    log->n_graphs = m->n_graphs;
    log->graphs[pass + 1] = graphs;
    log->sites[pass + 1] = count_sites(c);
}

PassLog *pass_log_new(Build *b) {
    PassLog *log = ARENA_NEW(b->arena, PassLog);
    log->build = b, log->arena = b->arena;
    b->passes.observer = watch, b->passes.observer_data = log;
    return log;
}

// ----------------------------------------------------------------------------------------- folding
static const char *skip_digits(const char *c) {
    while (isdigit((unsigned char)*c)) c++;
    return c;
}

// Returns the position after a layer-specific number, or NULL: .12 after a name, 12 between points
// or slashes of a path, layer=12, #12
static const char *behind_number(const char *line, const char *c, bool quoted) {
    const char *end = skip_digits(c);
    char before = c > line ? c[-1] : 0;
    if (end == c || isalnum((unsigned char)*end)) return NULL;
    if (quoted)
        return strchr("./_\"", before) && (*end == '.' || *end == '/' || *end == '"') ? end : NULL;
    return before == '#' || (c - line >= 6 && !strncmp(c - 6, "layer=", 6)) ? end : NULL;
}

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '/' || c == '-';
}

// %q_proj.weight.12 -> %q_proj.weight. Returns the rest.
static const char *fold_name(Text *t, const char *c) {
    const char *end = c + 1;
    while (is_name(*end)) end++;
    const char *last = end;
    while (last > c && isdigit((unsigned char)last[-1])) last--;
    if (last > c + 1 && last < end && last[-1] == '.')
        last--;
    else
        last = end;
    text_append(t, c, (size_t)(last - c));
    return end;
}

static const char *fold_line(Arena *arena, const char *line) {
    Text t = {0};
    bool quoted = false;
    for (const char *c = line; *c;) {
        const char *end = behind_number(line, c, quoted);
        if (*c == '"') quoted = !quoted;
        if (*c == '\\' && c[1])
            text_append(&t, c, 2), c += 2;
        else if (end)
            text_add(&t, "*"), c = end;
        else if (!quoted && *c == '%')
            c = fold_name(&t, c);
        else if (!quoted && !strncmp(c, "hash=0x", 7))
            text_add(&t, "hash=*"), c += 7 + strspn(c + 7, "0123456789abcdef");
        else
            text_append(&t, c++, 1);
    }
    const char *folded = arena_strndup(arena, t.data ? t.data : "", t.length);
    text_free(&t);
    return folded;
}

// ----------------------------------------------------------------------------------------- changes
// Entries of one kind: {"before", "after", "count"}, in the order of their first. A single one
// keeps its own names.
typedef struct Changes {
    Arena *arena;
    json_t *list;
    Map of_key;  // folded lines -> entry
} Changes;

static Changes changes_new(Arena *arena) {
    Changes c = {.arena = arena, .list = json_array()};
    map_init(&c.of_key, arena);
    return c;
}

static void put_lines(json_t *entry, const char *before, const char *after) {
    if (before) json_put_text(entry, "before", before);
    if (after) json_put_text(entry, "after", after);
}

static void add_change(Changes *c, const char *before, const char *after) {
    const char *folded_before = before ? fold_line(c->arena, before) : NULL,
               *folded_after = after ? fold_line(c->arena, after) : NULL;
    const char *key =
        arena_printf(c->arena, "%s\n%s", before ? folded_before : "", after ? folded_after : "");
    json_t *entry = map_get(&c->of_key, key);
    if (!entry) {
        entry = json_object();
        put_lines(entry, before, after);
        json_put_count(entry, "count", 1);
        json_add(c->list, entry);
        map_put(&c->of_key, key, entry);
        return;
    }
    put_lines(entry, folded_before, folded_after);
    json_put_count(entry, "count",
                   (uint64_t)json_integer_value(json_object_get(entry, "count")) + 1);
}

static json_t *ops_of(const Lines *l) {
    json_t *o = json_object();
    for (int i = 0; i < OP_COUNT; i++)
        if (l->ops[i]) json_put_count(o, op_info[i].name, (uint64_t)l->ops[i]);
    return o;
}

static json_t *differences(Arena *arena, const Lines *before, const Lines *after) {
    Changes gone = changes_new(arena), fresh = changes_new(arena), changed = changes_new(arena);
    for (int i = 0; i < before->of_value.n; i++) {
        const char *old = before->of_value.entries[i].value,
                   *now = map_get(&after->of_value, before->of_value.entries[i].key);
        if (!now) add_change(&gone, old, NULL);
        if (now && strcmp(old, now)) add_change(&changed, old, now);
    }
    for (int i = 0; i < after->of_value.n; i++)
        if (!map_get(&before->of_value, after->of_value.entries[i].key))
            add_change(&fresh, NULL, after->of_value.entries[i].value);
    json_t *o = json_object();
    json_put(o, "vanished", gone.list), json_put(o, "appeared", fresh.list),
        json_put(o, "changed", changed.list);
    return o;
}

// Before it; --start-from leaves passes out.
static const Lines *lines_before(const PassLog *log, int pass, int graph) {
    static const Lines nothing;
    while (pass >= 0 && !log->graphs[pass]) pass--;
    return pass < 0 ? &nothing : &log->graphs[pass][graph];
}

static json_t *pass_of_graph(const PassLog *log, int pass, int graph) {
    const Lines *after = &log->graphs[pass + 1][graph], *before = lines_before(log, pass, graph);
    json_t *o = differences(log->arena, before, after);
    json_put_text(o, "graph", log->build->module->graphs[graph]->name);
    json_put_count(o, "nodes", (uint64_t)after->n);
    json_put(o, "ops", ops_of(after));
    return o;
}

static json_t *pass_entry(const PassLog *log, int pass) {
    json_t *o = json_object(), *graphs = json_array();
    json_put_text(o, "name", pass < 0 ? "input" : pass_info[pass].name);
    json_put_text(o, "group", pass < 0 ? "input" : group_info[pass_info[pass].group].name);
    json_put_text(o, "help", pass < 0 ? "the graphs as they were read" : pass_info[pass].help);
    for (int i = 0; i < log->n_graphs; i++) json_add(graphs, pass_of_graph(log, pass, i));
    json_put(o, "graphs", graphs);
    return o;
}

json_t *pass_log_passes(PassLog *log) {
    json_t *list = json_array();
    for (int pass = -1; pass < PASS_COUNT; pass++)
        if (log->graphs[pass + 1]) json_add(list, pass_entry(log, pass));
    return list;
}

// ------------------------------------------------------------------------------------------- sites
json_t *pass_log_sites(PassLog *log) {
    json_t *list = json_array();
    int number = 0, pass = 0;
    for (const FusionSite *s = log->build->passes.sites; s; s = s->next, number++) {
        while (pass + 1 < PASS_COUNT && number >= log->sites[pass + 1]) pass++;
        json_t *o = json_object();
        json_put_text(o, "pattern", s->pattern);
        json_put(o, "missed", json_boolean(s->missed));
        json_put_text(o, "pass", pass_info[pass].name);
        json_put(o, "at", json_of_loc(s->loc));
        if (s->node) json_put_text(o, "node", s->node), json_put_text(o, "why", s->why);
        if (s->path) json_put_text(o, "path", s->path);
        if (s->missed && advice_for(s->why)) json_put_text(o, "advice", advice_for(s->why));
        json_add(list, o);
    }
    return list;
}
