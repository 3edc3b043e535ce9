// Scans: loops over rows whose body acts lane by lane (lower/scan.h). A unit is one head (or none)
// and some vectors of lanes; it computes them for all rows, state after state.
//
//   for (int unit = range.first; unit < range.last; unit++) {
//       const int i0 = unit / 2, j = unit % 2 * 32;
//       for (int r = 0; r < rows; r++) {
//           float *s5 = ...                          // state of the slot, zeros at position 0
//           vf v3[2], v9[2];                         // values of a row, sums
//           for (int i1 = 0; i1 < 128; i1++) {       // pass over the reduced axis
//               const vf v1 = vf_set1(*(a1 + r * 128 + i1));
//               for (int v = 0; v < 2; v++) {
//                   const vf v6 = vf_load(s5 + i1 * 64 + v * LANES);
//                   const vf v7 = vf_add(vf_mul(v2, v6), vf_mul(v1, v3[v]));
//                   v9[v] = vf_add(vf_mul(v4, v7), v9[v]);
//                   vf_store(s5 + i1 * 64 + v * LANES, v7);
//               }
//           }
//           for (int v = 0; v < 2; v++) vf_store(y0 + ..., v9[v]);
//       }
//   }
#include "lower/scan.h"

#include <stdio.h>

#include "codegen/parameters.h"

typedef struct ScanText {
    Text *t;
    const Program *p;
    const Kernel *k;
    const Scan *s;
    bool along;              // within a pass over the reduced axis
    const ScanValue *value;  // whose formula is printed
} ScanText;

enum { LANE_COUNT = 16 };

// --------------------------------------------------------------------------------------- addresses
static bool is_whole(const Scan *s) { return s->extent[s->lane] % LANE_COUNT == 0; }

// " + i0 * 8192 + j": where a unit's elements begin; the reduced axis within a pass, the vector
static void add_term(Text *t, const char *index, int64_t stride) {
    if (!stride) return;
    text_add(t, " + %s", index);
    if (stride != 1) text_add(t, " * (ptrdiff_t)%lld", (long long)stride);
}

static void add_terms(const ScanText *w, const int64_t *stride, int64_t row_stride) {
    const Scan *s = w->s;
    add_term(w->t, "r", row_stride);
    for (int i = 0; i < s->n_axes; i++) {
        char name[16];
        snprintf(name, sizeof name, "i%d", i);
        if (i == s->lane)
            add_term(w->t, s->vectors > 1 ? "j + v * LANES" : "j", stride[i]);
        else if (i != s->reduced || w->along)
            add_term(w->t, name, stride[i]);
    }
}

static void add_bounds(const ScanText *w) {
    if (!is_whole(w->s)) text_add(w->t, ", %lld - j", (long long)w->s->extent[w->s->lane]);
}

// vf_load(a3 + r * 1536 + j), vf_set1(*(a3 + r * 16 + i1)), vi_set1(position[r])
static void load_operand(const ScanText *w, const ScanValue *v) {
    Text *t = w->t;
    const View *view = &w->k->in[v->operand];
    const char *class = view->type.dtype == DT_i32 ? "vi" : "vf";
    if (view->base == BASE_SCALAR) {
        text_add(t, "%s_set1(", class), c_float(t, view->scalar), text_add(t, ")");
        return;
    }
    bool lanes = scan_has(v, w->s->lane);
    text_add(t, lanes ? "%s_load%s(" : "%s_set1(*(", class, is_whole(w->s) ? "" : "_n");
    text_add(t, v->state >= 0 ? "s%d" : "a%d", v->operand);
    if (v->offset) text_add(t, " + %lld", (long long)v->offset);
    add_terms(w, v->stride, v->row_stride);
    if (lanes) add_bounds(w);
    text_add(t, lanes ? ")" : "))");
}

// ------------------------------------------------------------------------------------------ values
// Values of a row that have lanes are arrays of vectors.
static bool is_array(const Scan *s, const ScanValue *v) {
    return s->vectors > 1 && scan_has(v, s->lane) && !scan_has(v, s->reduced);
}

// A value in another shape is the same value.
static bool is_other_shape(const ScanValue *v) { return v->expr && v->expr->kind == EXPR_ARG; }

static void name_value(const ScanText *w, int i) {
    while (is_other_shape(&w->s->values[i])) i = w->s->values[i].in[0];
    text_add(w->t, is_array(w->s, &w->s->values[i]) ? "v%d[v]" : "v%d", i);
}

static void write_arg(Text *t, int i, void *user) {
    const ScanText *w = user;
    (void)t;
    name_value(w, w->value->in[i]);
}

static VectorClass class_of(const ScanValue *v) {
    DType t = v->node->type.dtype;
    return t == DT_bool ? CLASS_TRUTH : t == DT_i32 ? CLASS_INTEGER : CLASS_FLOAT;
}

static VectorClass arg_class(int i, void *user) {
    const ScanText *w = user;
    return class_of(&w->s->values[w->value->in[i]]);
}

static const char *vector_type(const ScanValue *v) {
    static const char *const names[] = {
        [CLASS_FLOAT] = "vf", [CLASS_INTEGER] = "vi", [CLASS_TRUTH] = "vm"};
    return names[class_of(v)];
}

static void write_value(ScanText *w, const ScanValue *v) {
    if (v->kind == SCAN_OPERAND) {
        load_operand(w, v);
        return;
    }
    w->value = v;
    c_expr(w->t, v->expr, &(ExprWriter){write_arg, arg_class, w});
}

static void indent(const ScanText *w, int depth) { text_add(w->t, "%*s", 4 * depth, ""); }

static void open_vectors(const ScanText *w, int depth) {
    indent(w, depth), text_add(w->t, "for (int v = 0; v < %d; v++) ", w->s->vectors);
}

// A value that does not vary along the reduced axis.
static void write_row_value(ScanText *w, int i) {
    const ScanValue *v = &w->s->values[i];
    indent(w, 3);
    if (is_array(w->s, v)) {
        text_add(w->t, "%s v%d[%d];\n", vector_type(v), i, w->s->vectors);
        open_vectors(w, 3), text_add(w->t, "v%d[v] = ", i);
    } else {
        text_add(w->t, "const %s v%d = ", vector_type(v), i);
    }
    write_value(w, v), text_add(w->t, ";\n");
}

static void write_row_values(ScanText *w, int pass) {
    const Scan *s = w->s;
    for (int i = 0; i < s->n_values; i++) {
        const ScanValue *v = &s->values[i];
        if (v->kind != SCAN_REDUCTION && v->pass == pass && !scan_has(v, s->reduced) &&
            v->is_read && !is_other_shape(v))
            write_row_value(w, i);
    }
}

// ------------------------------------------------------------------------------------------ passes
typedef struct ScanReducer {
    Op op;
    const char *start, *function;
} ScanReducer;

static const ScanReducer *reducer_of(Op op) {
    static const ScanReducer reducers[] = {{OP_reduce_sum, "0", "vf_add"},
                                           {OP_reduce_mean, "0", "vf_add"},
                                           {OP_reduce_max, "-INFINITY", "vf_max"},
                                           {OP_reduce_min, "INFINITY", "vf_min"},
                                           {OP_reduce_prod, "1", "vf_mul"}};
    for (size_t i = 0; i < sizeof reducers / sizeof *reducers; i++)
        if (reducers[i].op == op) return &reducers[i];
    return &reducers[0];
}

// Reductions of a pass are complete before the next one.
static bool reduces_in(const ScanValue *v, int pass) {
    return v->is_read && v->kind == SCAN_REDUCTION && v->pass == pass + 1;
}

static void begin_reductions(const ScanText *w, int pass) {
    const Scan *s = w->s;
    for (int i = 0; i < s->n_values; i++) {
        const ScanValue *v = &s->values[i];
        if (!reduces_in(v, pass)) continue;
        const char *start = reducer_of(v->node->op)->start;
        indent(w, 3);
        if (!is_array(s, v)) {
            text_add(w->t, "vf v%d = vf_set1(%s);\n", i, start);
            continue;
        }
        text_add(w->t, "vf v%d[%d];\n", i, s->vectors);
        open_vectors(w, 3), text_add(w->t, "v%d[v] = vf_set1(%s);\n", i, start);
    }
}

static void end_means(const ScanText *w, int pass) {
    const Scan *s = w->s;
    for (int i = 0; i < s->n_values; i++) {
        const ScanValue *v = &s->values[i];
        if (!reduces_in(v, pass) || v->node->op != OP_reduce_mean) continue;
        if (is_array(s, v))
            open_vectors(w, 3);
        else
            indent(w, 3);
        name_value(w, i), text_add(w->t, " = vf_div("), name_value(w, i);
        text_add(w->t, ", vf_set1(%lld));\n", (long long)s->extent[s->reduced]);
    }
}

// Marks the values along the reduced axis that a pass computes.
static bool *needed_in(const ScanText *w, int pass) {
    const Scan *s = w->s;
    bool *needed = ARENA_ARRAY(w->p->arena, bool, (size_t)s->n_values + 1);
    for (int i = 0; i < s->n_results; i++)
        if (scan_stores_along(s, &s->results[i]) && s->results[i].pass == pass)
            needed[s->results[i].value] = true;
    for (int i = s->n_values - 1; i >= 0; i--) {
        const ScanValue *v = &s->values[i];
        for (int j = 0; j < v->n_in; j++)
            if (needed[i] ? v->kind != SCAN_REDUCTION : reduces_in(v, pass))
                needed[v->in[j]] = true;
    }
    for (int i = 0; i < s->n_values; i++) needed[i] &= scan_has(&s->values[i], s->reduced);
    return needed;
}

static void write_steps(ScanText *w, const bool *needed, bool lanes, int depth) {
    const Scan *s = w->s;
    for (int i = 0; i < s->n_values; i++) {
        const ScanValue *v = &s->values[i];
        if (!needed[i] || scan_has(v, s->lane) != lanes || is_other_shape(v)) continue;
        indent(w, depth), text_add(w->t, "const %s v%d = ", vector_type(v), i);
        write_value(w, v), text_add(w->t, ";\n");
    }
}

static void write_sums(const ScanText *w, int pass, bool lanes, int depth) {
    const Scan *s = w->s;
    for (int i = 0; i < s->n_values; i++) {
        const ScanValue *v = &s->values[i];
        if (!reduces_in(v, pass) || scan_has(v, s->lane) != lanes) continue;
        indent(w, depth), name_value(w, i);
        text_add(w->t, " = %s(", reducer_of(v->node->op)->function), name_value(w, v->in[0]);
        text_add(w->t, ", "), name_value(w, i), text_add(w->t, ");\n");
    }
}

static void store_result(const ScanText *w, const ScanResult *r) {
    Text *t = w->t;
    text_add(t, "vf_store%s(%s%d", is_whole(w->s) ? "" : "_n", r->is_state ? "s" : "y", r->operand);
    add_terms(w, r->stride, r->row_stride);
    text_add(t, ", "), name_value(w, r->value), add_bounds(w), text_add(t, ");\n");
}

static void store_along(const ScanText *w, int pass, int depth) {
    const Scan *s = w->s;
    for (int i = 0; i < s->n_results; i++)
        if (scan_stores_along(s, &s->results[i]) && s->results[i].pass == pass)
            indent(w, depth), store_result(w, &s->results[i]);
}

static void write_pass(ScanText *w, int pass) {
    const Scan *s = w->s;
    const bool *needed = needed_in(w, pass);
    int depth = 4;
    begin_reductions(w, pass);
    indent(w, 3), text_add(w->t, "for (int i%d = 0; i%d < %lld; i%d++) {\n", s->reduced, s->reduced,
                           (long long)s->extent[s->reduced], s->reduced);
    w->along = true;
    write_steps(w, needed, false, depth);
    write_sums(w, pass, false, depth);
    if (s->vectors > 1) open_vectors(w, depth++), text_add(w->t, "{\n");
    write_steps(w, needed, true, depth);
    write_sums(w, pass, true, depth);
    store_along(w, pass, depth);
    while (depth > 3) indent(w, --depth), text_add(w->t, "}\n");
    w->along = false;
    end_means(w, pass);
}

// -------------------------------------------------------------------------------------------- rows
// int unit = 5 to i0 = 1, j = 16
static void write_unit(const ScanText *w) {
    const Scan *s = w->s;
    int64_t width = LANE_COUNT * s->vectors, groups = (s->extent[s->lane] + width - 1) / width,
            inner = groups;
    indent(w, 2), text_add(w->t, "const int j = ");
    if (groups == 1)
        text_add(w->t, "0");
    else
        text_add(w->t, s->units == groups ? "unit * %lld" : "unit %% %lld * %lld",
                 (long long)(s->units == groups ? width : groups), (long long)width);
    for (int i = s->n_axes - 1; i >= 0; i--) {
        if (i == s->lane || i == s->reduced) continue;
        text_add(w->t, inner > 1 ? ", i%d = unit / %lld" : ", i%d = unit", i, (long long)inner);
        inner *= s->extent[i];
        if (inner < s->units) text_add(w->t, " %% %lld", (long long)s->extent[i]);
    }
    text_add(w->t, ";\n");
}

// float *s0 = a row's state: zeros before the first position
static void write_state(const ScanText *w, const ScanResult *r) {
    const Scan *s = w->s;
    indent(w, 3),
        text_add(w->t, "float *s%d = (float *)(void *)((char *)a%d + (size_t)slot[r] * %llu);\n",
                 r->operand, r->operand, (unsigned long long)w->p->plan.slot_bytes);
    indent(w, 3), text_add(w->t, "if (position[r] < 1)");
    text_add(w->t, scan_stores_along(s, r) ? " {\n" : "\n");
    ScanText along = *w;
    along.along = scan_stores_along(s, r);
    int depth = 4;
    if (along.along)
        indent(w, 4),
            text_add(w->t, "for (int i%d = 0; i%d < %lld; i%d++)\n", s->reduced, s->reduced,
                     (long long)s->extent[s->reduced], s->reduced),
            depth++;
    if (s->vectors > 1)
        open_vectors(w, depth);
    else
        indent(w, depth);
    text_add(w->t, "vf_store%s(s%d", is_whole(s) ? "" : "_n", r->operand);
    add_terms(&along, r->stride, 0);
    text_add(w->t, ", vf_zero()"), add_bounds(w), text_add(w->t, ");\n");
    if (along.along) indent(w, 3), text_add(w->t, "}\n");
}

static void write_row(ScanText *w) {
    const Scan *s = w->s;
    for (int i = 0; i < s->n_results; i++)
        if (s->results[i].is_state) write_state(w, &s->results[i]);
    for (int pass = 0; pass <= s->n_passes; pass++) {
        write_row_values(w, pass);
        if (pass < s->n_passes) write_pass(w, pass);
    }
    for (int i = 0; i < s->n_results; i++) {
        if (scan_stores_along(s, &s->results[i])) continue;
        if (s->vectors > 1)
            open_vectors(w, 3);
        else
            indent(w, 3);
        store_result(w, &s->results[i]);
    }
}

void write_scan(Text *t, const Program *p, const Kernel *k) {
    ScanText w = {.t = t, .p = p, .k = k, .s = k->scan};
    text_add(t, "    for (int unit = range.first; unit < range.last; unit++) {\n");
    write_unit(&w);
    text_add(t, "        for (int r = 0; r < rows; r++) {\n");
    write_row(&w);
    text_add(t, "        }\n    }\n");
}

static bool is_state_operand(const Kernel *k, int i) { return k->in[i].base == BASE_STATE; }

void scan_parameters(Parameters *ps) {
    const Kernel *k = ps->kernel;
    Arena *arena = ps->program->arena;
    take_range(ps, "range");
    take(ps, "int ", "rows", "rows");
    take_operand(ps, "slot", &k->in[k->scan->slot]);
    take_operand(ps, "position", &k->in[k->scan->position]);
    for (int i = 0; i < k->n_in; i++) {
        const char *name = arena_printf(arena, "a%d", i);
        if (is_state_operand(k, i))
            take_view(ps, "void *", name, &k->in[i]);
        else
            take_operand(ps, name, &k->in[i]);
    }
    for (int i = 0; i < k->n_out; i++)
        if (k->out[i].base != BASE_STATE)
            take_result(ps, arena_printf(arena, "y%d", i), &k->out[i]);
}
