// Reads the text form of graphs (print.c) back.
//
//   graph      = "graph" NAME "(" input* ")" "->" "(" output* ")" ["where" bound ("," bound)*] "{" node* "}"
//   input      = "%" NAME ":" type [attributes] [location]
//   output     = [STRING "="] "%" NAME
//   bound      = [INT "<="] SYMBOL "<=" dim
//   node       = "%" NAME "=" OP ["(" operand* ")"] [attributes] [":" type] [location]
//   operand    = "%" NAME | "_"                        (an optional operand that is absent)
//   type       = DTYPE ["[" dim* "]"] | "(" type* ")"  (the latter: of a tuple)
//   attributes = "{" NAME "=" value ("," NAME "=" value)* "}"
//   value      = INT | FLOAT | STRING | DTYPE | "[" INT* "]" | "floats[" FLOAT* "]" | "strings[" STRING* "]" | "dims[" dim* "]"
//              | "ints[" INT* "]" | "int" INT | "expr(" formula ")" | "tensor(" DTYPE ["[" INT* "]"] "," data ")" | graph
//   data       = HASH | element | "[" element* "]"
//   location   = "@" path (":" LINE ":" COLUMN | "#" INDEX) [STRING]
//
// Lists are separated by commas. Attributes called shape, dims, start and extent are dimensions, expr and epilogue formulas,
// without a word in front. The type of a node may be left out where its operands give it; when it is there it must agree. "//"
// starts a comment. The first error ends the reading.
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ir.h"
#include "ir/convert.h"
#include "ir/dump.h"
#include "ir/internal.h"

enum { MAX_NAME = 512, MAX_LIST = 4096, MAX_NESTING = 16 };

typedef struct {
    const Source *source;
    const char *at;
    Arena *scratch;
    Graph *graph;
    const ConstantFile *constants;
    Map sources;  // of locations, by file name
    bool failed;
    int depth;
} Parser;

// ---------------------------------------------------------------------------------------------------------------------- lexing
static Loc here(const Parser *p, size_t length) {
    return (Loc){.source = p->source, .offset = (uint32_t)(p->at - p->source->text), .length = (uint32_t)length};
}

// The length of the token at the cursor, for the caret.
static size_t token_length(const Parser *p) {
    size_t n = *p->at == '%';
    while (isalnum((unsigned char)p->at[n]) || p->at[n] == '_' || p->at[n] == '.') n++;
    return n ? n : 1;
}

__attribute__((format(printf, 2, 3))) static bool fail(Parser *p, const char *format, ...) {
    if (p->failed) return false;
    p->failed = true;
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(p->scratch, format, args);
    va_end(args);
    diag_error(here(p, token_length(p)), "%s", message);
    return false;
}

static void skip(Parser *p) {
    for (;;) {
        while (isspace((unsigned char)*p->at)) p->at++;
        if (p->at[0] != '/' || p->at[1] != '/') return;
        while (*p->at && *p->at != '\n') p->at++;
    }
}

static bool peek(Parser *p, const char *word) {
    skip(p);
    return !strncmp(p->at, word, strlen(word));
}

static bool accept(Parser *p, const char *word) {
    if (p->failed || !peek(p, word)) return false;
    p->at += strlen(word);
    return true;
}

static bool expect(Parser *p, const char *word) { return accept(p, word) || fail(p, "expected \"%s\"", word); }

// Letters, digits, "_" and "."; a static-sized copy in the scratch arena, or NULL.
static const char *read_word(Parser *p, const char *what) {
    skip(p);
    size_t n = 0;
    while (isalnum((unsigned char)p->at[n]) || p->at[n] == '_' || p->at[n] == '.') n++;
    if (!n || n >= MAX_NAME) return fail(p, "expected %s", what), NULL;
    const char *word = arena_strndup(p->scratch, p->at, n);
    p->at += n;
    return word;
}

static const char *read_name(Parser *p) { return expect(p, "%") ? read_word(p, "the name of a value after \"%\"") : NULL; }

static bool read_int(Parser *p, int64_t *value) {
    skip(p);
    char *end;
    errno = 0;
    *value = strtoll(p->at, &end, 0);
    if (end == p->at || errno == ERANGE) return fail(p, "expected an integer of 64 bits");
    p->at = end;
    return true;
}

static bool read_unsigned(Parser *p, int base, uint64_t *value) {
    skip(p);
    char *end;
    errno = 0;
    *value = strtoull(p->at, &end, base);
    bool good = end != p->at && *p->at != '-' && errno != ERANGE;
    if (!good) return fail(p, base == 16 ? "expected a hash: 0x and 16 hexadecimal digits" : "expected a number of 64 bits");
    p->at = end;
    return true;
}

static bool read_float(Parser *p, double *value) {
    skip(p);
    char *end;
    *value = strtod(p->at, &end);
    if (end == p->at) return fail(p, "expected a number");
    p->at = end;
    return true;
}

static int hex_digit(char c) {
    return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower(c) - 'a' + 10 : -1;
}

static const char *read_string(Parser *p) {
    if (!expect(p, "\"")) return NULL;
    Text t = {0};
    text_append(&t, "", 0);
    for (; *p->at != '"'; p->at++) {
        char c = *p->at;
        if (!c || c == '\n') {
            text_free(&t);
            return fail(p, "this string has no closing quote"), NULL;
        }
        if (c == '\\' && p->at[1]) {
            c = *++p->at;
            int high = c == 'x' ? hex_digit(p->at[1]) : -1, low = high >= 0 ? hex_digit(p->at[2]) : -1;
            if (low >= 0) c = (char)(16 * high + low), p->at += 2;
        }
        text_append(&t, &c, 1);
    }
    p->at++;
    const char *s = arena_strdup(p->scratch, t.data);
    text_free(&t);
    return s;
}

// ------------------------------------------------------------------------------------------------------- dimensions and types
static const Dim *read_dim(Parser *p) {
    skip(p);
    const char *end;
    const Dim *d = p->failed ? NULL : dim_parse(p->graph, p->at, &end);
    if (d) return p->at = end, d;
    if (!p->failed) p->at = end;
    fail(p, "expected a dimension: numbers and the symbols of the \"where\" clause with + - * // %% min max");
    return NULL;
}

// Dimensions up to the closing bracket.
static int read_dims(Parser *p, const Dim **dims, int most) {
    int n = 0;
    if (accept(p, "]")) return 0;
    do {
        if (n == most) return fail(p, "more than %d dimensions", most), 0;
        dims[n] = read_dim(p);
    } while (dims[n++] && accept(p, ","));
    expect(p, "]");
    return n;
}

static bool read_dtype(Parser *p, DType *dtype) {
    const char *start = p->at, *word = read_word(p, "an element type");
    if (word && dtype_parse(word, dtype)) return true;
    if (word) p->at = start, skip(p);
    return fail(p, "unknown element type \"%s\"", word ? word : "");
}

static bool read_type(Parser *p, Type *type) {
    *type = (Type){0};
    if (!read_dtype(p, &type->dtype)) return false;
    if (*p->at == '[') {
        p->at++;
        type->rank = read_dims(p, type->dim, MAX_RANK);
    }
    return !p->failed;
}

// --------------------------------------------------------------------------------------------------------------------
// constants
static bool read_element(Parser *p, DType dtype, void *data, int64_t i) {
    if (dtype_is_float(dtype)) {
        double x;
        if (!read_float(p, &x)) return false;
        dtype_store(dtype, data, i, x);
        return true;
    }
    int64_t v;
    uint64_t large;
    if (dtype == DT_u64 ? !read_unsigned(p, 0, &large) : !read_int(p, &v)) return false;
    if (dtype == DT_u64) v = (int64_t)large;
    convert_elements(dtype, (char *)data + (dtype_bits(dtype) >= 8 ? i * dtype_bits(dtype) / 8 : 0), DT_i64, &v, 1);
    return true;
}

// Elements narrower than a byte are read one to a byte first.
static bool read_elements(Parser *p, Tensor *t, int64_t count) {
    DType wide = dtype_bits(t->dtype) >= 8 ? t->dtype : dtype_is_float(t->dtype) ? DT_f32 : DT_i8;
    void *data = arena_alloc(p->graph->arena, dtype_bytes(wide, count));
    if (t->rank && !expect(p, "[")) return false;
    for (int64_t i = 0; i < count; i++)
        if ((i && !expect(p, ",")) || !read_element(p, wide, data, i)) return false;
    if (t->rank && !expect(p, "]")) return false;
    if (wide != t->dtype) {
        void *packed = arena_alloc(p->graph->arena, dtype_bytes(t->dtype, count));
        convert_elements(t->dtype, packed, wide, data, count);
        data = packed;
    }
    t->data = data;
    return true;
}

static bool tensor_of_type(Parser *p, const Type *type, Tensor *t, int64_t *count) {
    *t = (Tensor){.dtype = type->dtype, .rank = type->rank};
    *count = 1;
    if (type->dtype > DT_f4e2m1) return fail(p, "a constant cannot be %s", dtype_name(type->dtype));
    for (int i = 0; i < type->rank; i++) {
        if (!dim_is_const(type->dim[i], &t->dim[i]) || t->dim[i] < 0)
            return fail(p, "a constant has dimensions that are numbers");
        if (__builtin_mul_overflow(*count, t->dim[i], count) || *count > INT64_MAX / 64)
            return fail(p, "this constant is too large");
    }
    t->bytes = dtype_bytes(t->dtype, *count);
    return true;
}

// The data of a constant, in place or by hash; *value NULL when it is by hash and there is no file of constants.
static bool read_data(Parser *p, const Type *type, uint64_t *hash, const Tensor **value, const char *name) {
    Tensor *t = ARENA_NEW(p->graph->arena, Tensor);
    int64_t count;
    *value = t;
    if (!tensor_of_type(p, type, t, &count)) return false;
    if (name) t->name = arena_strdup(p->graph->arena, name);
    if (!*hash)
        return count <= MAX_INLINE ? read_elements(p, t, count) : fail(p, "at most %d elements can stand in place", MAX_INLINE);
    if (!p->constants) return *value = NULL, true;
    t->data = constants_find(p->constants, *hash, t->bytes);
    return t->data || fail(p,
                           "the file of constants has no %llu bytes with the hash 0x%016llx\nhint: keep the file \"constants\" "
                           "beside its .ir files",
                           (unsigned long long)t->bytes, (unsigned long long)*hash);
}

// Reads {hash=..., name=...} or {name=..., value=...}: the type that gives them meaning follows.
static bool read_constant(Parser *p, Node *n) {
    uint64_t hash = 0;
    const char *name = NULL, *values = NULL;
    if (!expect(p, "{")) return false;
    do {
        if (accept(p, "hash=")) {
            read_unsigned(p, 16, &hash);
        } else if (accept(p, "name=")) {
            name = read_string(p);
        } else if (accept(p, "value=")) {
            skip(p);
            values = p->at;
            p->at += strcspn(p->at, *p->at == '[' ? "]" : ",}");
            if (*values == '[') expect(p, "]");
        } else {
            return fail(p, "a constant has hash, name and value");
        }
    } while (accept(p, ","));
    if (!expect(p, "}") || !expect(p, ":") || !read_type(p, &n->type)) return false;
    if (!hash && !values) return fail(p, "a constant needs a hash or a value");
    const char *after = p->at;
    if (values) p->at = values, hash = 0;
    if (!read_data(p, &n->type, &hash, &n->value, name)) return false;
    n->hash = hash, n->hashed = n->value;
    if (!n->value && name) attr_set_string(n, "name", name);
    p->at = after;
    return true;
}

// -------------------------------------------------------------------------------------------------------------------
// attributes
static Graph *read_graph(Parser *p, Graph *outer);

static bool read_int_list(Parser *p, Node *n, const char *name) {
    int64_t values[MAX_LIST];
    int count = 0;
    if (!accept(p, "]")) {
        do {
            if (count == MAX_LIST) return fail(p, "a list of more than %d", MAX_LIST);
            if (!read_int(p, &values[count++])) return false;
        } while (accept(p, ","));
        if (!expect(p, "]")) return false;
    }
    attr_set_ints(n, name, values, count);
    return true;
}

static bool read_float_list(Parser *p, Node *n, const char *name) {
    double values[MAX_LIST];
    int count = 0;
    if (!accept(p, "]")) {
        do {
            if (count == MAX_LIST) return fail(p, "a list of more than %d", MAX_LIST);
            if (!read_float(p, &values[count++])) return false;
        } while (accept(p, ","));
        if (!expect(p, "]")) return false;
    }
    attr_set_floats(n, name, values, count);
    return true;
}

static bool read_string_list(Parser *p, Node *n, const char *name) {
    const char *values[MAX_LIST];
    int count = 0;
    if (!accept(p, "]")) {
        do {
            if (count == MAX_LIST) return fail(p, "a list of more than %d", MAX_LIST);
            if (!(values[count++] = read_string(p))) return false;
        } while (accept(p, ","));
        if (!expect(p, "]")) return false;
    }
    attr_set_strings(n, name, values, count);
    return true;
}

static bool read_dim_list(Parser *p, Node *n, const char *name) {
    const Dim *dims[MAX_LIST];
    int count = read_dims(p, dims, MAX_LIST);
    if (!p->failed) attr_set_dims(n, name, dims, count);
    return !p->failed;
}

static bool read_formula(Parser *p, Node *n, const char *name) {
    skip(p);
    const char *end;
    const Expr *e = expr_parse(p->graph->arena, p->at, &end);
    p->at = end;
    if (!e) return fail(p, "expected a formula: $0, a number, or an elementwise op of formulas");
    attr_set_expr(n, name, e);
    return true;
}

static bool read_tensor(Parser *p, Node *n, const char *name) {
    Type type;
    uint64_t hash = 0;
    const Tensor *value;
    if (!read_type(p, &type) || !expect(p, ",")) return false;
    if (peek(p, "0x")) read_unsigned(p, 16, &hash);
    if (!read_data(p, &type, &hash, &value, NULL) || !expect(p, ")")) return false;
    if (!value) return fail(p, "this tensor needs the file of constants");
    attr_set_tensor(n, name, value);
    return true;
}

static bool read_nested(Parser *p, Node *n, const char *name) {
    Graph *outer = p->graph, *body = read_graph(p, outer);
    p->graph = outer;
    if (body) attr_set_graph(n, name, body);
    return body != NULL;
}

static bool read_number(Parser *p, Node *n, const char *name) {
    size_t length = strspn(p->at, "+-0123456789abcdefxABCDEFX.p");
    bool hex = memchr(p->at, 'x', length), real = memchr(p->at, '.', length) || memchr(p->at, hex ? 'p' : 'e', length);
    int64_t i;
    double f;
    if (real || peek(p, "inf") || peek(p, "-inf") || peek(p, "nan") || peek(p, "-nan")) {
        if (!read_float(p, &f)) return false;
        attr_set_float(n, name, f);
    } else {
        if (!read_int(p, &i)) return false;
        attr_set_int(n, name, i);
    }
    return true;
}

static bool read_one_dim(Parser *p, Node *n, const char *name) {
    const Dim *d = read_dim(p);
    if (d) attr_set_dims(n, name, &d, 1);
    return d != NULL;
}

static bool read_bare_word(Parser *p, Node *n, const char *name) {
    DType dtype;
    if (!read_dtype(p, &dtype)) return false;
    attr_set_dtype(n, name, dtype);
    return true;
}

static bool read_string_attr(Parser *p, Node *n, const char *name) {
    const char *s = read_string(p);
    if (s) attr_set_string(n, name, s);
    return s != NULL;
}

static bool read_value(Parser *p, Node *n, const char *name) {
    AttrKind expected = attr_kind_expected(name);
    skip(p);
    if (*p->at == '"') return read_string_attr(p, n, name);
    if (accept(p, "int ")) return read_number(p, n, name);
    if (accept(p, "ints[")) return read_int_list(p, n, name);
    if (accept(p, "floats[")) return read_float_list(p, n, name);
    if (accept(p, "strings[")) return read_string_list(p, n, name);
    if (accept(p, "dims[")) return read_dim_list(p, n, name);
    if (accept(p, "expr(")) return read_formula(p, n, name) && expect(p, ")");
    if (accept(p, "tensor(")) return read_tensor(p, n, name);
    if (peek(p, "graph ")) return read_nested(p, n, name);
    if (accept(p, "[")) return expected == ATTR_DIMS ? read_dim_list(p, n, name) : read_int_list(p, n, name);
    if (expected == ATTR_EXPR) return read_formula(p, n, name);
    if (expected == ATTR_DIMS && attr_is_one_dim(name)) return read_one_dim(p, n, name);
    if (isdigit((unsigned char)*p->at) || *p->at == '-' || peek(p, "inf") || peek(p, "nan")) return read_number(p, n, name);
    return read_bare_word(p, n, name);
}

static bool read_attrs(Parser *p, Node *n) {
    if (!accept(p, "{")) return !p->failed;
    do {
        const char *name = read_word(p, "the name of an attribute");
        if (!name || !expect(p, "=")) return false;
        if (attr_find(n, name)) return fail(p, "attribute \"%s\" is there twice", name);
        if (!read_value(p, n, name)) return false;
    } while (accept(p, ","));
    return expect(p, "}");
}

// --------------------------------------------------------------------------------------------------------------------
// locations
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
    if (!accept(p, "@")) return !p->failed;
    int64_t line, column;
    const char *file;
    if (*p->at == '"') {
        file = read_string(p);
    } else {
        size_t n = strcspn(p->at, ":# \n");
        file = arena_strndup(p->scratch, p->at, n);
        p->at += n;
    }
    if (!file) return false;
    if (accept(p, "#")) {
        if (!read_int(p, &line)) return false;
        *loc = (Loc){.source = source_named(p, file, 0), .offset = (uint32_t)line};
    } else {
        if (!expect(p, ":") || !read_int(p, &line) || !expect(p, ":") || !read_int(p, &column)) return false;
        if (line < 0 || line >= 1 << 20 || column < 0 || column >= 4096) return fail(p, "this line or column is out of range");
        *loc = (Loc){.source = source_named(p, file, SOURCE_OF_LINES), .offset = (uint32_t)(line << 12 | column)};
    }
    while (*p->at == ' ') p->at++;
    const char *scope = *p->at == '"' ? read_string(p) : NULL;
    if (scope) loc->scope = arena_strdup(p->graph->arena, scope);
    return !p->failed;
}

// ------------------------------------------------------------------------------------------------------------------------
// nodes
static Node *find_value(Parser *p, const char *name) {
    for (Graph *g = p->graph; g; g = g->outer) {
        Node *n = map_get(&g->names, name);
        if (n) return n;
    }
    return NULL;
}

static Node *read_value_name(Parser *p) {
    skip(p);
    const char *start = p->at, *name = read_name(p);
    Node *n = name ? find_value(p, name) : NULL;
    if (name && !n) p->at = start, fail(p, "there is no value %%%s before this line", name);
    return n;
}

static int read_operands(Parser *p, Node **in) {
    int n = 0;
    if (!accept(p, "(") || accept(p, ")")) return 0;
    do {
        if (n == MAX_LIST) return fail(p, "more than %d operands", MAX_LIST), 0;
        in[n] = accept(p, "_") ? NULL : read_value_name(p);
        n++;
    } while (!p->failed && accept(p, ","));
    expect(p, ")");
    return n;
}

static bool read_op(Parser *p, Op *op) {
    skip(p);
    const char *start = p->at, *word = read_word(p, "the name of an operation");
    if (!word || op_find(word, op)) return word != NULL;
    const char *names[OP_COUNT];
    for (int i = 0; i < OP_COUNT; i++) names[i] = op_info[i].name;
    const char *near = nearest_name(word, names, OP_COUNT);
    p->at = start;
    return fail(p, "unknown operation \"%s\"%s%s%s", word, near ? "\nhint: did you mean \"" : "", near ? near : "",
                near ? "\"?" : "");
}

static bool read_tuple_type(Parser *p, Node *n) {
    Type items[MAX_LIST / 16];
    int count = 0;
    if (!accept(p, ")")) {
        do {
            if (count == MAX_LIST / 16) return fail(p, "too many results");
            if (!read_type(p, &items[count++])) return false;
        } while (accept(p, ","));
        if (!expect(p, ")")) return false;
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

// The type in the text against the type that the operands give; without one in the text, the latter. Errors of inference point
// at the operation (n->loc).
static bool read_result_type(Parser *p, Node *n) {
    bool given = accept(p, ":");
    const char *start = p->at;
    if (given && !(accept(p, "(") ? read_tuple_type(p, n) : read_type(p, &n->type))) return false;
    const char *after = p->at;
    bool alone = op_info[n->op].max_in == 0 && n->op != OP_iota;
    p->at = p->source->text + n->loc.offset;
    if (!given && alone) return fail(p, "%s needs its type", op_info[n->op].name);
    Node stated = *n;
    if (!node_infer(n)) return !(p->failed = true);
    p->at = start;
    skip(p);
    if (given && !same_types(n, &stated))
        return fail(p, "the operands give %s, not %s", type_text(&n->type), type_text(&stated.type));
    p->at = after;
    return true;
}

static bool read_node(Parser *p) {
    const char *start = p->at, *name = read_name(p);
    Op op;
    if (!name) return false;
    if (map_get(&p->graph->names, name)) return p->at = start, fail(p, "there is already a value %%%s", name);
    if (!expect(p, "=")) return false;
    skip(p);
    Loc at_op = here(p, token_length(p));
    if (!read_op(p, &op)) return false;
    Node *in[MAX_LIST];
    int n_in = read_operands(p, in);
    if (p->failed) return false;
    Node *n = node_make(p->graph, op, at_op, n_in, in, NULL);
    node_set_name(n, name);
    if (op == OP_constant ? !read_constant(p, n) : !read_attrs(p, n) || !read_result_type(p, n)) return false;
    n->loc = NO_LOC;
    return read_loc(p, &n->loc);
}

// -----------------------------------------------------------------------------------------------------------------------
// graphs
static bool read_inputs(Parser *p) {
    if (!expect(p, "(")) return false;
    if (accept(p, ")")) return true;
    do {
        Type type;
        skip(p);
        const char *start = p->at, *name = read_name(p);
        if (name && map_get(&p->graph->names, name)) return p->at = start, fail(p, "there are two inputs %%%s", name);
        if (!name || !expect(p, ":") || !read_type(p, &type)) return false;
        Node *n = graph_add_input(p->graph, name, type, NO_LOC);
        if (!read_attrs(p, n) || !read_loc(p, &n->loc)) return false;
    } while (accept(p, ","));
    return expect(p, ")");
}

static bool read_outputs(Parser *p) {
    if (accept(p, ")")) return true;
    do {
        skip(p);
        const char *name = *p->at == '"' ? read_string(p) : NULL;
        if (p->failed || (name && !expect(p, "="))) return false;
        Node *n = read_value_name(p);
        if (!n) return false;
        graph_add_output(p->graph, n, name ? name : n->name);
    } while (accept(p, ","));
    return expect(p, ")");
}

static bool read_bound(Parser *p) {
    int64_t lower = 1;
    skip(p);
    if (isdigit((unsigned char)*p->at) && (!read_int(p, &lower) || !expect(p, "<="))) return false;
    const char *name = read_word(p, "a symbol");
    if (!name || !expect(p, "<=")) return false;
    const Dim *upper = read_dim(p);
    if (!upper) return false;
    dim_symbol(p->graph, name, lower, dim_upper(upper));
    return true;
}

static bool read_where(Parser *p) {
    if (!accept(p, "where ")) return !p->failed;
    do
        if (!read_bound(p)) return false;
    while (accept(p, ","));
    return true;
}

// Moves over a parenthesis and what it holds.
static bool skip_parentheses(Parser *p) {
    const char *start = p->at;
    int depth = 0;
    do {
        skip(p);
        if (*p->at == '"' && !read_string(p)) return false;
        if (!*p->at) return p->at = start, fail(p, "this parenthesis has no end");
        depth += (*p->at == '(') - (*p->at == ')');
        p->at += *p->at != '"';
    } while (depth);
    return true;
}

// Symbols are declared at the end of the head and used before: they are read first. Outputs name values of the body: last.
static bool read_body(Parser *p) {
    skip(p);
    const char *inputs = p->at;
    if (*p->at != '(') return fail(p, "expected the inputs in parentheses");
    if (!skip_parentheses(p) || !expect(p, "->") || !expect(p, "(")) return false;
    const char *outputs = p->at;
    p->at = outputs - 1;
    if (!skip_parentheses(p) || !read_where(p) || !expect(p, "{")) return false;
    const char *body = p->at;
    p->at = inputs;
    if (!read_inputs(p)) return false;
    p->at = body;
    while (!accept(p, "}"))
        if (p->failed || !read_node(p)) return false;
    const char *end = p->at;
    p->at = outputs;
    if (!read_outputs(p)) return false;
    p->at = end;
    return true;
}

static Graph *read_graph(Parser *p, Graph *outer) {
    if (p->depth >= MAX_NESTING) return fail(p, "graphs are nested more than %d deep", MAX_NESTING), NULL;
    if (!expect(p, "graph ")) return NULL;
    const char *name = read_word(p, "the name of the graph");
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
    Parser p = {.source = source, .at = source->text + *offset, .scratch = arena_new(), .constants = constants};
    map_init(&p.sources, p.scratch);
    Graph *g = read_graph(&p, NULL);
    skip(&p);
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
