// The parts of lines in the text form of graphs (parse.c has its grammar): dimensions and types,
// constants, attributes.
#include <ctype.h>
#include <string.h>

#include "ir/convert.h"
#include "ir/parse.h"

#define MOST_ELEMENTS 0x1p48

// ---------------------------------------------------------------------------- dimensions and types
const Dim *parse_dim(Parser *p) {
    parse_skip(p);
    const char *end;
    const Dim *d = p->failed ? NULL : dim_parse(p->graph, p->at, &end);
    if (d) return p->at = end, d;
    if (!p->failed) p->at = end;
    parse_fail(p,
               "expected a dimension: numbers and the symbols of the \"where\" clause with + - * "
               "// %% min max");
    return NULL;
}

// Dimensions up to the closing bracket.
static int read_dims(Parser *p, const Dim **dims, int most) {
    int n = 0;
    if (parse_accept(p, "]")) return 0;
    do {
        if (n == most) return parse_fail(p, "more than %d dimensions", most), 0;
        dims[n] = parse_dim(p);
    } while (dims[n++] && parse_accept(p, ","));
    parse_expect(p, "]");
    return n;
}

static bool read_dtype(Parser *p, DType *dtype) {
    const char *start = p->at, *word = parse_word(p, "an element type");
    if (word && dtype_parse(word, dtype)) return true;
    if (word) p->at = start, parse_skip(p);
    return parse_fail(p, "unknown element type \"%s\"", word ? word : "");
}

// Sizes are computed with from here on, in 64 bits.
static bool check_dims(Parser *p, const Type *type, const char *start) {
    double elements = 1;
    for (int i = 0; i < type->rank; i++) {
        int64_t most = dim_upper(type->dim[i]);
        if (most < 0)
            return p->at = start, parse_fail(p, "dimension %d is %s", i, dim_text(type->dim[i]));
        elements *= (double)most;
    }
    if (elements > MOST_ELEMENTS)
        return p->at = start, parse_fail(p, "%s has too many elements", type_text(type));
    return true;
}

bool parse_type(Parser *p, Type *type) {
    parse_skip(p);
    const char *start = p->at;
    *type = (Type){0};
    if (!read_dtype(p, &type->dtype)) return false;
    if (*p->at == '[') {
        p->at++;
        type->rank = read_dims(p, type->dim, MAX_RANK);
    }
    return !p->failed && check_dims(p, type, start);
}

// --------------------------------------------------------------------------------------- constants
static bool read_element(Parser *p, DType dtype, void *data, int64_t i) {
    if (dtype_is_float(dtype)) {
        double x;
        if (!parse_float(p, &x)) return false;
        dtype_store(dtype, data, i, x);
        return true;
    }
    int64_t v;
    uint64_t large;
    if (dtype == DT_u64 ? !parse_unsigned(p, 0, &large) : !parse_int(p, &v)) return false;
    if (dtype == DT_u64) v = (int64_t)large;
    convert_elements(dtype, (char *)data + (dtype_bits(dtype) >= 8 ? i * dtype_bits(dtype) / 8 : 0),
                     DT_i64, &v, 1);
    return true;
}

// Elements narrower than a byte are read one to a byte first.
static bool read_elements(Parser *p, Tensor *t, int64_t count) {
    DType wide = dtype_bits(t->dtype) >= 8 ? t->dtype : dtype_is_float(t->dtype) ? DT_f32 : DT_i8;
    void *data = arena_alloc(p->graph->arena, dtype_bytes(wide, count));
    if (t->rank && !parse_expect(p, "[")) return false;
    for (int64_t i = 0; i < count; i++)
        if ((i && !parse_expect(p, ",")) || !read_element(p, wide, data, i)) return false;
    if (t->rank && !parse_expect(p, "]")) return false;
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
    if (type->dtype > DT_f4e2m1)
        return parse_fail(p, "a constant cannot be %s", dtype_name(type->dtype));
    for (int i = 0; i < type->rank; i++) {
        if (!dim_is_const(type->dim[i], &t->dim[i]) || t->dim[i] < 0)
            return parse_fail(p, "a constant has dimensions that are numbers");
        if (__builtin_mul_overflow(*count, t->dim[i], count) || *count > INT64_MAX / 64)
            return parse_fail(p, "this constant is too large");
    }
    t->bytes = dtype_bytes(t->dtype, *count);
    return true;
}

// The data of a constant, in place or by hash; *value NULL when it is by hash and there is no file
// of constants.
static bool read_data(Parser *p, const Type *type, uint64_t *hash, const Tensor **value,
                      const char *name) {
    Tensor *t = ARENA_NEW(p->graph->arena, Tensor);
    int64_t count;
    *value = t;
    if (!tensor_of_type(p, type, t, &count)) return false;
    if (name) t->name = arena_strdup(p->graph->arena, name);
    if (!*hash)
        return count <= MAX_INLINE
                   ? read_elements(p, t, count)
                   : parse_fail(p, "at most %d elements can stand in place", MAX_INLINE);
    if (!p->constants) return *value = NULL, true;
    t->data = constants_find(p->constants, *hash, t->bytes);
    return t->data || parse_fail(p,
                                 "the file of constants has no %llu bytes with the hash "
                                 "0x%016llx\nhint: keep the file \"constants\" "
                                 "beside its .ir files",
                                 (unsigned long long)t->bytes, (unsigned long long)*hash);
}

// Reads {hash=..., name=...} or {name=..., value=...}: the type that gives them meaning follows.
bool parse_constant(Parser *p, Node *n) {
    uint64_t hash = 0;
    const char *name = NULL, *values = NULL;
    if (!parse_expect(p, "{")) return false;
    do {
        if (parse_accept(p, "hash=")) {
            parse_unsigned(p, 16, &hash);
        } else if (parse_accept(p, "name=")) {
            name = parse_string(p);
        } else if (parse_accept(p, "value=")) {
            parse_skip(p);
            values = p->at;
            p->at += strcspn(p->at, *p->at == '[' ? "]" : ",}");
            if (*values == '[') parse_expect(p, "]");
        } else {
            return parse_fail(p, "a constant has hash, name and value");
        }
    } while (parse_accept(p, ","));
    if (!parse_expect(p, "}") || !parse_expect(p, ":") || !parse_type(p, &n->type)) return false;
    if (!hash && !values) return parse_fail(p, "a constant needs a hash or a value");
    const char *after = p->at;
    if (values) p->at = values, hash = 0;
    if (!read_data(p, &n->type, &hash, &n->value, name)) return false;
    n->hash = hash, n->hashed = n->value;
    if (!n->value && name) attr_set_string(n, "name", name);
    p->at = after;
    return true;
}

// -------------------------------------------------------------------------------------- attributes
typedef bool ReadElement(Parser *, void *to);

static bool read_int_element(Parser *p, void *to) { return parse_int(p, to); }
static bool read_float_element(Parser *p, void *to) { return parse_float(p, to); }
static bool read_string_element(Parser *p, void *to) {
    return (*(const char **)to = parse_string(p));
}

// Elements up to the closing bracket: their number, or -1.
static int read_list(Parser *p, ReadElement *read, void *values, size_t bytes_each) {
    int n = 0;
    if (parse_accept(p, "]")) return 0;
    do {
        if (n == MAX_LIST) return parse_fail(p, "a list of more than %d", MAX_LIST), -1;
        if (!read(p, (char *)values + (size_t)n++ * bytes_each)) return -1;
    } while (parse_accept(p, ","));
    return parse_expect(p, "]") ? n : -1;
}

static bool read_int_list(Parser *p, Node *n, const char *name) {
    int64_t values[MAX_LIST];
    int count = read_list(p, read_int_element, values, sizeof *values);
    if (count >= 0) attr_set_ints(n, name, values, count);
    return count >= 0;
}

static bool read_float_list(Parser *p, Node *n, const char *name) {
    double values[MAX_LIST];
    int count = read_list(p, read_float_element, values, sizeof *values);
    if (count >= 0) attr_set_floats(n, name, values, count);
    return count >= 0;
}

static bool read_string_list(Parser *p, Node *n, const char *name) {
    const char *values[MAX_LIST];
    int count = read_list(p, read_string_element, values, sizeof *values);
    if (count >= 0) attr_set_strings(n, name, values, count);
    return count >= 0;
}

static bool read_dim_list(Parser *p, Node *n, const char *name) {
    const Dim *dims[MAX_LIST];
    int count = read_dims(p, dims, MAX_LIST);
    if (!p->failed) attr_set_dims(n, name, dims, count);
    return !p->failed;
}

static bool read_formula(Parser *p, Node *n, const char *name) {
    parse_skip(p);
    const char *end;
    const Expr *e = expr_parse(p->graph->arena, p->at, &end);
    p->at = end;
    if (!e)
        return parse_fail(p, "expected a formula: $0, a number, or an elementwise op of formulas");
    attr_set_expr(n, name, e);
    return true;
}

static bool read_tensor(Parser *p, Node *n, const char *name) {
    Type type;
    uint64_t hash = 0;
    const Tensor *value;
    if (!parse_type(p, &type) || !parse_expect(p, ",")) return false;
    if (parse_peek(p, "0x")) parse_unsigned(p, 16, &hash);
    if (!read_data(p, &type, &hash, &value, NULL) || !parse_expect(p, ")")) return false;
    if (!value) return parse_fail(p, "this tensor needs the file of constants");
    attr_set_tensor(n, name, value);
    return true;
}

static bool read_nested(Parser *p, Node *n, const char *name) {
    Graph *outer = p->graph, *body = parse_graph(p, outer);
    p->graph = outer;
    if (body) attr_set_graph(n, name, body);
    return body != NULL;
}

static bool read_number(Parser *p, Node *n, const char *name) {
    size_t length = strspn(p->at, "+-0123456789abcdefxABCDEFX.p");
    bool hex = memchr(p->at, 'x', length),
         real = memchr(p->at, '.', length) || memchr(p->at, hex ? 'p' : 'e', length);
    int64_t i;
    double f;
    if (real || parse_peek(p, "inf") || parse_peek(p, "-inf") || parse_peek(p, "nan") ||
        parse_peek(p, "-nan")) {
        if (!parse_float(p, &f)) return false;
        attr_set_float(n, name, f);
    } else {
        if (!parse_int(p, &i)) return false;
        attr_set_int(n, name, i);
    }
    return true;
}

static bool read_real(Parser *p, Node *n, const char *name) {
    double f;
    if (!parse_float(p, &f)) return false;
    attr_set_float(n, name, f);
    return true;
}

static bool read_one_dim(Parser *p, Node *n, const char *name) {
    const Dim *d = parse_dim(p);
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
    const char *s = parse_string(p);
    if (s) attr_set_string(n, name, s);
    return s != NULL;
}

static bool read_value(Parser *p, Node *n, const char *name) {
    OpAttr known;
    AttrKind expected = op_attr(n->op, name, &known) ? known.kind : ATTR_INTS;
    parse_skip(p);
    if (*p->at == '"') return read_string_attr(p, n, name);
    if (parse_accept(p, "int ")) return read_number(p, n, name);
    if (parse_accept(p, "ints[")) return read_int_list(p, n, name);
    if (parse_accept(p, "floats[")) return read_float_list(p, n, name);
    if (parse_accept(p, "strings[")) return read_string_list(p, n, name);
    if (parse_accept(p, "dims[")) return read_dim_list(p, n, name);
    if (parse_accept(p, "expr(")) return read_formula(p, n, name) && parse_expect(p, ")");
    if (parse_accept(p, "tensor(")) return read_tensor(p, n, name);
    if (parse_peek(p, "graph ")) return read_nested(p, n, name);
    if (parse_accept(p, "["))
        return expected == ATTR_DIMS ? read_dim_list(p, n, name) : read_int_list(p, n, name);
    if (expected == ATTR_EXPR) return read_formula(p, n, name);
    if (expected == ATTR_DIMS && known.one) return read_one_dim(p, n, name);
    if (expected == ATTR_FLOAT) return read_real(p, n, name);
    if (isdigit((unsigned char)*p->at) || *p->at == '-' || parse_peek(p, "inf") ||
        parse_peek(p, "nan"))
        return read_number(p, n, name);
    return read_bare_word(p, n, name);
}

bool parse_attrs(Parser *p, Node *n) {
    if (!parse_accept(p, "{")) return !p->failed;
    do {
        const char *name = parse_word(p, "the name of an attribute");
        if (!name || !parse_expect(p, "=")) return false;
        if (attr_find(n, name)) return parse_fail(p, "attribute \"%s\" is there twice", name);
        const char *start = p->at;
        if (!read_value(p, n, name)) return false;
        const Attr *a = attr_find(n, name);
        OpAttr known;
        if (op_attr(n->op, name, &known) && !attr_is_of_kind(a, &known)) {
            p->at = start;
            return parse_fail(p, "\"%s\" of %s is of kind %s", name, op_info[n->op].name,
                              known.kind_name);
        }
    } while (parse_accept(p, ","));
    return parse_expect(p, "}");
}
