// Nests along one axis whose order matters: indices of extremes, the first k, running sums and
// products.
#include <stdio.h>
#include <string.h>

#include "codegen/nest.h"

static void check_type(const Kernel *k) {
    DType t = k->in[0].type.dtype;
    if (dtype_bits(t) < 8 || (dtype_is_float(t) && t != DT_f32 && t != DT_f64))
        diag_fatal(k->loc, "%s: no code is generated for elements of type %s", op_info[k->op].name,
                   dtype_name(t));
}

// The element of x with `name` on the axis.
static void write_element(Text *t, const Program *p, const Kernel *k, NestIndex at, int axis,
                          const char *name) {
    at.index[axis] = name;
    if (k->in[0].base == BASE_SCALAR) {
        text_add(t, "(%s)", c_type(k->in[0].type.dtype));
        c_number(t, k->in[0].type.dtype, k->in[0].scalar);
    } else
        nest_element(t, p, &k->in[0], "a0", at);
}

// Returns true if element `a` of the axis comes before element `b`.
static void write_before(Text *t, const Program *p, const Kernel *k, NestIndex at, const char *a,
                         const char *b) {
    int axis = kernel_axis(k);
    bool largest = k->op == OP_top_k ? kernel_int(k, "largest", 1) : k->op == OP_arg_max;
    text_add(t, "burin_before_%s(", dtype_is_float(k->in[0].type.dtype) ? "real" : "integer");
    write_element(t, p, k, at, axis, a);
    text_add(t, ", ");
    write_element(t, p, k, at, axis, b);
    text_add(t, ", %s)", largest ? "true" : "false");
}

void write_arg_reduce(Text *t, const Program *p, const Kernel *k) {
    const Type *x = &k->in[0].type, *type = &k->out[0].type;
    int axis = kernel_axis(k);
    bool keep = kernel_int(k, "keepdims", 1);
    NestIndex at = nest_index(type, type->rank), from = nest_index(x, x->rank);
    check_type(k);
    for (int i = 0; i < x->rank; i++)
        if (i != axis) from.index[i] = at.index[keep || i < axis ? i : i - 1];
    int depth = nest_open(t, p, k, type->rank);
    nest_indent(t, depth);
    text_add(t, "int best = 0;\n");
    nest_indent(t, depth), text_add(t, "for (int r = 1; r < "), c_dim(t, p, x->dim[axis]),
        text_add(t, "; r++)\n");
    nest_indent(t, depth + 1), text_add(t, "if ("), write_before(t, p, k, from, "r", "best");
    if (kernel_int(k, "select_last_index", 0)) {
        text_add(t, " || !");
        write_before(t, p, k, from, "best", "r");
    }
    text_add(t, ") best = r;\n");
    nest_indent(t, depth);
    nest_element(t, p, &k->out[0], "y", at);
    text_add(t, " = best;\n");
    nest_close(t, depth);
}

// Loops over the axes but one; threads share those before it.
static int open_around(Text *t, const Program *p, const Kernel *k, int axis) {
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank);
    int depth = nest_open(t, p, k, axis);
    for (int i = axis + 1; i < type->rank; i++)
        depth = nest_loop(t, p, at.index[i], type->dim[i], depth);
    return depth;
}

void write_cumulate(Text *t, const Program *p, const Kernel *k) {
    const Type *type = &k->out[0].type;
    int axis = kernel_axis(k);
    bool product = k->op == OP_cum_prod, exclusive = kernel_int(k, "exclusive", 0),
         real = dtype_is_float(type->dtype);
    NestIndex at = nest_index(type, type->rank);
    const char *c = real ? c_type(type->dtype) : "int64_t", *f = product ? "mul" : "add",
               *r = at.index[axis];
    bool one = dim_is(type->dim[axis], 1), reverse = !one && kernel_int(k, "reverse", 0);
    check_type(k);
    int depth = open_around(t, p, k, axis), inside;
    nest_indent(t, depth);
    text_add(t, "%s total = %d;\n", c, product);
    inside = nest_loop(t, p, reverse ? "e" : r, type->dim[axis], depth);
    if (reverse) {
        nest_indent(t, inside);
        text_add(t, "int %s = ", r);
        c_dim(t, p, type->dim[axis]);
        text_add(t, " - 1 - e;\n");
    }
    nest_indent(t, inside), text_add(t, "%s next = %s_%s(total, ", c,
                                     !real                   ? "sl"
                                     : type->dtype == DT_f64 ? "sd"
                                                             : "sf",
                                     f);
    write_element(t, p, k, at, axis, r), text_add(t, ");\n");
    nest_indent(t, inside);
    nest_element(t, p, &k->out[0], "y", at);
    text_add(t, " = (%s)%s;\n", c_type(type->dtype), exclusive ? "total" : "next");
    nest_indent(t, inside);
    text_add(t, "total = next;\n");
    nest_close(t, inside);
}

// The indices are kept in order in the second result, by insertion: equal elements stay in the
// order of their indices.
void write_top_k(Text *t, const Program *p, const Kernel *k) {
    const Type *x = &k->in[0].type, *type = &k->out[0].type;
    int axis = kernel_axis(k);
    NestIndex at = nest_index(type, type->rank), from = nest_index(x, x->rank), start = at;
    start.index[axis] = "0";
    check_type(k);
    int depth = open_around(t, p, k, axis);
    nest_indent(t, depth);
    text_add(t, "int n = 0, most = ");
    c_dim(t, p, type->dim[axis]);
    text_add(t, ";\n");
    nest_indent(t, depth);
    text_add(t, "ptrdiff_t step = ");
    c_dim(t, p, k->out[1].stride[axis]);
    text_add(t, ";\n");
    nest_indent(t, depth);
    text_add(t, "int64_t *chosen = ");
    nest_address(t, p, &k->out[1], "y1", start);
    text_add(t, ";\n");
    nest_indent(t, depth), text_add(t, "for (int r = 0; r < "), c_dim(t, p, x->dim[axis]),
        text_add(t, "; r++) {\n");
    nest_indent(t, depth + 1);
    text_add(t, "int place = n;\n");
    nest_indent(t, depth + 1), text_add(t, "while (place > 0 && "),
        write_before(t, p, k, from, "r", "(int)chosen[(place - 1) * step]");
    text_add(t, ") place--;\n");
    nest_indent(t, depth + 1);
    text_add(t, "if (place == most) continue;\n");
    nest_indent(t, depth + 1);
    text_add(t, "if (n < most) n++;\n");
    nest_indent(t, depth + 1);
    text_add(t, "for (int m = n - 1; m > place; m--) chosen[m * step] = chosen[(m - 1) * step];\n");
    nest_indent(t, depth + 1);
    text_add(t, "chosen[place * step] = r;\n");
    nest_indent(t, depth);
    text_add(t, "}\n");
    at.index[axis] = "m";
    nest_indent(t, depth);
    text_add(t, "for (int m = 0; m < most; m++) ");
    nest_element(t, p, &k->out[0], "y", at);
    text_add(t, " = ");
    write_element(t, p, k, from, axis, "(int)chosen[m * step]");
    text_add(t, ";\n");
    nest_close(t, depth);
}
