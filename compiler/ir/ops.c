// The table of operations, made from ops.def, and what its words say.
#include <stdlib.h>
#include <string.h>

#include "ir.h"

#define OP(name, operands, rows, attrs, infer, eval, scalar, help) \
    bool infer(Graph *, Node *, Type *);                           \
    void eval(EvalContext *, Node *);
#include "ops.def"
#undef OP

const OpInfo op_info[OP_COUNT] = {
#define OP(name, operands, rows, attrs, infer, eval, scalar, help) \
    [OP_##name] = {#name, operands, rows, attrs, infer, eval, scalar, help},
#include "ops.def"
#undef OP
};

bool op_find(const char *name, Op *op) {
    for (int i = 0; i < OP_COUNT; i++)
        if (!strcmp(op_info[i].name, name)) return *op = (Op)i, true;
    return false;
}

// A word of a blank-separated list; *next moves after it. False at the end.
static bool next_word(const char **next, const char **word, size_t *length) {
    *word = *next + strspn(*next, " ");
    *length = strcspn(*word, " ");
    *next = *word + *length;
    return *length > 0;
}

int op_least(Op op) {
    const char *next = op_info[op].operands, *word;
    size_t length;
    int least = 0;
    while (next_word(&next, &word, &length))
        least += !memchr(word, '?', length) && !memchr(word, '*', length);
    return least;
}

int op_most(Op op) {
    const char *next = op_info[op].operands, *word;
    size_t length;
    int most = 0;
    while (next_word(&next, &word, &length)) {
        const char *plus = memchr(word, '+', length);
        if (memchr(word, '*', length)) return -1;
        if (plus) return plus + 1 < next ? atoi(plus + 1) : -1;
        most++;
    }
    return most;
}

const char *op_operand(Op op, int i, int *length) {
    const char *next = op_info[op].operands, *word;
    size_t n;
    while (next_word(&next, &word, &n)) {
        *length = (int)strcspn(word, " ?*+");
        if (i-- == 0 || word[*length] == '*' || word[*length] == '+') return word;
    }
    return *length = 0, "";
}

int op_operand_named(Op op, const char *name) {
    int length, most = op_most(op);
    for (int i = 0; i < most; i++) {
        const char *operand = op_operand(op, i, &length);
        if (strlen(name) == (size_t)length && !strncmp(operand, name, (size_t)length)) return i;
    }
    return -1;
}

static const struct {
    const char *name;
    AttrKind kind;
} attr_kinds[] = {{"int", ATTR_INT},       {"float", ATTR_FLOAT},   {"string", ATTR_STRING},
                  {"ints", ATTR_INTS},     {"floats", ATTR_FLOATS}, {"strings", ATTR_STRINGS},
                  {"dims", ATTR_DIMS},     {"dim", ATTR_DIMS},      {"expr", ATTR_EXPR},
                  {"tensor", ATTR_TENSOR}, {"graph", ATTR_GRAPH},   {"dtype", ATTR_DTYPE}};

static bool read_attr(const char *word, size_t length, OpAttr *a) {
    const char *colon = memchr(word, ':', length), *end = word + length;
    *a = (OpAttr){.name = word, .length = (int)(colon - word), .required = end[-1] == '!'};
    size_t n = (size_t)(end - a->required - colon - 1);
    for (size_t i = 0; i < sizeof attr_kinds / sizeof *attr_kinds; i++)
        if (strlen(attr_kinds[i].name) == n && !strncmp(attr_kinds[i].name, colon + 1, n)) {
            a->kind = attr_kinds[i].kind, a->kind_name = attr_kinds[i].name;
            a->one = !strcmp(a->kind_name, "dim");
        }
    return a->kind_name != NULL;
}

bool op_next_attr(const char **next, OpAttr *a) {
    const char *word;
    size_t length;
    return next_word(next, &word, &length) && read_attr(word, length, a);
}

bool op_attr(Op op, const char *name, OpAttr *a) {
    const char *next = op_info[op].attrs;
    while (op_next_attr(&next, a))
        if (strlen(name) == (size_t)a->length && !strncmp(name, a->name, (size_t)a->length))
            return true;
    return false;
}

bool op_is_elementwise(Op op) { return op_info[op].scalar != NULL; }

bool op_is_comparison(Op op) {
    return op == OP_less || op == OP_less_or_equal || op == OP_greater ||
           op == OP_greater_or_equal || op == OP_equal;
}

bool op_is_logical(Op op) { return op == OP_and || op == OP_or || op == OP_not; }
