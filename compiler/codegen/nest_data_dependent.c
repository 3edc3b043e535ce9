// Kernels that also return their number of results: positions of nonzero elements, unique slices,
// selected boxes.

#include "codegen/nest.h"

// The most results that there is memory for: --max may promise fewer than the operand could give.
static long long room_of(const Kernel *k) { return (long long)dim_upper(k->defines); }

// y[found][rank] in the order of the elements, y1: how many, of which there may be no room for all
void write_nonzero(Text *t, const Program *p, const Kernel *k) {
    const Type *x = &k->in[0].type;
    NestIndex at = nest_index(x, x->rank);
    nest_plain_check(k, x->dtype);
    text_add(t, "    int64_t found = 0;\n");
    int depth = 1;
    for (int i = 0; i < x->rank; i++) depth = nest_loop(t, p, at.index[i], x->dim[i], depth);
    nest_indent(t, depth), text_add(t, "if ("), nest_plain_load(t, p, &k->in[0], 0, at),
        text_add(t, ") {\n");
    bool is_promised = room_of(k) < dim_upper(type_count(p->graph, x));
    for (int i = 0; i < x->rank; i++) {
        nest_indent(t, depth + 1);
        if (is_promised) text_add(t, "if (found < %lld) ", room_of(k));
        text_add(t, "y[found * %d + %d] = %s;\n", x->rank, i, at.index[i]);
    }
    nest_indent(t, depth + 1), text_add(t, "found++;\n");
    nest_close(t, depth + 1);
    text_add(t, "    *y1 = found;\n");
}

// A helper compares two slices.
void write_slice_order(Text *t, const Program *p, const Kernel *k) {
    (void)p;
    if (k->op != OP_unique || k->copies) return;
    const Type *x = &k->in[0].type;
    const char *c = c_type(x->dtype);
    long long each = x->rank == 2 ? (long long)dim_upper(x->dim[1]) : 1;
    text_add(t, "static int $(const void *values, int64_t i, int64_t j) {\n");
    text_add(
        t, "    const %s *a = (const %s *)values + i * %lld, *b = (const %s *)values + j * %lld;\n",
        c, c, each, c, each);
    if (each > 1) text_add(t, "    for (int e = 0; e < %lld; e++)\n    ", each);
    const char *e = each > 1 ? "e" : "0";
    text_add(t, "    if (a[%s] != b[%s]) return a[%s] < b[%s] ? -1 : 1;\n", e, e, e, e);
    text_add(t, "    return 0;\n}\n\n");
}

void write_unique(Text *t, const Program *p, const Kernel *k) {
    const Type *x = &k->in[0].type;
    const Dim *size = x->rank == 2 ? x->dim[1] : dim_const(p->graph, 1);
    int64_t each;
    bool plain = dtype_bits(x->dtype) >= 8 &&
                 (!dtype_is_float(x->dtype) || x->dtype == DT_f32 || x->dtype == DT_f64);
    if (!plain || kernel_int(k, "axis", 0) || x->rank > 2 || !dim_is_const(size, &each))
        diag_fatal(k->loc, "unique: no code is generated for %s", type_text(x));
    text_add(t, "    *y3 = burin_unique(&(burin_unique_slices){a0, "), c_dim(t, p, x->dim[0]);
    text_add(t, ", $, %lld}, %s, y, y1, y2);\n", room_of(k),
             kernel_int(k, "sorted", 1) ? "true" : "false");
}

static void write_limit(Text *t, const Program *p, const Kernel *k, int i, const char *absent) {
    if (k->n_in > i && k->in[i].base != BASE_NONE)
        nest_plain_load(t, p, &k->in[i], i, nest_index(&(Type){.rank = 0}, 0));
    else
        text_add(t, "%s", absent);
}

void write_suppression(Text *t, const Program *p, const Kernel *k) {
    const Type *scores = &k->in[1].type;
    if (scores->dtype != DT_f32)
        diag_fatal(k->loc, "no code is generated for scores %s", type_text(scores));
    text_add(t, "    burin_suppression how = {.boxes = "), c_dim(t, p, scores->dim[2]);
    text_add(t,
             ", .centre = %s, .most = ", kernel_int(k, "center_point_box", 0) ? "true" : "false");
    write_limit(t, p, k, 2, "0"), text_add(t, ", .iou = "), write_limit(t, p, k, 3, "0"),
        text_add(t, ", .score = ");
    write_limit(t, p, k, 4, "-INFINITY"),
        text_add(t, ", .room = %lld};\n    int64_t found = 0;\n", room_of(k));
    static const char *const names[MAX_RANK] = {"b", "c", "box"};
    NestIndex at = nest_index_by(scores, names);
    int depth = nest_loop(t, p, at.index[1], scores->dim[1],
                          nest_loop(t, p, at.index[0], scores->dim[0], 1));
    nest_indent(t, depth);
    text_add(t, "found = burin_suppress(&how, a0, a1, (int64_t[]){%s, %s, ", at.index[0],
             at.index[1]);
    c_dim(t, p, scores->dim[1]), text_add(t, "}, y, found);\n");
    nest_close(t, depth);
    text_add(t, "    *y1 = found;\n");
}
