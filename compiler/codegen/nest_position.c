// Nests whose elements are found by computed positions: gather and scatter, by element and by
// position. They only move elements, of any type; scatter may also combine them.
#include <stdio.h>
#include <string.h>

#include "codegen/nest.h"

static const char *const update_axes[MAX_RANK] = {"u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7"};
static const char *const position_axes[MAX_RANK] = {"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"};

// An element of operand i at an index, or a number in the text.
static void write_element(Text *t, const Program *p, const Kernel *k, int i, NestIndex at) {
    const View *v = &k->in[i];
    char base[16];
    snprintf(base, sizeof base, "a%d", i);
    if (v->base == BASE_SCALAR) {
        text_add(t, "(%s)", c_type(v->type.dtype));
        c_number(t, v->type.dtype, v->scalar);
    } else
        nest_element(t, p, v, base, at);
}

// int NAME = burin_index(<element of the index>, extent); an axis of one element needs none
static void write_position(Text *t, const Program *p, const Kernel *k, const char *name,
                           NestIndex which, int axis, int depth) {
    const Dim *extent = k->in[0].type.dim[axis];
    if (dim_is(extent, 1)) return;
    nest_indent(t, depth), text_add(t, "int %s = burin_index((int)", name),
        write_element(t, p, k, 1, which);
    text_add(t, ", "), c_dim(t, p, extent), text_add(t, ");\n");
}

// y[i..] = x[i.. with index[i..] on axis]
void write_gather_elements(Text *t, const Program *p, const Kernel *k) {
    const Type *type = &k->out[0].type;
    int axis = kernel_axis(k);
    NestIndex at = nest_index(type, type->rank), from = at;
    from.index[axis] = "chosen";
    int depth = nest_open(t, p, k, type->rank);
    write_position(t, p, k, "chosen", at, axis, depth);
    nest_indent(t, depth);
    nest_element(t, p, &k->out[0], "y", at);
    text_add(t, " = ");
    nest_unless_empty(t, p, k->in[0].type.dim[axis]);
    write_element(t, p, k, 0, from);
    text_add(t, ";\n");
    nest_close(t, depth);
}

// Declares p0.. : the positions that the last axis of the index lists, for the axes of `x` from
// `batch` on.
static int write_positions(Text *t, const Program *p, const Kernel *k, NestIndex which, int batch,
                           int depth) {
    const Type *index = &k->in[1].type;
    int64_t count;
    dim_is_const(index->dim[index->rank - 1], &count);
    for (int i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        which.index[index->rank - 1] = number;
        write_position(t, p, k, position_axes[i], which, batch + i, depth);
    }
    return (int)count;
}

// y[i.., j..] = x[batch of i, positions of i, j..]
void write_gather_nd(Text *t, const Program *p, const Kernel *k) {
    const Type *type = &k->out[0].type, *index = &k->in[1].type, *x = &k->in[0].type;
    int batch = (int)kernel_int(k, "batch_dims", 0), outer = index->rank - 1;
    NestIndex at = nest_index(type, type->rank), which = nest_index(index, index->rank),
              from = nest_index(x, x->rank);
    int depth = nest_open(t, p, k, type->rank),
        count = write_positions(t, p, k, which, batch, depth);
    for (int i = 0; i < x->rank; i++)
        from.index[i] = i < batch           ? at.index[i]
                        : i < batch + count ? position_axes[i - batch]
                                            : at.index[outer + i - batch - count];
    nest_indent(t, depth);
    nest_element(t, p, &k->out[0], "y", at);
    text_add(t, " = ");
    for (int i = batch; i < batch + count; i++) nest_unless_empty(t, p, x->dim[i]);
    write_element(t, p, k, 0, from);
    text_add(t, ";\n");
    nest_close(t, depth);
}

// ----------------------------------------------------------------------------------------- scatter
static void close_to(Text *t, int depth, int outer) {
    while (depth > outer) {
        nest_indent(t, --depth);
        text_add(t, "}\n");
    }
}

// Copies x to y where the thread's units are.
static void copy_units(Text *t, const Program *p, const Kernel *k, int depth) {
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank);
    int inside = depth;
    for (int i = nest_parted(p, k); i < type->rank; i++)
        inside = nest_loop(t, p, at.index[i], type->dim[i], inside);
    nest_indent(t, inside);
    nest_element(t, p, &k->out[0], "y", at);
    text_add(t, " = ");
    write_element(t, p, k, 0, at);
    text_add(t, ";\n");
    close_to(t, inside, depth);
}

// Opens the loops over the updates that belong to the thread's units: on the axes of the units an
// update has the index of its unit, and there may be fewer updates than units.
static int open_updates(Text *t, const Program *p, const Kernel *k, const Type *walked,
                        NestIndex *axes, int depth) {
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank);
    for (int i = 0; i < walked->rank; i++) {
        bool is_of_unit = i < nest_parted(p, k);
        if (!is_of_unit) {
            depth = nest_loop(t, p, axes->index[i], walked->dim[i], depth);
            continue;
        }
        if (strcmp(axes->index[i], "0")) axes->index[i] = at.index[i];
        if (walked->dim[i] == type->dim[i]) continue;
        nest_indent(t, depth++), text_add(t, "if (%s < ", at.index[i]), c_dim(t, p, walked->dim[i]),
            text_add(t, ") {\n");
    }
    return depth;
}

// An axis that may have no elements takes no update.
static int open_if_any(Text *t, const Program *p, const Dim *extent, int depth) {
    if (dim_lower(extent) > 0) return depth;
    nest_indent(t, depth), text_add(t, "if ("), c_dim(t, p, extent), text_add(t, " > 0) {\n");
    return depth + 1;
}

// *target = the update, or the combination of the two
static void write_update(Text *t, const Program *p, const Kernel *k, NestIndex to, NestIndex from,
                         int depth) {
    const char *reduction = kernel_string(k, "reduction", "none");
    const char *c = c_type(k->out[0].type.dtype);
    nest_indent(t, depth);
    text_add(t, "%s *target = ", c);
    nest_address(t, p, &k->out[0], "y", to);
    text_add(t, ", update = ");
    write_element(t, p, k, 2, from);
    text_add(t, ";\n");
    bool real = dtype_is_float(k->out[0].type.dtype);
    nest_indent(t, depth);
    if (!strcmp(reduction, "none"))
        text_add(t, "*target = update;\n");
    else if (!strcmp(reduction, "max") || !strcmp(reduction, "min"))
        text_add(t, "*target = update %c *target ? update : *target;\n",
                 strcmp(reduction, "max") ? '<' : '>');
    else if (real)
        text_add(t, "*target = *target %c update;\n", strcmp(reduction, "add") ? '*' : '+');
    else
        text_add(t, "*target = (%s)sl_%s((int64_t)*target, (int64_t)update);\n", c, reduction);
}

static void check_combined(const Kernel *k) {
    DType t = k->out[0].type.dtype;
    bool narrow = dtype_is_float(t) && t != DT_f32 && t != DT_f64;
    if (dtype_bits(t) < 8 || (narrow && strcmp(kernel_string(k, "reduction", "none"), "none")))
        diag_fatal(k->loc, "%s: no code is generated for elements of type %s", op_info[k->op].name,
                   dtype_name(t));
}

// A unit's updates in their order: of several writes to one element the last wins. By element,
// units are positions on the axes before the scattered one and share no updates; by position, there
// is one unit.
void write_scatter(Text *t, const Program *p, const Kernel *k) {
    const Type *index = &k->in[1].type, *updates = &k->in[2].type, *type = &k->out[0].type;
    bool by_element = k->op == OP_scatter_elements;
    const Type *walked = by_element ? index : updates;
    NestIndex to = nest_index(type, type->rank), axes = nest_index_by(walked, update_axes);
    check_combined(k);
    int depth = nest_open(t, p, k, 0);
    copy_units(t, p, k, depth);
    int inside = open_updates(t, p, k, walked, &axes, depth);
    NestIndex from = axes, which = axes;
    from.rank = from.end = updates->rank;
    which.rank = which.end = index->rank;
    if (by_element) {
        int axis = kernel_axis(k);
        inside = open_if_any(t, p, type->dim[axis], inside);
        write_position(t, p, k, "chosen", which, axis, inside);
        for (int i = 0; i < type->rank; i++) to.index[i] = i == axis ? "chosen" : axes.index[i];
    } else {
        int count = (int)dim_upper(index->dim[index->rank - 1]);
        for (int i = 0; i < count; i++) inside = open_if_any(t, p, type->dim[i], inside);
        write_positions(t, p, k, which, 0, inside);
        for (int i = 0; i < type->rank; i++)
            to.index[i] = i < count ? position_axes[i] : axes.index[index->rank - 1 + i - count];
    }
    write_update(t, p, k, to, from, inside);
    close_to(t, inside, 1);
}
