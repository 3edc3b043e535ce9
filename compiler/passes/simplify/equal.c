// Equal subexpressions: of nodes with the same op, operands, attributes and type, the first one
// stays.
//
//   before   %a = mul(%x, %x)                                     after   %a = mul(%x, %x)
//            %b = mul(%x, %x)                                             %y = add(%a, %a)
//            %y = add(%a, %b)
#include <string.h>

#include "passes/simplify/simplify.h"
#include "util/hash.h"

static uint64_t hash_value(uint64_t h, uint64_t v) { return hash_bytes(&v, sizeof v, h); }

enum { SMALL_CONSTANT = 1 << 16 };

static bool has_small_data(const Node *n) {
    return n->value && n->value->data && n->value->bytes <= SMALL_CONSTANT;
}

// Small data by its bytes, large data by where it is, unknown data by its hash.
static uint64_t hash_constant(const Node *n, uint64_t h) {
    if (has_small_data(n)) return hash_bytes(n->value->data, n->value->bytes, h);
    return n->value && n->value->data ? hash_value(h, (uintptr_t)n->value->data)
                                      : hash_value(h, n->hash);
}

// Attributes are compared, not hashed, but for one: chains of slices of one value differ in
// `start`.
static uint64_t hash_node(const Node *n) {
    uint64_t h = hash_value(0, (uint64_t)n->op);
    for (int i = 0; i < n->n_in; i++) h = hash_value(h, (uintptr_t)n->in[i]);
    for (const Attr *a = n->attrs; a; a = a->next) {
        if (a->kind == ATTR_INT) h = hash_value(h, (uint64_t)a->i);
        if (a->kind == ATTR_DIMS && a->n) h = hash_value(h, (uintptr_t)a->dims[0]);
    }
    return n->op == OP_constant ? hash_constant(n, h) : h;
}

static bool same_constant(const Node *a, const Node *b) {
    if (has_small_data(a) && has_small_data(b))
        return a->value->bytes == b->value->bytes &&
               !memcmp(a->value->data, b->value->data, a->value->bytes);
    const void *x = a->value ? a->value->data : NULL, *y = b->value ? b->value->data : NULL;
    return x || y ? x == y : a->hash == b->hash && a->hash != 0;
}

static bool equal_nodes(const Node *a, const Node *b) {
    if (a->op != b->op || a->n_in != b->n_in || !type_equal(&a->type, &b->type) ||
        !same_attrs(a, b))
        return false;
    for (int i = 0; i < a->n_in; i++) {
        if (a->in[i] != b->in[i]) return false;
    }
    return a->op != OP_constant || same_constant(a, b);
}

static bool may_merge(const Node *n) {
    return n->op != OP_input && op_info[n->op].rows != ROWS_STATE && n->op != OP_state;
}

bool merge_equal_nodes(Graph *g) {
    int count = 0, slots = 16;
    EACH_NODE(each, g) count++;
    while (slots < 2 * count) slots *= 2;
    Arena *scratch = arena_new();
    Node **table = ARENA_ARRAY(scratch, Node *, slots);
    bool changed = false;
    EACH_NODE(n, g) {
        if (!may_merge(n)) continue;
        int at = (int)(hash_node(n) & (uint64_t)(slots - 1));
        while (table[at] && !equal_nodes(table[at], n)) at = (at + 1) & (slots - 1);
        if (!table[at]) {
            table[at] = n;
        } else if (node_uses(n)) {
            node_replace(n, table[at]);
            changed = true;
        }
    }
    arena_free(scratch);
    return changed;
}
