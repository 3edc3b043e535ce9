// Kernels that also leave how many results there are: positions of what is not zero, different slices, boxes that are kept.

#include "codegen/nest.h"

static void indent(Text *t, int depth) { text_add(t, "%*s", 4 * depth, ""); }

// y[found][rank] in the order of the elements, y1: how many
void write_nonzero(Text *t, const Program *p, const Kernel *k, const char *name) {
    const Type *x = &k->in[0].type;
    NestIndex at = nest_index(x, x->rank);
    nest_plain_check(k, x->dtype);
    nest_open_function(t, k, name);
    text_add(t, "    if (part.first >= part.last) return;\n    int64_t found = 0;\n");
    for (int i = 0; i < x->rank; i++) {
        indent(t, i + 1), text_add(t, "for (int %s = 0; %s < ", at.index[i], at.index[i]), c_dim(t, p, x->dim[i]);
        text_add(t, "; %s++) {\n", at.index[i]);
    }
    indent(t, x->rank + 1), text_add(t, "if ("), nest_plain_load(t, p, &k->in[0], 0, at), text_add(t, ") {\n");
    for (int i = 0; i < x->rank; i++)
        indent(t, x->rank + 2), text_add(t, "y[found * %d + %d] = %s;\n", x->rank, i, at.index[i]);
    indent(t, x->rank + 2), text_add(t, "found++;\n");
    for (int i = x->rank + 1; i > 0; i--) indent(t, i), text_add(t, "}\n");
    text_add(t, "    *y1 = found;\n}\n");
}

// A function beside it says which of two slices comes first.
void write_unique(Text *t, const Program *p, const Kernel *k, const char *name) {
    const Type *x = &k->in[0].type;
    const Dim *size = x->rank == 2 ? x->dim[1] : dim_const(p->graph, 1);
    const char *c = c_type(x->dtype);
    int64_t each;
    bool plain = dtype_bits(x->dtype) >= 8 && (!dtype_is_float(x->dtype) || x->dtype == DT_f32 || x->dtype == DT_f64);
    if (!plain || attr_int(k->node, "axis", 0) || x->rank > 2 || !dim_is_const(size, &each))
        diag_fatal(k->node->loc, "unique: no code is generated for %s", type_text(x));
    text_add(t, "static int %s_order(const void *values, int64_t i, int64_t j) {\n", name);
    text_add(t, "    const %s *a = (const %s *)values + i * %lld, *b = (const %s *)values + j * %lld;\n", c, c, (long long)each,
             c, (long long)each);
    text_add(t,
             "    for (int e = 0; e < %lld; e++)\n        if (a[e] != b[e]) return a[e] < b[e] ? -1 : 1;\n    return 0;\n}\n",
             (long long)each);
    nest_open_function(t, k, name);
    text_add(t, "    if (part.first >= part.last) return;\n    *y3 = burin_unique(&(burin_slices){a0, "),
        c_dim(t, p, x->dim[0]);
    text_add(t, ", %s_order}, %s, y, y1, y2);\n}\n", name, attr_int(k->node, "sorted", 1) ? "true" : "false");
}

static void write_limit(Text *t, const Program *p, const Kernel *k, int i, const char *absent) {
    if (k->n_in > i && k->node->in[i])
        nest_plain_load(t, p, &k->in[i], i, nest_index(&(Type){.rank = 0}, 0));
    else
        text_add(t, "%s", absent);
}

void write_suppression(Text *t, const Program *p, const Kernel *k, const char *name) {
    const Type *scores = &k->in[1].type;
    if (scores->dtype != DT_f32) diag_fatal(k->node->loc, "no code is generated for scores %s", type_text(scores));
    nest_open_function(t, k, name);
    text_add(t, "    if (part.first >= part.last) return;\n    burin_suppression how = {.boxes = "),
        c_dim(t, p, scores->dim[2]);
    text_add(t, ", .centre = %s, .most = ", attr_int(k->node, "center_point_box", 0) ? "true" : "false");
    write_limit(t, p, k, 2, "0"), text_add(t, ", .iou = "), write_limit(t, p, k, 3, "0"), text_add(t, ", .score = ");
    write_limit(t, p, k, 4, "-INFINITY"), text_add(t, "};\n    int64_t found = 0;\n    for (int b = 0; b < ");
    c_dim(t, p, scores->dim[0]), text_add(t, "; b++)\n        for (int c = 0; c < "), c_dim(t, p, scores->dim[1]);
    text_add(t, "; c++) found = burin_suppress(&how, a0, a1, (int64_t[]){b, c, "), c_dim(t, p, scores->dim[1]);
    text_add(t, "}, y, found);\n    *y1 = found;\n}\n");
}
