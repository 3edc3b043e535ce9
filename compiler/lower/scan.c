// Loops over rows whose body acts lane by lane become one kernel: a unit computes its lanes for all
// rows, so no thread waits after each row.
//
//   %t = loop(_, _, %S, %x, %B, %slot, %position) {counter=row, body=graph (..) {
//     %h = reshape(shift_rows(%S, ..) {back=1}) : f32[16, 1536]
//     %new = add(mul(%decay, %h), mul(%b, %x)) : f32[16, 1536]     // reduced axis, lanes
//     %y = reduce_sum(mul(%c, %new)) {axes=[0]} : f32[1536]
//   } -> (cache_append(%S, %new, ..), %y)}
//
// Axes of all values that an op matches are one axis of the scan, found by union-find. At most one
// axis may be reduced, and not the innermost axis of the summed value, so that a sum is one
// ascending chain for each lane. Lanes are an axis along which elements of operands and results are
// adjacent. The remaining axes (heads) are independent. Any other body stays a loop of kernels
// (control.c).
//
// The reduced axis is passed over several times if a value along it needs an earlier sum: a delta
// rule subtracts its answer from each element. Every pass computes its values anew from the
// operands, so a state is stored in the last pass that reads it.
#include "lower/scan.h"

#include "ir/control.h"
#include "ir/operands.h"
#include "lower/select.h"

enum { MOST_RESULTS = 4 };              // of Kernel.out
enum { WIDEST = 4, FEWEST_UNITS = 8 };  // vectors of a unit, if enough units are left

typedef struct Builder {
    Lowering *l;
    Node *loop;
    LoopParts parts;
    Scan *scan;
    View *views;     // by value, of operands: an element of the loop
    int *parent;     // by value and axis: union-find
    int *axis;       // by value and axis: axis of the scan, or -1
    View *operands;  // of the kernel
    int n_operands;
} Builder;

// ------------------------------------------------------------------------------------------ values
static int slot_of(int value, int axis) { return value * MAX_RANK + axis; }

static int find_root(Builder *b, int i) {
    while (b->parent[i] != i) i = b->parent[i] = b->parent[b->parent[i]];
    return i;
}

static bool is_one(const Node *n, int axis) { return dim_is(n->type.dim[axis], 1); }

// Values are numbered by the mark of their node; -1: no value.
static int value_of(const Node *n) { return n->mark; }

static ScanValue *add_value(Builder *b, Node *n, ScanKind kind) {
    Scan *s = b->scan;
    n->mark = s->n_values;
    for (int i = 0; i < MAX_RANK; i++) {
        int at = slot_of(n->mark, i);
        b->parent[at] = at;
    }
    ScanValue *v = &s->values[s->n_values++];
    *v = (ScanValue){.kind = kind, .node = n, .operand = -1, .state = -1};
    return v;
}

// Makes an axis of one value and an axis of another value the same axis of the scan.
static bool join(Builder *b, const Node *x, int axis, const Node *y, int other) {
    if (is_one(x, axis)) return true;
    if (x->type.dim[axis] != y->type.dim[other]) return false;
    b->parent[find_root(b, slot_of(value_of(x), axis))] = find_root(b, slot_of(value_of(y), other));
    return true;
}

static int operand_index(Builder *b, const View *v) {
    for (int i = 0; i < b->n_operands; i++)
        if (b->operands[i].base == v->base && v->base != BASE_SCALAR &&
            view_same_place(&b->operands[i], v))
            return i;
    b->operands[b->n_operands] = *v;
    return b->n_operands++;
}

static bool is_readable(const View *v) {
    if (v->row_index || v->base == BASE_NONE) return false;
    bool number = v->base == BASE_INPUT || v->base == BASE_SCALAR;
    return v->type.dtype == DT_f32 || (v->type.dtype == DT_i32 && number);
}

// An operand of the kernel, of which the body's node is an element or all.
static bool add_operand(Builder *b, Node *n, View from, bool by_rows) {
    if (!is_readable(&from)) return false;
    ScanValue *v = add_value(b, n, SCAN_OPERAND);
    if (by_rows && !dim_is_const(from.stride[0], &v->row_stride)) return false;
    v->operand = operand_index(b, &from);
    from.offset = dim_const(b->l->graph, 0), from.type = n->type;
    b->views[value_of(n)] = from;
    return true;
}

static int input_of(const Builder *b, const Node *n) {
    for (int i = 0; i < b->parts.body->n_inputs; i++)
        if (b->parts.body->inputs[i] == n) return i;
    return -1;
}

static Node *outer_of(const Builder *b, const Node *input) {
    int i = input_of(b, input);
    return i < 0 ? NULL : b->loop->in[LOOP_FIRST + i];
}

static bool has_all_rows(const Builder *b, const Type *t) {
    return t->rank && t->dim[0] == b->parts.extent;
}

// The element of this step.
static bool is_own_row(const Builder *b, const Node *n) {
    return n->op == OP_slice && n->in[0]->op == OP_input && has_all_rows(b, &n->in[0]->type) &&
           node_axis(n) == 0 && attr_dim(n, "start") == b->parts.counter &&
           dim_is(n->type.dim[0], 1);
}

static bool reads_role(const Builder *b, const Node *n, InputRole role) {
    const Node *outer = n && is_own_row(b, n) ? outer_of(b, n->in[0]) : NULL;
    return outer && outer->op == OP_input && input_role(outer) == role;
}

static bool is_at_own_place(const Builder *b, const Node *slot, const Node *position) {
    return reads_role(b, slot, INPUT_SLOTS) && reads_role(b, position, INPUT_POSITIONS);
}

// The state of the step before.
static bool add_state(Builder *b, Node *n) {
    int i = input_of(b, n->in[SHIFT_X]);
    if (i < 0 || i >= b->parts.n_states || attr_int(n, "back", 0) != 1 ||
        !is_at_own_place(b, operand_or_null(n, SHIFT_SLOT), operand_or_null(n, SHIFT_POSITION)))
        return false;
    View v = view_operand(b->l, b->loop->in[LOOP_FIRST + i]);
    if (!is_readable(&v)) return false;
    ScanValue *value = add_value(b, n, SCAN_OPERAND);
    value->operand = operand_index(b, &v), value->state = i;
    View element = view_contiguous(b->l, &n->type);
    element.base = v.base, element.state = v.state;
    b->views[value_of(n)] = element;
    return true;
}

static bool is_formula(const Node *n) {
    return op_is_elementwise(n->op) || n->op == OP_elementwise;
}

static bool is_reduction(Op op) {
    return op == OP_reduce_sum || op == OP_reduce_mean || op == OP_reduce_max ||
           op == OP_reduce_min || op == OP_reduce_prod;
}

static void read_values(Builder *b, ScanValue *v, const Node *n) {
    int *in = ARENA_ARRAY(b->l->arena, int, n->n_in + 1);
    for (int i = 0; i < n->n_in; i++) in[i] = value_of(n->in[i]);
    v->in = in, v->n_in = n->n_in;
}

// Truth comes of comparisons alone, which the emitted text needs to know.
static bool has_class_of_type(const Expr *e, DType t) {
    bool truth = e->kind == EXPR_OP && (op_is_comparison(e->op) || op_is_logical(e->op));
    return t == DT_f32 ? !truth : t == DT_bool && truth;
}

static bool add_formula(Builder *b, Node *n) {
    Arena *arena = b->l->arena;
    const Expr *e = attr_as_expr(attr_in(n->attrs, "expr")), *args[3];
    for (int i = 0; i < 3; i++) args[i] = expr_arg(arena, i);
    if (!e && n->n_in > 3) return false;
    if (!e) e = expr_op(arena, n->op, n->n_in, args);
    if (e->kind != EXPR_OP || !has_class_of_type(e, n->type.dtype)) return false;
    for (int i = 0; i < n->n_in; i++)
        if (value_of(n->in[i]) < 0) return false;
    ScanValue *v = add_value(b, n, SCAN_FORMULA);
    v->expr = e, read_values(b, v, n);
    for (int i = 0; i < n->n_in; i++)
        for (int j = 0, shift = n->type.rank - n->in[i]->type.rank; j < n->in[i]->type.rank; j++)
            if (!join(b, n->in[i], j, n, j + shift)) return false;
    return true;
}

// Finds the one axis of more than one element that is reduced; false for several, for none, and for
// the innermost: its sum is one of sixteen lanes.
static bool find_reduced(const Node *n, int *reduced) {
    const Type *t = &n->in[0]->type;
    int n_axes, inside = 0;
    const int64_t *axes = attr_ints(n, "axes", &n_axes);
    *reduced = -1;
    for (int i = 0; i < n_axes; i++) {
        if (dim_is(t->dim[axes[i]], 1)) continue;
        if (*reduced >= 0) return false;
        *reduced = (int)axes[i];
    }
    for (int i = *reduced + 1; i < t->rank; i++) inside += !dim_is(t->dim[i], 1);
    return *reduced >= 0 && inside;
}

static bool add_reduction(Builder *b, Node *n) {
    Node *x = n->in[0];
    int reduced, n_axes;
    if (value_of(x) < 0 || n->type.dtype != DT_f32 || !find_reduced(n, &reduced)) return false;
    const int64_t *axes = attr_ints(n, "axes", &n_axes);
    bool keep = attr_int(n, "keepdims", 1) != 0;
    read_values(b, add_value(b, n, SCAN_REDUCTION), n);
    for (int i = 0, kept = 0; i < x->type.rank; i++) {
        bool gone = false;
        for (int j = 0; j < n_axes; j++) gone |= axes[j] == i;
        if (!gone && !join(b, x, i, n, keep ? i : kept)) return false;
        kept += !gone;
    }
    return true;
}

// Pairs the axes of more than one element in order; false if they differ.
static bool join_in_order(Builder *b, const Node *x, const Node *y) {
    int i = 0, j = 0;
    for (;;) {
        while (i < x->type.rank && is_one(x, i)) i++;
        while (j < y->type.rank && is_one(y, j)) j++;
        if (i == x->type.rank || j == y->type.rank) break;
        if (!join(b, x, i++, y, j++)) return false;
    }
    return i == x->type.rank && j == y->type.rank;
}

static bool same_axes(const Type *x, const Type *y) {
    int i = 0, j = 0;
    for (;;) {
        while (i < x->rank && dim_is(x->dim[i], 1)) i++;
        while (j < y->rank && dim_is(y->dim[j], 1)) j++;
        if (i == x->rank || j == y->rank) return i == x->rank && j == y->rank;
        if (x->dim[i++] != y->dim[j++]) return false;
    }
}

// A view of an operand is another operand; a computed value in another shape is the same value,
// unless its axes are merged or split: then it may only be a result.
static bool add_view(Builder *b, Node *n) {
    Node *x = n->in[0];
    if (value_of(x) < 0) return n->op == OP_reshape;
    const ScanValue *from = &b->scan->values[value_of(x)];
    if (from->kind == SCAN_OPERAND) {
        View v;
        if (b->operands[from->operand].base == BASE_SCALAR)
            v = b->views[value_of(x)], v.type = n->type;
        else if (!view_derive(b->l, n, &b->views[value_of(x)], &v))
            return false;
        ScanValue *to = add_value(b, n, SCAN_OPERAND);
        to->operand = from->operand, to->row_stride = from->row_stride, to->state = from->state;
        b->views[value_of(n)] = v;
        return true;
    }
    if (n->op != OP_reshape) return false;
    if (!same_axes(&x->type, &n->type)) return true;
    ScanValue *v = add_value(b, n, SCAN_FORMULA);
    v->expr = expr_arg(b->l->arena, 0), read_values(b, v, n);
    return join_in_order(b, x, n);
}

static bool add_node(Builder *b, Node *n) {
    n->mark = -1;
    switch (n->op) {
        case OP_input:
            if (outer_of(b, n)->op == OP_state || has_all_rows(b, &n->type)) return true;
            return add_operand(b, n, view_operand(b->l, outer_of(b, n)), false);
        case OP_constant:
            return add_operand(b, n, view_operand(b->l, n), false);
        case OP_shift_rows:
            return add_state(b, n);
        case OP_cache_append:
            return true;
        case OP_slice:
            if (is_own_row(b, n))
                return add_operand(b, n, view_operand(b->l, outer_of(b, n->in[0])), true);
            return add_view(b, n);
        case OP_reshape:
        case OP_transpose:
        case OP_expand:
            return add_view(b, n);
        default:
            return is_formula(n)         ? add_formula(b, n)
                   : is_reduction(n->op) ? add_reduction(b, n)
                                         : false;
    }
}

// ----------------------------------------------------------------------------------------- results
// The value that a result is, whatever its shape.
static const Node *without_reshapes(const Node *n) {
    while (n->op == OP_reshape && value_of(n) < 0) n = n->in[0];
    return n;
}

static bool add_result(Builder *b, int index) {
    const Node *n = b->parts.body->outputs[index];
    ScanResult *r = &b->scan->results[b->scan->n_results++];
    *r = (ScanResult){.is_state = index < b->parts.n_states};
    if (r->is_state) {
        if (n->op != OP_cache_append || n->in[APPEND_STATE] != b->parts.body->inputs[index] ||
            !is_at_own_place(b, operand_or_null(n, APPEND_SLOT),
                             operand_or_null(n, APPEND_POSITION)))
            return false;
        View v = view_operand(b->l, b->loop->in[LOOP_FIRST + index]);
        r->operand = operand_index(b, &v);
        n = n->in[APPEND_ROWS];
    } else {
        r->operand = index - b->parts.n_states;
        r->row_stride = 1;
        int64_t extent;
        for (int i = 0; i < n->type.rank; i++) {
            if (!dim_is_const(n->type.dim[i], &extent)) return false;
            r->row_stride *= extent;
        }
    }
    r->value = value_of(without_reshapes(n));
    return r->value >= 0 && b->scan->values[r->value].node->type.dtype == DT_f32;
}

// The body's views of operands are values that no formula reads in their first shape.
static void mark_read(Scan *s) {
    for (int i = 0; i < s->n_results; i++) s->values[s->results[i].value].is_read = true;
    for (int i = s->n_values - 1; i >= 0; i--)
        for (int j = 0; s->values[i].is_read && j < s->values[i].n_in; j++)
            s->values[s->values[i].in[j]].is_read = true;
}

// The axes of a state are those of the value that replaces it, also where no op joins them: a step
// may return the row before.
static bool join_states(Builder *b) {
    Scan *s = b->scan;
    for (int i = 0; i < s->n_values; i++) {
        const ScanValue *v = &s->values[i];
        if (v->state < 0 || !v->is_read) continue;
        const Node *next = s->values[s->results[v->state].value].node;
        if (!same_axes(&v->node->type, &next->type) || !join_in_order(b, v->node, next))
            return false;
    }
    return true;
}

// -------------------------------------------------------------------------------------------- axes
static bool name_axis(Builder *b, int *of_root, int at, const Dim *dim) {
    Scan *s = b->scan;
    int root = find_root(b, at);
    int64_t extent;
    if (!dim_is_const(dim, &extent)) return false;
    if (of_root[root] < 0) {
        if (s->n_axes == SCAN_AXES) return false;
        of_root[root] = s->n_axes, s->extent[s->n_axes++] = extent;
    }
    b->axis[at] = of_root[root];
    return s->extent[of_root[root]] == extent;
}

static bool name_axes_of(Builder *b, int *of_root, int value) {
    const Node *n = b->scan->values[value].node;
    unsigned seen = 0;
    for (int i = 0; i < n->type.rank; i++) {
        int at = slot_of(value, i);
        b->axis[at] = -1;
        if (is_one(n, i)) continue;
        if (!name_axis(b, of_root, at, n->type.dim[i]) || seen >> b->axis[at] & 1) return false;
        seen |= 1u << b->axis[at];
    }
    return true;
}

// Axes in the order of the first result's, so that units are in the order of its memory.
static bool name_axes(Builder *b) {
    Scan *s = b->scan;
    int *of_root = ARENA_ARRAY(b->l->arena, int, (size_t)s->n_values *MAX_RANK + 1);
    for (int i = 0; i < s->n_values * MAX_RANK; i++) of_root[i] = -1;
    if (!name_axes_of(b, of_root, s->results[0].value)) return false;
    for (int i = 0; i < s->n_values; i++)
        if (s->values[i].is_read && !name_axes_of(b, of_root, i)) return false;
    return true;
}

// Sets the strides of operands. An operand varies along the axes where its stride is not 0.
static bool find_strides(Builder *b) {
    Scan *s = b->scan;
    for (int i = 0; i < s->n_values; i++) {
        ScanValue *v = &s->values[i];
        if (v->kind != SCAN_OPERAND || !v->is_read) continue;
        const View *view = &b->views[i];
        if (!dim_is_const(view->offset, &v->offset)) return false;
        bool scalar = b->operands[v->operand].base == BASE_SCALAR;
        for (int j = 0; j < view->type.rank && !scalar; j++) {
            int axis = b->axis[slot_of(i, j)];
            if (axis < 0) continue;
            if (!dim_is_const(view->stride[j], &v->stride[axis])) return false;
            if (v->stride[axis]) v->axes |= 1u << axis;
        }
    }
    return true;
}

// Finds the reduced axis, or -1 where nothing is reduced. False: reductions have different axes.
static bool find_reduced_axis(Builder *b) {
    Scan *s = b->scan;
    s->reduced = -1;
    for (int i = 0; i < s->n_values; i++) {
        const ScanValue *v = &s->values[i];
        int reduced;
        if (v->kind != SCAN_REDUCTION || !v->is_read) continue;
        find_reduced(v->node, &reduced);
        int axis = b->axis[slot_of(v->in[0], reduced)];
        if (s->reduced >= 0 && s->reduced != axis) return false;
        s->reduced = axis;
    }
    return true;
}

// A value's axes are those of the values that it reads, but for the axis that it reduces.
static void spread_axes(Scan *s) {
    for (int i = 0; i < s->n_values; i++) {
        ScanValue *v = &s->values[i];
        if (v->kind == SCAN_OPERAND || !v->is_read) continue;
        for (int j = 0; j < v->n_in; j++) v->axes |= s->values[v->in[j]].axes;
        if (v->kind == SCAN_REDUCTION) v->axes &= ~(1u << s->reduced);
    }
}

static void stride_result(Builder *b, ScanResult *r) {
    const Node *n = b->scan->values[r->value].node;
    int64_t stride = 1, extent;
    for (int i = n->type.rank - 1; i >= 0; i--) {
        int axis = b->axis[slot_of(r->value, i)];
        if (axis >= 0) r->stride[axis] = stride;
        if (dim_is_const(n->type.dim[i], &extent)) stride *= extent;
    }
}

static bool may_be_lanes(const Scan *s, int axis) {
    if (axis == s->reduced) return false;
    for (int i = 0; i < s->n_values; i++) {
        const ScanValue *v = &s->values[i];
        if (v->kind == SCAN_OPERAND && v->stride[axis] > 1) return false;
    }
    for (int i = 0; i < s->n_results; i++)
        if (s->results[i].stride[axis] != 1) return false;
    return true;
}

static bool find_lanes(Builder *b) {
    Scan *s = b->scan;
    for (int i = 0; i < s->n_results; i++) stride_result(b, &s->results[i]);
    s->lane = s->n_axes - 1;
    while (s->lane >= 0 && !may_be_lanes(s, s->lane)) s->lane--;
    if (s->lane < 0) return false;
    for (int i = 0; i < s->n_results; i++)
        for (int axis = 0; axis < s->n_axes; axis++)
            if (axis != s->reduced && !s->results[i].stride[axis]) return false;
    return true;
}

// A unit reads the elements of a state that it writes, and no others.
static bool states_stay_apart(const Scan *s) {
    for (int i = 0; i < s->n_values; i++) {
        const ScanValue *v = &s->values[i];
        if (v->kind != SCAN_OPERAND || v->state < 0 || !v->is_read) continue;
        const ScanResult *r = &s->results[v->state];
        if (v->offset || memcmp(v->stride, r->stride, sizeof v->stride)) return false;
    }
    return true;
}

// ------------------------------------------------------------------------------------------ passes
static void number_passes(Scan *s) {
    s->n_passes = 0;
    for (int i = 0; i < s->n_values; i++) {
        ScanValue *v = &s->values[i];
        if (!v->is_read) continue;
        if (v->kind == SCAN_OPERAND && v->state >= 0) v->states = 1u << v->state;
        for (int j = 0; j < v->n_in; j++) {
            const ScanValue *in = &s->values[v->in[j]];
            if (in->pass > v->pass) v->pass = in->pass;
            if (scan_has(in, s->reduced)) v->states |= in->states;
        }
        if (v->kind == SCAN_REDUCTION) v->pass++;
        if (v->pass > s->n_passes) s->n_passes = v->pass;
    }
    for (int i = 0; i < s->n_results; i++) {
        ScanResult *r = &s->results[i];
        r->pass = s->values[r->value].pass;
        if (scan_stores_along(s, r) && r->pass >= s->n_passes) s->n_passes = r->pass + 1;
    }
}

static bool pass_reads(const Scan *s, int pass, int state) {
    for (int i = 0; i < s->n_values; i++) {
        const ScanValue *v = &s->values[i];
        if (v->is_read && v->kind == SCAN_REDUCTION && v->pass == pass + 1 &&
            v->states >> state & 1)
            return true;
    }
    for (int i = 0; i < s->n_results; i++) {
        const ScanValue *v = &s->values[s->results[i].value];
        if (s->results[i].pass == pass && scan_has(v, s->reduced) && v->states >> state & 1)
            return true;
    }
    return false;
}

// Moves the store of each state to the last pass that reads the state.
static void delay_stores(Scan *s) {
    for (bool changed = s->reduced >= 0; changed;) {
        changed = false;
        for (int i = 0; i < s->n_results; i++) {
            ScanResult *r = &s->results[i];
            if (!r->is_state || !scan_stores_along(s, r)) continue;
            for (int pass = r->pass + 1; pass < s->n_passes; pass++)
                if (pass_reads(s, pass, i)) r->pass = pass, changed = true;
        }
    }
}

// Every sum needs terms that vary, or it would be one of equal numbers.
static bool sums_vary(const Scan *s) {
    for (int i = 0; i < s->n_values; i++) {
        const ScanValue *v = &s->values[i];
        if (v->kind == SCAN_REDUCTION && v->is_read && !scan_has(&s->values[v->in[0]], s->reduced))
            return false;
    }
    return true;
}

// Several vectors share the values that all lanes have in common, and their sums are independent.
static void choose_units(Scan *s) {
    enum { LANE_COUNT = 16 };
    int64_t lanes = s->extent[s->lane];
    int64_t heads = 1;
    for (int i = 0; i < s->n_axes; i++)
        if (i != s->lane && i != s->reduced) heads *= s->extent[i];
    s->vectors = 1;
    for (int n = WIDEST; n > 1 && s->vectors == 1; n /= 2)
        if (lanes % (LANE_COUNT * n) == 0 && heads * lanes / (LANE_COUNT * n) >= FEWEST_UNITS)
            s->vectors = n;
    s->units = heads * ((lanes + LANE_COUNT * s->vectors - 1) / (LANE_COUNT * s->vectors));
}

// ---------------------------------------------------------------------------------------- identity
static void key_strides(Text *t, const Scan *s, const int64_t *stride) {
    for (int i = 0; i < s->n_axes; i++) text_add(t, ",%lld", (long long)stride[i]);
}

static const char *key_of(Arena *arena, const Scan *s) {
    Text t = {0};
    text_add(&t, "lanes %d, reduced %d, %d vectors:", s->lane, s->reduced, s->vectors);
    for (int i = 0; i < s->n_axes; i++) text_add(&t, " %lld", (long long)s->extent[i]);
    for (int i = 0; i < s->n_values; i++) {
        const ScanValue *v = &s->values[i];
        if (!v->is_read) continue;
        text_add(&t, "; %s ", op_info[v->node->op].name);
        if (v->kind == SCAN_OPERAND) {
            text_add(&t, "a%d+%lld,%lld", v->operand, (long long)v->offset,
                     (long long)v->row_stride);
            key_strides(&t, s, v->stride);
        }
        if (v->expr) expr_print(&t, v->expr);
        for (int j = 0; j < v->n_in; j++) text_add(&t, " %d", v->in[j]);
    }
    for (int i = 0; i < s->n_results; i++) {
        const ScanResult *r = &s->results[i];
        text_add(&t, "; %s%d = %d in %d", r->is_state ? "state a" : "y", r->operand, r->value,
                 r->pass);
        key_strides(&t, s, r->stride);
    }
    const char *key = arena_strndup(arena, t.data, t.length);
    text_free(&t);
    return key;
}

// ------------------------------------------------------------------------------------------ kernel
static Builder begin(Lowering *l, Node *n) {
    Builder b = {.l = l, .loop = n, .parts = loop_parts(n)};
    int count = 1;
    EACH_NODE(x, b.parts.body) count++;
    size_t size = (size_t)count;
    b.scan = ARENA_NEW(l->arena, Scan);
    *b.scan = (Scan){.slot = -1, .position = -1};
    b.scan->values = ARENA_ARRAY(l->arena, ScanValue, size);
    b.scan->results = ARENA_ARRAY(l->arena, ScanResult, (size_t)b.parts.body->n_outputs + 1);
    b.views = ARENA_ARRAY(l->arena, View, size);
    b.parent = ARENA_ARRAY(l->arena, int, size *MAX_RANK);
    b.axis = ARENA_ARRAY(l->arena, int, size *MAX_RANK);
    b.operands = ARENA_ARRAY(l->arena, View, size + (size_t)n->n_in);
    return b;
}

// Loops of a decoder's rows, at the top of the graph, with states of its slots.
static bool is_over_rows(const Lowering *l, const Node *n, const LoopParts *p) {
    if (l->places || loop_is_open(p) || !l->program->rows || p->extent != l->program->rows ||
        p->length != p->extent || p->n_states < 1 || p->n_states + p->n_scanned > MOST_RESULTS)
        return false;
    for (int i = 0; i < p->n_states; i++) {
        const Node *item = item_of(n, i), *state = n->in[LOOP_FIRST + i];
        if (state->op != OP_state || (item && node_uses(item))) return false;
    }
    return true;
}

static bool understand(Builder *b) {
    const LoopParts *p = &b->parts;
    EACH_NODE(n, p->body)
        if (!add_node(b, n)) return false;
    for (int i = 0; i < p->body->n_outputs; i++)
        if (!add_result(b, i)) return false;
    mark_read(b->scan);
    if (!join_states(b) || !name_axes(b) || !find_strides(b) || !find_reduced_axis(b)) return false;
    spread_axes(b->scan);
    if (!sums_vary(b->scan) || !find_lanes(b) || !states_stay_apart(b->scan)) return false;
    number_passes(b->scan);
    delay_stores(b->scan);
    choose_units(b->scan);
    return true;
}

// The slots and positions of all rows.
static void find_places(Builder *b) {
    for (int i = LOOP_FIRST; i < b->loop->n_in; i++) {
        Node *n = b->loop->in[i];
        if (n->op != OP_input) continue;
        View v = view_operand(b->l, n);
        if (input_role(n) == INPUT_SLOTS) b->scan->slot = operand_index(b, &v);
        if (input_role(n) == INPUT_POSITIONS) b->scan->position = operand_index(b, &v);
    }
}

bool select_scan(Lowering *l, Node *n) {
    Builder b = begin(l, n);
    if (!is_over_rows(l, n, &b.parts) || !understand(&b)) return false;
    find_places(&b);
    Scan *s = b.scan;
    s->key = key_of(l->arena, s);
    Kernel *k = kernel_new(l, FAMILY_SCAN, n, b.n_operands);
    k->scan = s;
    k->share = share_by(SHARE_OUTER, dim_const(l->graph, s->units));
    memcpy(k->in, b.operands, (size_t)b.n_operands * sizeof *k->in);
    for (int i = 0; i < k->n_in; i++) k->in[i].own_part = false;
    for (int i = 0; i < b.parts.n_scanned; i++) {
        int index = b.parts.n_states + i;
        Node *item = item_of(n, index);
        kernel_give(l, k, i, item, view_result(l, item ? item : n, &n->items[index], false));
    }
    for (int i = 0; i < b.parts.n_states; i++)
        kernel_give(l, k, b.parts.n_scanned + i, NULL, view_operand(l, n->in[LOOP_FIRST + i]));
    for (int i = 0; i < k->n_out; i++) k->out[i].own_part = false;
    return true;
}
