// Whole numbers that pass through bytes stay floats where they are read as floats: between
// QuantizeLinear or DynamicQuantizeLinear and DequantizeLinear or a product of integers
// (integers.c).
//
//   before   %r = min(max(add(round(div(%x, %s)), %z), 0), 255)     after   %f = sub(%r, %z)
//            %q = cast(%r) {to=u8}
//            %d = sub(cast(%q) {to=i32}, cast(cast(%z) {to=u8}) {to=i32})
//            %f = cast(%d) {to=f32}
//
// Every value between is a whole number that f32 holds. A clamp is never NaN: max and min of NaN
// and a bound give the bound if it is the second operand.
#include <math.h>

#include "passes/fuse/fuse.h"

enum { DEEPEST = 16, MOST_TERMS = 8 };

// ----------------------------------------------------------------------------------- whole numbers
static bool is_bound(const Node *n, double *value) {
    return match_scalar(n, value) && *value == rint(*value);
}

// A whole number, or NaN, or an infinity?
static bool is_whole(const Node *n, int depth) {
    double value;
    if (depth == DEEPEST) return false;
    switch (n->op) {
        case OP_constant:
            return is_bound(n, &value);
        case OP_round:
        case OP_floor:
        case OP_ceil:
            return true;
        case OP_cast:
            return n->type.dtype == DT_f32 &&
                   (!dtype_is_float(n->in[0]->type.dtype) || is_whole(n->in[0], depth + 1));
        case OP_add:
        case OP_sub:
        case OP_min:
        case OP_max:
            return is_whole(n->in[0], depth + 1) && is_whole(n->in[1], depth + 1);
        case OP_neg:
        case OP_reshape:
        case OP_transpose:
        case OP_expand:
        case OP_slice:
            return is_whole(n->in[0], depth + 1);
        default:
            return false;
    }
}

// A clamp of whole numbers to the range of the byte type
static bool is_clamped(const Node *n, DType bytes) {
    double outer, inner;
    const double low = bytes == DT_i8 ? -128 : 0, high = bytes == DT_i8 ? 127 : 255;
    if (n->type.dtype != DT_f32 || (n->op != OP_min && n->op != OP_max) ||
        !is_bound(n->in[1], &outer))
        return false;
    const Node *x = n->in[0];
    if (x->op != (n->op == OP_min ? OP_max : OP_min) || !is_bound(x->in[1], &inner)) return false;
    return fmin(outer, inner) >= low && fmax(outer, inner) <= high && is_whole(x->in[0], 0);
}

// ------------------------------------------------------------------------------------ as they were
// A value of integers on its way to f32, and of how many bytes it is made
typedef struct Way {
    Builder at;
    int terms;
    bool came_from_floats;
} Way;

static Node *floats_of(Way *w, Node *n);

static bool is_byte(DType t) { return t == DT_u8 || t == DT_i8; }
static bool is_wide(DType t) { return t == DT_i16 || t == DT_i32 || t == DT_i64; }

static Node *floats_of_bytes(Way *w, Node *n) {
    if (++w->terms > MOST_TERMS) return NULL;
    bool whole = n->op == OP_cast && is_clamped(n->in[0], n->type.dtype);
    w->came_from_floats |= whole;
    return whole ? n->in[0] : build_cast(w->at, n, DT_f32);
}

static Node *floats_of_terms(Way *w, Node *n) {
    Node *a = floats_of(w, n->in[0]), *b = a ? floats_of(w, n->in[1]) : NULL;
    return b ? build_binary(w->at, n->op, a, b) : NULL;
}

static Node *floats_of_view(Way *w, Node *n) {
    Node *x = floats_of(w, n->in[0]);
    return x ? inferred(node_again(n, n->op, 1, &x, w->at.before)) : NULL;
}

// NULL: not of bytes alone
static Node *floats_of(Way *w, Node *n) {
    double value;
    if (!is_byte(n->type.dtype) && !is_wide(n->type.dtype)) return NULL;
    if (is_view(n->op) && n->n_in == 1) return floats_of_view(w, n);
    if (is_byte(n->type.dtype)) return floats_of_bytes(w, n);
    if (n->op == OP_constant && is_bound(n, &value) && fabs(value) <= 255)
        return floats_of_bytes(w, n);
    if (n->op == OP_cast)
        return dtype_is_float(n->in[0]->type.dtype) ? NULL : floats_of(w, n->in[0]);
    return n->op == OP_add || n->op == OP_sub ? floats_of_terms(w, n) : NULL;
}

bool keep_floats(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) {
        if (n->op != OP_cast || n->type.dtype != DT_f32 || dtype_is_float(n->in[0]->type.dtype) ||
            !node_uses(n))
            continue;
        Way w = {.at = cursor(n)};
        Node *by = floats_of(&w, n->in[0]);
        if (!by || !w.came_from_floats || !type_equal(&by->type, &n->type)) continue;
        node_become(n, by);
        changed = true;
    }
    return changed;
}
