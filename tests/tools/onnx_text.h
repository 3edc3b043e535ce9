// ONNX models written as text, a line each, so that a test shows what it tests:
//
//     ir 10
//     opset 20 [domain]
//     producer pytorch
//     input x f32 [T,4]          output, value: the same; "-" is no name, no dimensions no shape; seq(f32), opt(f32)
//     tensor W f32 [4,3] raw 1 2 3 ...       an initializer; also: typed 1 2, text a b, external location=w.bin offset=0
//     data V f32 [1] raw 1                   only for attributes
//     sparse S f32 [4] values 1 2 at 0 3     a sparse initializer
//     node MatMul x W -> y : alpha=0.5 perm=[1,0] mode='text' value=tensor:V then_branch=graph:G axis=ref:outer/2 @name=n
//     graph G                                its lines, then "end": a body for attributes
//     function F domain [overload]           lines: takes a b, gives c, attribute alpha, node ..., opset 20; then "end"
//
// f32, i64 and so on are those of the IR; t99 is any number. "_" is an absent operand. -> and : are
// words of their own.
#ifndef BURIN_TEST_ONNX_TEXT_H
#define BURIN_TEST_ONNX_TEXT_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/file/model.h"
#include "ir/convert.h"

enum { ONNX_TEXT_WORDS = 8192, ONNX_TEXT_NAMED = 64 };

typedef struct OnnxNamed {
    char *name;
    Text bytes;
} OnnxNamed;

// The result of one model's lines.
typedef struct OnnxText {
    const char *at;                    // the next line
    OnnxNamed named[ONNX_TEXT_NAMED];  // bodies and tensors for attributes
    int n_named;
    char *line, *word[ONNX_TEXT_WORDS];
    int n;
} OnnxText;

// ------------------------------------------------------------------------------------- wire format
static inline void wire_varint(Text *t, uint64_t v) {
    for (; v >= 128; v >>= 7) text_append(t, &(char){(char)(v | 128)}, 1);
    text_append(t, &(char){(char)v}, 1);
}

static inline void wire_tag(Text *t, int field, int type) {
    wire_varint(t, (uint64_t)field << 3 | (uint64_t)type);
}

static inline void wire_int(Text *t, int field, int64_t v) {
    wire_tag(t, field, 0);
    wire_varint(t, (uint64_t)v);
}

static inline void wire_bytes(Text *t, int field, const void *data, size_t n) {
    wire_tag(t, field, 2);
    wire_varint(t, n);
    text_append(t, n ? data : "", n);
}

static inline void wire_text(Text *t, int field, const char *s) {
    wire_bytes(t, field, s, strlen(s));
}

static inline void wire_float(Text *t, int field, float f) {
    wire_tag(t, field, 5);
    text_append(t, (const char *)&f, sizeof f);
}

static inline void wire_message(Text *t, int field, Text *inner) {
    wire_bytes(t, field, inner->data, inner->length);
    text_free(inner);
}

// ------------------------------------------------------------------------------------------- words
// Splits the next line at spaces; false at the end of the text.
static inline bool onnx_next_line(OnnxText *o) {
    free(o->line);
    o->line = NULL;
    o->n = 0;
    if (!*o->at) return false;
    size_t length = strcspn(o->at, "\n");
    o->line = strndup(o->at, length);
    o->at += length + (o->at[length] == '\n');
    for (char *w = strtok(o->line, " "); w && o->n < ONNX_TEXT_WORDS; w = strtok(NULL, " "))
        o->word[o->n++] = w;
    return true;
}

static inline bool word_is(const OnnxText *o, int i, const char *text) {
    return i < o->n && !strcmp(o->word[i], text);
}

static inline int onnx_element_number(const char *name) {
    DType wanted, found;
    if (*name == 't') return atoi(name + 1);
    if (!dtype_parse(name, &wanted)) {
        fprintf(stderr, "no element type %s\n", name);
        exit(2);
    }
    for (int i = 1; i < 64; i++)
        if (onnx_dtype(i, &found) && found == wanted) return i;
    return 0;
}

// Takes "name=" off the front, or returns NULL.
static inline const char *after(const char *word, const char *prefix) {
    size_t n = strlen(prefix);
    return strncmp(word, prefix, n) ? NULL : word + n;
}

static inline Text *onnx_named(OnnxText *o, const char *name) {
    for (int i = 0; i < o->n_named; i++)
        if (!strcmp(o->named[i].name, name)) return &o->named[i].bytes;
    fprintf(stderr, "no graph or tensor %s\n", name);
    exit(2);
}

static inline void onnx_keep(OnnxText *o, const char *name, Text bytes) {
    o->named[o->n_named++] = (OnnxNamed){strdup(name), bytes};
}

// ----------------------------------------------------------------------------------------- tensors
static inline void onnx_dims(Text *t, int field, const char *list) {
    for (const char *p = list + 1; *p && *p != ']'; p += *p == ',') {
        char *end;
        wire_int(t, field, strtoll(p, &end, 10));
        p = end;
    }
}

// The words from `first` on as elements; raw, or as one of the typed fields.
static inline void onnx_elements_of(OnnxText *o, Text *t, int first, DType type, bool raw) {
    unsigned char data[8 * ONNX_TEXT_WORDS] = {0};
    int count = o->n - first;
    for (int i = 0; i < count; i++) {
        const char *w = o->word[first + i];
        int64_t v = *w == '-' ? strtoll(w, NULL, 0) : (int64_t)strtoull(w, NULL, 0);
        if (dtype_is_float(type))
            dtype_store(type, data, i, strtod(w, NULL));
        else if (dtype_bits(type) < 8)
            dtype_store(type, data, i, (double)v);
        else
            convert_elements(type, data + i * dtype_bits(type) / 8, DT_i64, &v, 1);
    }
    size_t bytes = dtype_bytes(type, count),
           width = (size_t)(dtype_bits(type) < 8 ? 8 : dtype_bits(type)) / 8;
    if (raw) return wire_bytes(t, 9, data, bytes);
    for (size_t i = 0; i < bytes; i += width) {
        uint64_t v = 0;
        memcpy(&v, data + i, width);
        if (type == DT_f32) wire_float(t, 4, ((float *)data)[i / 4]);
        if (type == DT_f64) {
            wire_tag(t, 10, 1);
            text_append(t, (char *)data + i, 8);
        }
        if (type == DT_f32 || type == DT_f64) continue;
        wire_int(t, type == DT_i64 ? 7 : type == DT_u64 || type == DT_u32 ? 11 : 5, (int64_t)v);
    }
}

// word[first]: name, type, dims, how, values
static inline Text onnx_tensor_of(OnnxText *o, int first) {
    Text t = {0};
    DType type;
    int number = onnx_element_number(o->word[first + 1]);
    onnx_dims(&t, 1, o->word[first + 2]);
    wire_int(&t, 2, number);
    if (strcmp(o->word[first], "-")) wire_text(&t, 8, o->word[first]);
    if (word_is(o, first + 3, "external")) {
        for (int i = first + 4; i < o->n; i++) {
            Text pair = {0};
            char *equals = strchr(o->word[i], '=');
            wire_bytes(&pair, 1, o->word[i], (size_t)(equals - o->word[i]));
            wire_text(&pair, 2, equals + 1);
            wire_message(&t, 13, &pair);
        }
        wire_int(&t, 14, 1);
    } else if (word_is(o, first + 3, "text")) {
        for (int i = first + 4; i < o->n; i++) wire_text(&t, 6, o->word[i]);
    } else if (o->n > first + 3) {
        onnx_elements_of(o, &t, first + 4, onnx_dtype(number, &type) ? type : DT_u8,
                         word_is(o, first + 3, "raw"));
    }
    return t;
}

// sparse S f32 [4] values 1 2 at 0 3
static inline Text onnx_sparse_of(OnnxText *o) {
    Text t = {0}, values = {0}, indices = {0};
    int n = 0;
    while (o->n > 5 + n && strcmp(o->word[5 + n], "at")) n++;
    float value[64];
    int64_t index[64];
    for (int i = 0; i < n; i++) value[i] = strtof(o->word[5 + i], NULL);
    int n_index = o->n - 6 - n;
    for (int i = 0; i < n_index; i++) index[i] = strtoll(o->word[6 + n + i], NULL, 10);
    wire_int(&values, 1, n);
    wire_int(&values, 2, 1);
    if (strcmp(o->word[1], "-")) wire_text(&values, 8, o->word[1]);
    wire_bytes(&values, 9, value, (size_t)n * 4);
    wire_int(&indices, 1, n_index);
    wire_int(&indices, 2, 7);
    wire_bytes(&indices, 9, index, (size_t)n_index * 8);
    wire_message(&t, 1, &values);
    wire_message(&t, 2, &indices);
    onnx_dims(&t, 3, o->word[3]);
    return t;
}

// ------------------------------------------------------------------------------------------ values
static inline Text onnx_type_of(const char *type, const char *shape) {
    Text t = {0}, tensor = {0}, dims = {0}, of = {0};
    char inner[32];
    bool sequence = !strncmp(type, "seq(", 4), optional = !strncmp(type, "opt(", 4);
    if (sequence || optional) {
        snprintf(inner, sizeof inner, "%.*s", (int)strlen(type) - 5, type + 4);
        Text element = onnx_type_of(inner, shape);
        wire_message(&of, 1, &element);
        wire_message(&t, sequence ? 4 : 9, &of);
        return t;
    }
    wire_int(&tensor, 1, onnx_element_number(type));
    for (const char *p = shape ? shape + 1 : ""; *p && *p != ']'; p += *p == ',') {
        Text dim = {0};
        size_t n = strcspn(p, ",]");
        char *end, *name = strndup(p, n);
        int64_t value = strtoll(p, &end, 10);
        if (end == p + n && n)
            wire_int(&dim, 1, value);
        else
            wire_text(&dim, 2, name);
        wire_message(&dims, 1, &dim);
        free(name);
        p += n;
    }
    if (shape) wire_message(&tensor, 2, &dims);
    wire_message(&t, 1, &tensor);
    return t;
}

static inline Text onnx_value_of(OnnxText *o) {
    Text t = {0};
    if (strcmp(o->word[1], "-")) wire_text(&t, 1, o->word[1]);
    if (o->n > 2) {
        Text type = onnx_type_of(o->word[2], o->n > 3 ? o->word[3] : NULL);
        wire_message(&t, 2, &type);
    }
    return t;
}

// -------------------------------------------------------------------------------------- attributes
enum { A_FLOAT = 1, A_INT, A_STRING, A_TENSOR, A_GRAPH, A_FLOATS, A_INTS, A_STRINGS };

static inline bool looks_like_float(const char *v) { return strpbrk(v, ".naif") && *v != '\''; }

static inline int onnx_list(Text *t, const char *v) {
    int kind = v[1] == '\'' ? A_STRINGS : looks_like_float(v) ? A_FLOATS : A_INTS;
    for (const char *p = v + 1; *p && *p != ']'; p += *p == ',') {
        size_t n = strcspn(p, ",]");
        if (kind == A_STRINGS) wire_bytes(t, 9, p + 1, n - 2);
        if (kind == A_FLOATS) wire_float(t, 7, strtof(p, NULL));
        if (kind == A_INTS) wire_int(t, 8, strtoll(p, NULL, 10));
        p += n;
    }
    return kind;
}

// name=value; a value "ref:outer/2" refers to the function's attribute `outer` of kind 2
static inline Text onnx_attribute_of(OnnxText *o, const char *word) {
    Text t = {0};
    const char *v = strchr(word, '=') + 1, *name;
    int kind = A_INT;
    wire_bytes(&t, 1, word, (size_t)(v - 1 - word));
    if ((name = after(v, "graph:"))) {
        wire_bytes(&t, 6, onnx_named(o, name)->data, onnx_named(o, name)->length);
        kind = A_GRAPH;
    } else if ((name = after(v, "tensor:"))) {
        wire_bytes(&t, 5, onnx_named(o, name)->data, onnx_named(o, name)->length);
        kind = A_TENSOR;
    } else if ((name = after(v, "ref:"))) {
        wire_bytes(&t, 21, name, strcspn(name, "/"));
        kind = atoi(strchr(name, '/') + 1);
    } else if (*v == '[') {
        kind = onnx_list(&t, v);
    } else if (*v == '\'') {
        wire_bytes(&t, 4, v + 1, strlen(v) - 2);
        kind = A_STRING;
    } else if (looks_like_float(v)) {
        wire_float(&t, 2, strtof(v, NULL));
        kind = A_FLOAT;
    } else {
        wire_int(&t, 3, strtoll(v, NULL, 10));
    }
    wire_int(&t, 20, kind);
    return t;
}

static inline Text onnx_node_of(OnnxText *o) {
    Text t = {0};
    int part = 1;  // operands, results, attributes
    if (strcmp(o->word[1], "-")) wire_text(&t, 4, o->word[1]);
    for (int i = 2; i < o->n; i++) {
        const char *w = o->word[i], *v;
        if (!strcmp(w, "->") || !strcmp(w, ":"))
            part = *w == ':' ? 3 : 2;
        else if (part < 3)
            wire_text(&t, part, strcmp(w, "_") ? w : "");
        else if ((v = after(w, "@name=")))
            wire_text(&t, 3, v);
        else if ((v = after(w, "@domain=")))
            wire_text(&t, 7, v);
        else if ((v = after(w, "@overload=")))
            wire_text(&t, 8, v);
        else {
            Text a = onnx_attribute_of(o, w);
            wire_message(&t, 5, &a);
        }
    }
    return t;
}

// ------------------------------------------------------------------------------------------ bodies
static inline void onnx_function_line(OnnxText *o, Text *t);

// Adds the line to the graph; false when it is not a line of graphs.
static inline bool onnx_graph_line(OnnxText *o, Text *g) {
    static const struct {
        const char *word;
        int field;
    } values[] = {{"input", 11}, {"output", 12}, {"value", 13}};
    Text t = {0};
    int field = 0;
    for (size_t i = 0; i < 3; i++)
        if (word_is(o, 0, values[i].word)) {
            t = onnx_value_of(o);
            field = values[i].field;
        }
    if (word_is(o, 0, "tensor")) {
        t = onnx_tensor_of(o, 1);
        field = 5;
    }
    if (word_is(o, 0, "node")) {
        t = onnx_node_of(o);
        field = 1;
    }
    if (word_is(o, 0, "sparse")) {
        t = onnx_sparse_of(o);
        field = 15;
    }
    if (word_is(o, 0, "data")) {
        onnx_keep(o, o->word[1], onnx_tensor_of(o, 1));
        return true;
    }
    if (word_is(o, 0, "graph")) {
        Text body = {0};
        char *name = strdup(o->word[1]);
        wire_text(&body, 2, name);
        while (onnx_next_line(o) && !word_is(o, 0, "end")) onnx_graph_line(o, &body);
        onnx_keep(o, name, body);
        free(name);
        return true;
    }
    if (field) wire_message(g, field, &t);
    return field;
}

static inline Text onnx_opset_of(OnnxText *o) {
    Text t = {0};
    if (o->n > 2) wire_text(&t, 1, o->word[2]);
    wire_int(&t, 2, atoll(o->word[1]));
    return t;
}

static inline void onnx_function_line(OnnxText *o, Text *t) {
    Text inner = {0};
    int field = word_is(o, 0, "takes")       ? 4
                : word_is(o, 0, "gives")     ? 5
                : word_is(o, 0, "attribute") ? 6
                                             : 0;
    for (int i = 1; field && i < o->n; i++) wire_text(t, field, o->word[i]);
    if (word_is(o, 0, "node")) {
        inner = onnx_node_of(o);
        wire_message(t, 7, &inner);
    }
    if (word_is(o, 0, "opset")) {
        inner = onnx_opset_of(o);
        wire_message(t, 9, &inner);
    }
    if (word_is(o, 0, "default")) {
        inner = onnx_attribute_of(o, o->word[1]);
        wire_message(t, 11, &inner);
    }
}

static inline Text onnx_function_of(OnnxText *o) {
    Text t = {0};
    wire_text(&t, 1, o->word[1]);
    if (o->n > 2) wire_text(&t, 10, o->word[2]);
    if (o->n > 3) wire_text(&t, 13, o->word[3]);
    while (onnx_next_line(o) && !word_is(o, 0, "end")) onnx_function_line(o, &t);
    return t;
}

// The bytes of the model file; text_free them.
static inline Text onnx_of_text(const char *text) {
    OnnxText o = {.at = text};
    Text model = {0}, graph = {0}, part;
    while (onnx_next_line(&o)) {
        if (onnx_graph_line(&o, &graph) || !o.n) continue;
        if (word_is(&o, 0, "ir")) wire_int(&model, 1, atoll(o.word[1]));
        if (word_is(&o, 0, "producer")) wire_text(&model, 2, o.word[1]);
        if (word_is(&o, 0, "opset")) {
            part = onnx_opset_of(&o);
            wire_message(&model, 8, &part);
        }
        if (word_is(&o, 0, "function")) {
            part = onnx_function_of(&o);
            wire_message(&model, 25, &part);
        }
    }
    wire_text(&graph, 2, "main");
    wire_message(&model, 7, &graph);
    for (int i = 0; i < o.n_named; i++) {
        free(o.named[i].name);
        text_free(&o.named[i].bytes);
    }
    return model;
}
#endif
