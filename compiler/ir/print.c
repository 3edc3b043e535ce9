// The text form of graphs (its grammar is taught in parse.c): deterministic, one node a line, and
// parse.c reads it back.
//
//   graph decode(%tokens: i32[T] {role="tokens"}) -> (%logits) where T <= 512 {
//     %half = constant {value=0.5} : f32
//     %embed = constant {hash=0x51c0a9..., name="model.embed_tokens.weight"} : bf16[2048, 192]
//     %x = gather(%embed, %tokens) {axis=0} : bf16[T, 192] @llama.burin:30:7 "model"
//   }
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "ir.h"
#include "ir/convert.h"
#include "ir/internal.h"
#include "util/hash.h"
#include "util/mapping.h"

enum { INDENT = 2 };

// ----------------------------------------------------------------------------------------- scalars
static void print_string(Text *t, const char *s) {
    text_add(t, "\"");
    for (size_t n = strlen(s), length; n; s += length, n -= length) {
        length = burin_printable(s, n);
        if (*s == '"' || *s == '\\')
            text_add(t, "\\%c", *s);
        else if (length)
            text_append(t, s, length);
        else
            text_add(t, "\\x%02x", (unsigned)(unsigned char)*s), length = 1;
    }
    text_add(t, "\"");
}

// The shortest decimal that reads back as the same number, with a point or an exponent so that it
// is not an integer.
static void print_float(Text *t, double x, bool single) {
    char digits[40];
    for (int precision = 6; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, x);
        double back = strtod(digits, NULL);
        if (single ? (float)back == (float)x : back == x) break;
    }
    text_add(t, "%s%s", digits, strpbrk(digits, ".ein") ? "" : ".0");
}

static void print_wide(Text *t, const Tensor *value, int64_t i) {
    int64_t v;
    memcpy(&v, (const char *)value->data + (size_t)i * sizeof v, sizeof v);
    text_add(t, value->dtype == DT_u64 ? "%llu" : "%lld", (long long)v);
}

static void print_element(Text *t, const Tensor *value, int64_t i) {
    if (dtype_is_float(value->dtype))
        print_float(t, dtype_load(value->dtype, value->data, i), value->dtype != DT_f64);
    else if (value->dtype == DT_i64 || value->dtype == DT_u64)
        print_wide(t, value, i);
    else
        text_add(t, "%lld", (long long)dtype_load(value->dtype, value->data, i));
}

bool tensor_is_inline(const Tensor *value) {
    return value && value->data && value->dtype <= DT_f4e2m1 && tensor_count(value) <= MAX_INLINE;
}

static void print_elements(Text *t, const Tensor *value) {
    if (!value->rank) {
        print_element(t, value, 0);
        return;
    }
    text_add(t, "[");
    for (int64_t i = 0, n = tensor_count(value); i < n; i++) {
        if (i) text_add(t, ", ");
        print_element(t, value, i);
    }
    text_add(t, "]");
}

uint64_t tensor_hash(const Tensor *value) {
    uint64_t h = hash_bytes(value->data, value->bytes, 0);
    mapping_forget(value->data, value->bytes);
    return h ? h : 1;
}

uint64_t constant_hash(Node *n) {
    if (n->value && n->value->data && n->hashed != n->value) {
        n->hash = tensor_hash(n->value);
        n->hashed = n->value;
    }
    return n->hash;
}

// -------------------------------------------------------------------------------------- attributes
// An attribute of the table's kind is written without a word before it, as are numbers and lists of
// numbers that the table does not know.
static bool stands_bare(Op op, const Attr *a) {
    OpAttr known;
    if (op_attr(op, a->name, &known)) return known.kind == a->kind;
    return a->kind == ATTR_INT || a->kind == ATTR_INTS;
}

static void print_dims(Text *t, Op op, const Attr *a) {
    OpAttr known;
    bool bare = a->n == 1 && op_attr(op, a->name, &known) && known.one;
    text_add(t, bare ? "" : stands_bare(op, a) ? "[" : "dims[");
    for (int i = 0; i < a->n; i++) {
        if (i) text_add(t, ", ");
        dim_print(t, a->dims[i]);
    }
    if (!bare) text_add(t, "]");
}

static void print_ints(Text *t, Op op, const Attr *a) {
    text_add(t, stands_bare(op, a) ? "[" : "ints[");
    for (int i = 0; i < a->n; i++) text_add(t, "%s%lld", i ? ", " : "", (long long)a->ints[i]);
    text_add(t, "]");
}

static void print_floats(Text *t, const Attr *a) {
    text_add(t, "floats[");
    for (int i = 0; i < a->n; i++) {
        if (i) text_add(t, ", ");
        print_float(t, a->floats[i], false);
    }
    text_add(t, "]");
}

static void print_strings(Text *t, const Attr *a) {
    text_add(t, "strings[");
    for (int i = 0; i < a->n; i++) {
        if (i) text_add(t, ", ");
        print_string(t, a->strings[i]);
    }
    text_add(t, "]");
}

static void print_formula(Text *t, Op op, const Attr *a) {
    bool expected = stands_bare(op, a);
    if (!expected) text_add(t, "expr(");
    expr_print(t, a->expr);
    if (!expected) text_add(t, ")");
}

static void print_tensor(Text *t, const Tensor *value) {
    text_add(t, "tensor(%s", dtype_name(value->dtype));
    for (int i = 0; i < value->rank; i++)
        text_add(t, "%s%lld", i ? ", " : "[", (long long)value->dim[i]);
    text_add(t, value->rank ? "], " : ", ");
    if (tensor_is_inline(value))
        print_elements(t, value);
    else
        text_add(t, "0x%016llx", (unsigned long long)tensor_hash(value));
    text_add(t, ")");
}

static void print_graph(Text *t, const Graph *g, int indent);

static void print_attr(Text *t, Op op, const Attr *a, int indent) {
    text_add(t, "%s=", a->name);
    switch (a->kind) {
        case ATTR_INT:
            text_add(t, "%s%lld", stands_bare(op, a) ? "" : "int ", (long long)a->i);
            break;
        case ATTR_FLOAT:
            print_float(t, a->f, false);
            break;
        case ATTR_STRING:
            print_string(t, a->s);
            break;
        case ATTR_INTS:
            print_ints(t, op, a);
            break;
        case ATTR_FLOATS:
            print_floats(t, a);
            break;
        case ATTR_STRINGS:
            print_strings(t, a);
            break;
        case ATTR_DIMS:
            print_dims(t, op, a);
            break;
        case ATTR_EXPR:
            print_formula(t, op, a);
            break;
        case ATTR_TENSOR:
            print_tensor(t, a->tensor);
            break;
        case ATTR_GRAPH:
            print_graph(t, a->graph, indent + INDENT);
            break;
        case ATTR_DTYPE:
            text_add(t, "%s", dtype_name(a->dtype));
            break;
    }
}

static void print_attrs(Text *t, const Node *n, int indent) {
    const char *separator = " {";
    for (const Attr *a = n->attrs; a; a = a->next, separator = ", ") {
        text_add(t, "%s", separator);
        print_attr(t, n->op, a, indent);
    }
    if (*separator == ',') text_add(t, "}");
}

// {value=...} of a small one, {hash=..., name=...} of a large one
static void print_constant(Text *t, Node *n) {
    const char *name = n->value ? n->value->name : attr_string(n, "name", NULL);
    text_add(t, " {");
    if (!tensor_is_inline(n->value))
        text_add(t, "hash=0x%016llx%s", (unsigned long long)constant_hash(n), name ? ", " : "");
    if (name) {
        text_add(t, "name=");
        print_string(t, name);
    }
    if (tensor_is_inline(n->value)) {
        text_add(t, name ? ", value=" : "value=");
        print_elements(t, n->value);
    }
    text_add(t, "}");
}

// ----------------------------------------------------------------------------- types and locations
static void print_result_type(Text *t, const Node *n) {
    text_add(t, " : ");
    if (n->type.dtype != DT_tuple) {
        type_print(t, &n->type);
        return;
    }
    for (int i = 0; i < n->n_items; i++) {
        text_add(t, i ? ", " : "(");
        type_print(t, &n->items[i]);
    }
    text_add(t, n->n_items ? ")" : "()");
}

static bool is_plain_path(const char *s) {
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("_./-+", *s)) return false;
    return true;
}

static void print_loc(Text *t, Loc at) {
    if (!at.source) return;
    text_add(t, " @");
    const char *name = at.source->name ? at.source->name : "";
    if (is_plain_path(name) && *name)
        text_add(t, "%s", name);
    else
        print_string(t, name);
    if (at.source->text || at.source->size == SOURCE_OF_LINES) {
        const char *place = loc_text(at);
        size_t n = strlen(place), colons = 0;
        while (n > 0 && colons < 2) colons += place[--n] == ':';
        text_add(t, "%s", place + n);
    } else {
        text_add(t, "#%u", at.offset);
    }
    if (at.scope) {
        text_add(t, " ");
        print_string(t, at.scope);
    }
}

// ------------------------------------------------------------------------------------------- nodes
// An operand after absent ones is written with its name, unless the op takes any number of
// operands: there the absent ones are "_".
static void print_operands(Text *t, const Node *n) {
    bool named = op_most(n->op) >= 0, gap = false;
    int length, printed = 0;
    for (int i = 0; i < n->n_in; i++) {
        gap |= !n->in[i];
        if (!n->in[i] && named) continue;
        text_add(t, printed++ ? ", " : "(");
        const char *name = op_operand(n->op, i, &length);
        if (named && gap) text_add(t, "%.*s=", length, name);
        text_add(t, "%s%s", n->in[i] ? "%" : "_", n->in[i] ? n->in[i]->name : "");
    }
    if (printed) text_add(t, ")");
}

static void print_node(Text *t, Node *n, int indent) {
    text_add(t, "%%%s = %s", n->name, op_info[n->op].name);
    print_operands(t, n);
    if (n->op == OP_constant)
        print_constant(t, n);
    else
        print_attrs(t, n, indent);
    print_result_type(t, n);
    print_loc(t, n->loc);
}

void node_print(Text *t, const Node *n) { print_node(t, (Node *)n, 0); }

// ------------------------------------------------------------------------------------------ graphs
static void print_inputs(Text *t, const Graph *g, int indent) {
    for (int i = 0; i < g->n_inputs; i++) {
        const Node *n = g->inputs[i];
        text_add(t, "%s%%%s: ", i ? ", " : "", n->name);
        type_print(t, &n->type);
        print_attrs(t, n, indent);
        print_loc(t, n->loc);
    }
}

static void print_outputs(Text *t, const Graph *g) {
    for (int i = 0; i < g->n_outputs; i++) {
        if (i) text_add(t, ", ");
        if (strcmp(g->outputs[i]->name, g->output_names[i])) {
            print_string(t, g->output_names[i]);
            text_add(t, "=");
        }
        text_add(t, "%%%s", g->outputs[i]->name);
    }
}

typedef struct {
    const Graph *graph;
    Text *text;
    int printed;
} SymbolPrinter;

static bool type_has(const Type *t, const Dim *symbol) {
    for (int i = 0; i < t->rank; i++)
        if (dim_has_symbol(t->dim[i], symbol)) return true;
    return false;
}

static bool graph_has_symbol(const Graph *g, const Dim *symbol);

static bool attr_has_symbol(const Attr *a, const Dim *symbol) {
    if (a->kind == ATTR_GRAPH) return graph_has_symbol(a->graph, symbol);
    for (int i = 0; a->kind == ATTR_DIMS && i < a->n; i++)
        if (dim_has_symbol(a->dims[i], symbol)) return true;
    return false;
}

static bool graph_has_symbol(const Graph *g, const Dim *symbol) {
    EACH_NODE(n, g) {
        if (type_has(&n->type, symbol)) return true;
        for (int i = 0; i < n->n_items; i++)
            if (type_has(&n->items[i], symbol)) return true;
        for (const Attr *a = n->attrs; a; a = a->next)
            if (attr_has_symbol(a, symbol)) return true;
    }
    return false;
}

static void print_symbol(const Dim *symbol, void *user) {
    SymbolPrinter *p = user;
    if (!graph_has_symbol(p->graph, symbol)) return;
    text_add(p->text, p->printed++ ? ", " : " where ");
    if (symbol->lower != 1) text_add(p->text, "%lld <= ", (long long)symbol->lower);
    text_add(p->text, "%s <= %lld", symbol->name, (long long)symbol->value);
}

static void print_graph(Text *t, const Graph *g, int indent) {
    text_add(t, "graph %s(", g->name);
    print_inputs(t, g, indent);
    text_add(t, ") -> (");
    print_outputs(t, g);
    text_add(t, ")");
    if (!g->outer) dim_each_symbol(g, print_symbol, &(SymbolPrinter){g, t, 0});
    text_add(t, " {\n");
    EACH_NODE(n, g) {
        if (n->op == OP_input) continue;
        text_add(t, "%*s", indent + INDENT, "");
        print_node(t, n, indent);
        text_add(t, "\n");
    }
    text_add(t, "%*s}", indent, "");
}

void graph_print(Text *t, const Graph *g) {
    print_graph(t, g, 0);
    text_add(t, "\n");
}

void module_print(Text *t, const Module *m) {
    for (int i = 0; i < m->n_graphs; i++) {
        if (i) text_add(t, "\n");
        graph_print(t, m->graphs[i]);
    }
}
