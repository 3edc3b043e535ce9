// burin explain MODEL WHAT: the source of a part, its changes by each pass, its nodes, their
// kernels and bytes.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "report/words.h"

const json_t *words_get(const json_t *object, const char *key) {
    return json_object_get(object, key);
}

const char *words_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

double words_number(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

const char *words_function(const json_t *program, const json_t *kernel) {
    return words_text(
        json_array_get(words_get(program, "functions"), (size_t)words_number(kernel, "function")),
        "name");
}

typedef struct Part {
    const json_t *root;
    const char *what,
        *folded;  // the second with * for the numbers of layers, as entries of equal layers have it
    bool is_value;  // a value's name, not a place
} Part;

// ---------------------------------------------------------------------------------------- matching
static const char *fold_what(Arena *arena, const char *what) {
    Text t = {0};
    for (const char *c = what; *c;) {
        size_t digits = strspn(c, "0123456789");
        bool number =
            digits && c > what && strchr("./_", c[-1]) && (!c[digits] || strchr("./", c[digits]));
        if (number)
            text_add(&t, "*"), c += digits;
        else
            text_append(&t, c++, 1);
    }
    const char *folded = arena_strndup(arena, t.data, t.length);
    text_free(&t);
    return folded;
}

// attention.12 -> attention
static const char *without_number(Arena *arena, const char *name) {
    const char *point = strrchr(name, '.');
    bool numbered =
        point && point > name && point[1] && !point[1 + strspn(point + 1, "0123456789")];
    return numbered ? arena_strndup(arena, name, (size_t)(point - name)) : name;
}

// A place is in another, or is it.
static bool is_inside(const char *scope, size_t length, const char *what) {
    size_t n = strlen(what);
    return length >= n && !strncmp(scope, what, n) &&
           (length == n || scope[n] == '.' || scope[n] == '/');
}

static bool node_matches(const Part *p, const json_t *node) {
    const char *scope = words_text(words_get(node, "at"), "scope");
    return p->is_value ? !strcmp(words_text(node, "name"), p->what)
                       : is_inside(scope, strlen(scope), p->what);
}

static bool is_line_of(const char *line, const char *value) {
    size_t length = strlen(value);
    return *line == '%' && !strncmp(line + 1, value, length) &&
           !strncmp(line + 1 + length, " = ", 3);
}

// The quoted location at the end of a line of IR.
static bool line_matches(const Part *p, const char *line) {
    size_t n = strlen(line), begin = n ? n - 1 : 0;
    if (p->is_value) {
        return is_line_of(line, p->what) || is_line_of(line, p->folded);
    }
    if (!n || line[n - 1] != '"') return false;
    while (begin > 0 && line[begin - 1] != '"') begin--;
    return is_inside(line + begin, n - 1 - begin, p->what) ||
           is_inside(line + begin, n - 1 - begin, p->folded);
}

static int count_lines(const Part *p, const json_t *graph, const char *list, const char *side) {
    size_t i;
    const json_t *entry;
    int n = 0;
    json_array_foreach(words_get(graph, list), i, entry) n +=
        line_matches(p, words_text(entry, side));
    return n;
}

// ------------------------------------------------------------------------------------------ source
static void print_line(Arena *arena, const json_t *root, const char *name, int line) {
    size_t i;
    const json_t *source;
    json_array_foreach(words_get(root, "sources"), i, source) {
        if (strcmp(words_text(source, "name"), name)) continue;
        const char *text = words_text(source, "text");
        for (int n = 1; n < line && text; n++) text = strchr(text, '\n'), text += text != NULL;
        if (text)
            print_spelled("  %s:%d | %s\n", name, line,
                          arena_strndup(arena, text, strcspn(text, "\n")));
        return;
    }
}

// Each line of the description once, in the order of the nodes.
static void print_sources(Arena *arena, const Part *p, const json_t *nodes) {
    Map seen;
    size_t i;
    const json_t *node;
    map_init(&seen, arena);
    json_array_foreach(nodes, i, node) {
        const json_t *at = words_get(node, "at");
        int line = (int)words_number(at, "line");
        const char *key =
            arena_printf(arena, "%s %d", words_text(at, line ? "source" : "text"), line);
        if (!node_matches(p, node) || map_get(&seen, key) || !*words_text(at, "text")) continue;
        map_put(&seen, key, (void *)at);
        if (line)
            print_line(arena, p->root, words_text(at, "source"), line);
        else
            print_spelled("  %s\n", words_text(at, "text"));
    }
}

// ------------------------------------------------------------------------------------------ passes
static void print_pass(const Part *p, const json_t *pass) {
    int gone = 0, fresh = 0, changed = 0;
    size_t i;
    const json_t *graph;
    json_array_foreach(words_get(pass, "graphs"), i, graph) {
        gone += count_lines(p, graph, "vanished", "before"),
            fresh += count_lines(p, graph, "appeared", "after");
        changed += count_lines(p, graph, "changed", "after");
    }
    if (gone + fresh + changed)
        print_spelled("  %-18s %3d vanished, %3d changed, %3d appeared: %s\n",
                      words_text(pass, "name"), gone, changed, fresh, words_text(pass, "help"));
}

// ----------------------------------------------------------------------------------------- kernels
typedef struct Totals {
    int nodes, kernels;
    double operations, weight_bytes, bytes;
} Totals;

static bool has_node(const Part *p, const json_t *nodes, const char *name) {
    size_t i;
    const json_t *node;
    json_array_foreach(nodes, i, node) {
        if (!strcmp(words_text(node, "name"), name)) return node_matches(p, node);
    }
    return false;
}

static void print_kernels(const Part *p, const json_t *program, Totals *t) {
    const json_t *nodes = words_get(words_get(program, "graph"), "nodes"), *kernel,
                 *step = json_array_get(words_get(program, "costs"), 0);
    size_t i;
    json_array_foreach(words_get(program, "kernels"), i, kernel) {
        if (!has_node(p, nodes, words_text(kernel, "node"))) continue;
        const json_t *cost = json_array_get(words_get(step, "kernels"), i);
        double operations = words_number(cost, "operations"),
               weights = words_number(cost, "weight_bytes"), bytes = words_number(cost, "bytes");
        if (!t->kernels++)
            print_spelled("kernels, %s\n  %-6s %-44s %12s %14s %14s\n", words_text(step, "step"),
                          "number", "function", "operations", "weight bytes", "other bytes");
        print_spelled("  %-6zu %-44s %12.4g %14.0f %14.0f  %%%s\n", i,
                      words_function(program, kernel), operations, weights, bytes,
                      words_text(kernel, "node"));
        t->operations += operations, t->weight_bytes += weights, t->bytes += bytes;
    }
    if (t->kernels)
        printf("  %-6s %-44s %12.4g %14.0f %14.0f\n", "", "all of them", t->operations,
               t->weight_bytes, t->bytes);
}

static void explain_program(Arena *arena, const Part *p, const json_t *program) {
    const json_t *nodes = words_get(words_get(program, "graph"), "nodes"), *node, *pass;
    Totals t = {0};
    size_t i;
    json_array_foreach(nodes, i, node) t.nodes += node_matches(p, node);
    if (!t.nodes) return;
    print_spelled("%s in %s\nsource\n", p->what, words_text(words_get(program, "graph"), "name"));
    print_sources(arena, p, nodes);
    printf("passes (equal layers counted once)\n");
    json_array_foreach(words_get(p->root, "passes"), i, pass) print_pass(p, pass);
    printf("became\n");
    json_array_foreach(nodes, i, node) {
        if (node_matches(p, node)) print_spelled("  %s\n", words_text(node, "text"));
    }
    print_kernels(p, program, &t);
}

// ------------------------------------------------------------------------------------------- names
typedef struct Names {
    Arena *arena;
    Map seen;
} Names;

static void add_name(Names *n, const char *name) {
    if (*name && !map_get(&n->seen, name)) map_put(&n->seen, name, (void *)name);
}

// Every place that something is in: "model.layers.3" of "model.layers.3.mlp" too.
static void add_places(Names *n, const char *scope) {
    for (const char *c = scope; *c; c++)
        if (*c == '.' && c > scope)
            add_name(n, arena_strndup(n->arena, scope, (size_t)(c - scope)));
    add_name(n, scope);
}

static void names_of(Names *n, const json_t *root) {
    size_t i, j;
    const json_t *program, *node;
    json_array_foreach(words_get(root, "programs"), i, program) {
        json_array_foreach(words_get(words_get(program, "graph"), "nodes"), j, node) {
            add_name(n, words_text(node, "name"));
            add_places(n, words_text(words_get(node, "at"), "scope"));
        }
    }
}

static _Noreturn void refuse_name(const Names *n, const char *what) {
    const char **list = ARENA_ARRAY(n->arena, const char *, n->seen.n + 1);
    for (int i = 0; i < n->seen.n; i++) list[i] = n->seen.entries[i].key;
    const char *near = nearest_name(what, list, (size_t)n->seen.n);
    if (near)
        diag_fatal(NO_LOC, "nothing in the compiled model is called %s\nhint: did you mean %s?",
                   what, near);
    diag_fatal(NO_LOC,
               "nothing in the compiled model is called %s\nhint: `burin inspect MODEL --emit=ir` "
               "prints its values and places",
               what);
}

void explain_part(Arena *arena, const json_t *root, const char *what) {
    Part p = {.root = root, .what = what + (*what == '%')};
    Names names = {.arena = arena};
    size_t i, j;
    const json_t *program, *node;
    bool found = false;
    map_init(&names.seen, arena);
    names_of(&names, root);
    if (!map_get(&names.seen, p.what)) refuse_name(&names, what);
    p.folded = fold_what(arena, p.what);
    json_array_foreach(words_get(root, "programs"), i, program) {
        json_array_foreach(words_get(words_get(program, "graph"), "nodes"), j, node) found |=
            node_matches(&p, node);
    }
    p.is_value = !found;
    if (p.is_value) p.folded = without_number(arena, p.what);
    json_array_foreach(words_get(root, "programs"), i, program) explain_program(arena, &p, program);
}
