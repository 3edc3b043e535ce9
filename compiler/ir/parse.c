// Reads the text form of graphs (print.c) back: locations, nodes and graphs; parse_value.c reads
// types and attributes.
//
//   graph      = "graph" NAME "(" input* ")" "->" "(" output* ")" ["where" bound ("," bound)*] "{" node* "}"
//   input      = "%" NAME ":" type [attributes] [location]
//   output     = [STRING "="] "%" NAME
//   bound      = [INT "<="] SYMBOL "<=" dim
//   node       = "%" NAME "=" OP ["(" operand* ")"] [attributes] [":" type] [location]
//   operand    = [NAME "="] "%" NAME | "_"             (absent; a name, which ops.def gives, skips those before it)
//   type       = DTYPE ["[" dim* "]"] | "(" type* ")"  (the latter: of a tuple)
//   attributes = "{" NAME "=" value ("," NAME "=" value)* "}"
//   value      = INT | FLOAT | STRING | DTYPE | "[" INT* "]" | "floats[" FLOAT* "]" | "strings[" STRING* "]" | "dims[" dim* "]"
//              | "ints[" INT* "]" | "int" INT | "expr(" formula ")" | "tensor(" DTYPE ["[" INT* "]"] "," data ")" | graph
//   data       = HASH | element | "[" element* "]"
//   location   = "@" path (":" LINE ":" COLUMN | "#" INDEX) [STRING]
//
// Lists are separated by commas. An attribute of the kind that ops.def gives it needs no word
// before it; a dimension that it calls one (`dim`) stands without brackets. The type of a node may
// be left out where its operands give it; when it is there it must agree. "//" starts a comment.
// The first error ends the reading.
#include "ir/parse.h"

#include <ctype.h>
#include <string.h>

enum { MAX_NESTING = 16 };
#define MOST_BOUND (INT64_C(1) << 40)

// --------------------------------------------------------------------------------------- locations
static const Source *source_named(Parser *p, const char *name, size_t size) {
    const char *key = arena_printf(p->scratch, "%s%c", name, size ? ':' : '#');
    Source *s = map_get(&p->sources, key);
    if (s) return s;
    s = ARENA_NEW(p->graph->arena, Source);
    *s = (Source){.name = arena_strdup(p->graph->arena, name), .size = size};
    map_put(&p->sources, key, s);
    return s;
}

static bool read_loc(Parser *p, Loc *loc) {
    if (!parse_accept(p, "@")) return !p->failed;
    int64_t line, column;
    const char *file;
    if (*p->at == '"') {
        file = parse_string(p);
    } else {
        size_t n = strcspn(p->at, ":# \n");
        file = arena_strndup(p->scratch, p->at, n);
        p->at += n;
    }
    if (!file) return false;
    if (parse_accept(p, "#")) {
        if (!parse_int(p, &line)) return false;
        *loc = (Loc){.source = source_named(p, file, 0), .offset = (uint32_t)line};
    } else {
        if (!parse_expect(p, ":") || !parse_int(p, &line) || !parse_expect(p, ":") ||
            !parse_int(p, &column))
            return false;
        if (line < 0 || line >= 1 << 20 || column < 0 || column >= 4096)
            return parse_fail(p, "this line or column is out of range");
        *loc = (Loc){.source = source_named(p, file, SOURCE_OF_LINES),
                     .offset = (uint32_t)(line << 12 | column)};
    }
    while (*p->at == ' ') p->at++;
    const char *scope = *p->at == '"' ? parse_string(p) : NULL;
    if (scope) loc->scope = arena_strdup(p->graph->arena, scope);
    return !p->failed;
}

// ------------------------------------------------------------------------------------------- nodes
static const char *read_name(Parser *p) {
    return parse_expect(p, "%") ? parse_word(p, "the name of a value after \"%\"") : NULL;
}

static Node *find_value(Parser *p, const char *name) {
    for (Graph *g = p->graph; g; g = g->outer) {
        Node *n = map_get(&g->names, name);
        if (n) return n;
    }
    return NULL;
}

static Node *read_value_name(Parser *p) {
    parse_skip(p);
    const char *start = p->at, *name = read_name(p);
    Node *n = name ? find_value(p, name) : NULL;
    if (name && !n) p->at = start, parse_fail(p, "there is no value %%%s before this line", name);
    return n;
}

// NAME "=": the operands up to the one of this name are absent.
static bool skip_to_named(Parser *p, Op op, Node **in, int *n) {
    parse_skip(p);
    const char *start = p->at, *name = isalpha((unsigned char)*p->at)
                                           ? parse_word(p, "the name of an operand")
                                           : NULL;
    if (!name) return !p->failed;
    int i = op_operand_named(op, name);
    p->at = i < *n ? start : p->at;
    if (i < *n)
        return parse_fail(p, "%s has no operand \"%s\" here\nnote: its operands are %s",
                          op_info[op].name, name, op_info[op].operands);
    while (*n < i) in[(*n)++] = NULL;
    return parse_expect(p, "=");
}

static int read_operands(Parser *p, Op op, Node **in) {
    int n = 0;
    if (!parse_accept(p, "(") || parse_accept(p, ")")) return 0;
    do {
        if (n == MAX_LIST) return parse_fail(p, "more than %d operands", MAX_LIST), 0;
        if (!skip_to_named(p, op, in, &n)) return 0;
        in[n] = parse_accept(p, "_") ? NULL : read_value_name(p);
        n++;
    } while (!p->failed && parse_accept(p, ","));
    parse_expect(p, ")");
    return n;
}

static bool read_op(Parser *p, Op *op) {
    parse_skip(p);
    const char *start = p->at, *word = parse_word(p, "the name of an operation");
    if (!word || op_find(word, op)) return word != NULL;
    const char *names[OP_COUNT];
    for (int i = 0; i < OP_COUNT; i++) names[i] = op_info[i].name;
    const char *near = nearest_name(word, names, OP_COUNT);
    p->at = start;
    return parse_fail(p, "unknown operation \"%s\"%-s%s%s", word,
                      near ? "\nhint: did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static bool read_tuple_type(Parser *p, Node *n) {
    Type items[MAX_LIST / 16];
    int count = 0;
    if (!parse_accept(p, ")")) {
        do {
            if (count == MAX_LIST / 16) return parse_fail(p, "too many results");
            if (!parse_type(p, &items[count++])) return false;
        } while (parse_accept(p, ","));
        if (!parse_expect(p, ")")) return false;
    }
    Type *copy = ARENA_ARRAY(p->graph->arena, Type, count);
    if (count) memcpy(copy, items, (size_t)count * sizeof *copy);
    n->items = copy, n->n_items = count;
    n->type = type_scalar(DT_tuple);
    return true;
}

static bool same_types(const Node *a, const Node *b) {
    bool same = type_equal(&a->type, &b->type) && a->n_items == b->n_items;
    for (int i = 0; same && i < a->n_items; i++) same = type_equal(&a->items[i], &b->items[i]);
    return same;
}

// The type in the text against the type that the operands give; without one in the text, the
// latter. Errors of inference point at the operation (n->loc).
static bool read_result_type(Parser *p, Node *n) {
    bool given = parse_accept(p, ":");
    const char *start = p->at;
    if (given && !(parse_accept(p, "(") ? read_tuple_type(p, n) : parse_type(p, &n->type)))
        return false;
    const char *after = p->at;
    bool alone = op_most(n->op) == 0 && n->op != OP_iota;
    p->at = p->source->text + n->loc.offset;
    if (!given && alone) return parse_fail(p, "%s needs its type", op_info[n->op].name);
    Node stated = *n;
    if (!node_infer(n)) return !(p->failed = true);
    p->at = start;
    parse_skip(p);
    if (given && !same_types(n, &stated))
        return parse_fail(p, "the operands give %s, not %s", type_text(&n->type),
                          type_text(&stated.type));
    p->at = after;
    return true;
}

static bool read_node(Parser *p) {
    const char *start = p->at, *name = read_name(p);
    Op op;
    if (!name) return false;
    if (map_get(&p->graph->names, name))
        return p->at = start, parse_fail(p, "there is already a value %%%s", name);
    if (!parse_expect(p, "=")) return false;
    parse_skip(p);
    Loc at_op = parse_here(p, parse_token_length(p));
    if (!read_op(p, &op)) return false;
    Node *in[MAX_LIST];
    int n_in = read_operands(p, op, in);
    if (p->failed) return false;
    Node *n = node_make(p->graph, op, at_op, n_in, in, NULL);
    node_set_name(n, name);
    if (op == OP_constant ? !parse_constant(p, n) : !parse_attrs(p, n) || !read_result_type(p, n))
        return false;
    n->loc = NO_LOC;
    return read_loc(p, &n->loc);
}

// ------------------------------------------------------------------------------------------ graphs
static bool read_inputs(Parser *p) {
    if (!parse_expect(p, "(")) return false;
    if (parse_accept(p, ")")) return true;
    do {
        Type type;
        parse_skip(p);
        const char *start = p->at, *name = read_name(p);
        if (name && map_get(&p->graph->names, name))
            return p->at = start, parse_fail(p, "there are two inputs %%%s", name);
        if (!name || !parse_expect(p, ":") || !parse_type(p, &type)) return false;
        Node *n = graph_add_input(p->graph, name, type, NO_LOC);
        if (!parse_attrs(p, n) || !read_loc(p, &n->loc)) return false;
    } while (parse_accept(p, ","));
    return parse_expect(p, ")");
}

static bool read_outputs(Parser *p) {
    if (parse_accept(p, ")")) return true;
    do {
        parse_skip(p);
        const char *name = *p->at == '"' ? parse_string(p) : NULL;
        if (p->failed || (name && !parse_expect(p, "="))) return false;
        Node *n = read_value_name(p);
        if (!n) return false;
        graph_add_output(p->graph, n, name ? name : n->name);
    } while (parse_accept(p, ","));
    return parse_expect(p, ")");
}

static bool read_bound(Parser *p) {
    int64_t lower = 1;
    parse_skip(p);
    if (isdigit((unsigned char)*p->at) && (!parse_int(p, &lower) || !parse_expect(p, "<=")))
        return false;
    const char *start = p->at, *name = parse_word(p, "a symbol");
    if (!name || !parse_expect(p, "<=")) return false;
    const Dim *upper = parse_dim(p);
    if (!upper) return false;
    if (lower < 0 || dim_upper(upper) < lower || dim_upper(upper) > MOST_BOUND)
        return p->at = start, parse_fail(p,
                                         "%s would be from %lld to %s\nhint: bounds are from 0 to "
                                         "2^40, the lower one is 1 if none is given",
                                         name, (long long)lower, dim_text(upper));
    dim_symbol(p->graph, name, lower, dim_upper(upper));
    return true;
}

static bool read_where(Parser *p) {
    if (!parse_accept(p, "where ")) return !p->failed;
    do
        if (!read_bound(p)) return false;
    while (parse_accept(p, ","));
    return true;
}

// Moves over a parenthesis and its contents.
static bool skip_parentheses(Parser *p) {
    const char *start = p->at;
    int depth = 0;
    do {
        parse_skip(p);
        if (*p->at == '"' && !parse_string(p)) return false;
        if (!*p->at) return p->at = start, parse_fail(p, "this parenthesis has no end");
        depth += (*p->at == '(') - (*p->at == ')');
        p->at += *p->at != '"';
    } while (depth);
    return true;
}

// Symbols are declared at the end of the head and used before: they are read first. Outputs name
// values of the body: last.
static bool read_body(Parser *p) {
    parse_skip(p);
    const char *inputs = p->at;
    if (*p->at != '(') return parse_fail(p, "expected the inputs in parentheses");
    if (!skip_parentheses(p) || !parse_expect(p, "->") || !parse_expect(p, "(")) return false;
    const char *outputs = p->at;
    p->at = outputs - 1;
    if (!skip_parentheses(p) || !read_where(p) || !parse_expect(p, "{")) return false;
    const char *body = p->at;
    p->at = inputs;
    if (!read_inputs(p)) return false;
    p->at = body;
    while (!parse_accept(p, "}"))
        if (p->failed || !read_node(p)) return false;
    const char *end = p->at;
    p->at = outputs;
    if (!read_outputs(p)) return false;
    p->at = end;
    return true;
}

Graph *parse_graph(Parser *p, Graph *outer) {
    if (p->depth >= MAX_NESTING)
        return parse_fail(p, "graphs are nested more than %d deep", MAX_NESTING), NULL;
    if (!parse_expect(p, "graph ")) return NULL;
    const char *name = parse_word(p, "the name of the graph");
    if (!name) return NULL;
    Graph *g = outer ? graph_new_nested(outer, name) : graph_new(name);
    p->graph = g;
    p->depth++;
    bool ok = read_body(p);
    p->depth--;
    if (ok) return g;
    graph_free(g);
    return NULL;
}

Graph *graph_parse_at(const Source *source, size_t *offset, const ConstantFile *constants) {
    Parser p = {.source = source,
                .at = source->text + *offset,
                .scratch = arena_new(),
                .constants = constants};
    map_init(&p.sources, p.scratch);
    Graph *g = parse_graph(&p, NULL);
    parse_skip(&p);
    *offset = (size_t)(p.at - source->text);
    arena_free(p.scratch);
    return g;
}

Graph *graph_parse(const Source *source, ConstantFile *constants) {
    size_t offset = 0;
    Graph *g = graph_parse_at(source, &offset, constants);
    if (!g || !source->text[offset]) return g;
    diag_error((Loc){.source = source, .offset = (uint32_t)offset, .length = 1},
               "expected the end of the text after the graph");
    graph_free(g);
    return NULL;
}
