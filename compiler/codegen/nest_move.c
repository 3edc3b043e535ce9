// Nests that only move elements, of any type: copies of views, gather, concat.
#include <string.h>

#include "codegen/nest.h"

// One scalar operand: a number in the text, or its only element.
static void write_scalar_operand(Text *t, const Program *p, const Kernel *k, int i,
                                 const char *base) {
    const View *v = &k->in[i];
    if (v->base == BASE_SCALAR) {
        text_add(t, "(%s)", c_type(v->type.dtype));
        c_number(t, v->type.dtype, v->scalar);
    } else
        nest_element(t, p, v, base, nest_index(&v->type, 0));
}

// y[...][i] = a0[...][i], whatever the strides
void write_copy(Text *t, const Program *p, const Kernel *k) {
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank);
    if (dtype_bits(type->dtype) < 8) {
        write_plain(t, p, k, expr_arg(p->arena, 0));
        return;
    }
    int depth = nest_open(t, p, k, type->rank);
    nest_indent(t, depth);
    nest_element(t, p, &k->out[0], "y", at);
    text_add(t, " = ");
    if (k->in[0].base == BASE_SCALAR)
        write_scalar_operand(t, p, k, 0, "a0");
    else
        nest_element(t, p, &k->in[0], "a0", at);
    text_add(t, ";\n");
    nest_close(t, depth);
}

// The same bits as another type
void write_bit_cast(Text *t, const Program *p, const Kernel *k) {
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank);
    int depth = nest_open(t, p, k, type->rank);
    nest_indent(t, depth), text_add(t, "memcpy("), nest_address(t, p, &k->out[0], "y", at);
    text_add(t, ", "), nest_address(t, p, &k->in[0], "a0", at), text_add(t, ", sizeof *y);\n");
    nest_close(t, depth);
}

// y[before...][index...][after...] = data[before...][index value][after...]
void write_gather(Text *t, const Program *p, const Kernel *k) {
    const View *data = &k->in[0], *index = &k->in[1];
    const Type *type = &k->out[0].type;
    int axis = kernel_axis(k), many = index->type.rank;
    NestIndex at = nest_index(type, type->rank), from = nest_index(&data->type, data->type.rank),
              which = nest_index(&index->type, many);
    for (int i = 0; i < many; i++) which.index[i] = at.index[axis + i];
    for (int i = 0; i < data->type.rank; i++)
        from.index[i] = i < axis ? at.index[i] : i == axis ? "chosen" : at.index[i + many - 1];
    int depth = nest_open(t, p, k, axis + many), inside = depth, parted = nest_parted(p, k);
    if (!dim_is(data->type.dim[axis], 1)) {
        nest_indent(t, depth), text_add(t, "int chosen = burin_index((int)"),
            nest_element(t, p, index, "a1", which);
        text_add(t, ", "), c_dim(t, p, data->type.dim[axis]), text_add(t, ");\n");
    }
    for (int i = parted > axis + many ? parted : axis + many; i < type->rank; i++)
        inside = nest_loop(t, p, at.index[i], type->dim[i], inside);
    nest_indent(t, inside);
    nest_element(t, p, &k->out[0], "y", at);
    text_add(t, " = ");
    nest_unless_empty(t, p, data->type.dim[axis]);
    nest_element(t, p, data, "a0", from);
    text_add(t, ";\n");
    nest_close(t, inside);
}

// A padded axis: the position of index i in x, and whether it exists.
static void pad_axis(Text *t, const Program *p, const Kernel *k, int axis, int depth) {
    int n;
    const Dim *low = kernel_dims(k, "low", &n)[axis];
    const int64_t *interior = kernel_ints(k, "interior", &n);
    int step = interior ? (int)interior[axis] + 1 : 1;
    NestIndex at = nest_index(&k->out[0].type, k->out[0].type.rank);
    nest_indent(t, depth);
    text_add(t, "int x%d = %s - ", axis, at.index[axis]);
    c_dim(t, p, low);
    text_add(t, ", in%d = x%d >= 0", axis, axis);
    if (step > 1) text_add(t, " && x%d %% %d == 0 && x%d / %d < ", axis, step, axis, step);
    if (step == 1) text_add(t, " && x%d < ", axis);
    c_dim(t, p, k->in[0].type.dim[axis]);
    text_add(t, ";\n");
    if (step > 1) {
        nest_indent(t, depth);
        text_add(t, "x%d /= %d;\n", axis, step);
    }
}

// Returns true if the axis is unchanged: no padding before, between or after its elements.
static bool is_padded(const Kernel *k, int axis) {
    int n;
    const int64_t *interior = kernel_ints(k, "interior", &n);
    return k->in[0].type.dim[axis] != k->out[0].type.dim[axis] ||
           !dim_is(kernel_dims(k, "low", &n)[axis], 0) || (interior && interior[axis]);
}

// y[i..] = x[(i - low) / (interior + 1)..] where there is one, else the value
void write_pad(Text *t, const Program *p, const Kernel *k) {
    static const char *const inner[MAX_RANK] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank), from = at;
    const char *separator = "";
    int depth = nest_open(t, p, k, type->rank);
    for (int i = 0; i < type->rank; i++)
        if (is_padded(k, i)) {
            pad_axis(t, p, k, i, depth);
            from.index[i] = inner[i];
        }
    nest_indent(t, depth);
    nest_element(t, p, &k->out[0], "y", at);
    text_add(t, " = ");
    for (int i = 0; i < type->rank; i++)
        if (is_padded(k, i)) {
            text_add(t, "%sin%d", separator, i);
            separator = " && ";
        }
    if (*separator) text_add(t, " ? ");
    nest_element(t, p, &k->in[0], "a0", from);
    if (*separator) {
        text_add(t, " : ");
        write_scalar_operand(t, p, k, 1, "a1");
    }
    text_add(t, ";\n");
    nest_close(t, depth);
}

// "(i1 + 5)": an index of a concatenation, of the operand that begins at `start`
static const char *shifted_index(const Program *p, const char *index, const Dim *start) {
    Text t = {0};
    if (dim_is(start, 0)) return index;
    text_add(&t, "("), c_dim(&t, p, start);
    if (strcmp(index, "0")) text_add(&t, " + %s", index);
    text_add(&t, ")");
    const char *kept = arena_strdup(p->arena, t.data);
    text_free(&t);
    return kept;
}

// Concatenates the operands along the axis; threads divide the axes before it.
void write_concat(Text *t, const Program *p, const Kernel *k) {
    const Type *type = &k->out[0].type;
    int axis = kernel_axis(k), depth = nest_open(t, p, k, axis);
    const Dim *start = dim_const(p->graph, 0);
    for (int i = 0; i < k->n_in; i++) {
        NestIndex from = nest_index(&k->in[i].type, type->rank), to = from;
        const char *base = arena_printf(p->arena, "a%d", i);
        to.index[axis] = shifted_index(p, from.index[axis], start);
        int inside = depth;
        for (int j = axis; j < type->rank; j++)
            inside = nest_loop(t, p, from.index[j], k->in[i].type.dim[j], inside);
        nest_indent(t, inside);
        nest_element(t, p, &k->out[0], "y", to);
        text_add(t, " = ");
        if (k->in[i].base == BASE_SCALAR)
            write_scalar_operand(t, p, k, i, base);
        else
            nest_element(t, p, &k->in[i], base, from);
        text_add(t, ";\n");
        while (inside > depth) {
            nest_indent(t, --inside);
            text_add(t, "}\n");
        }
        start = dim_binary(p->graph, DIM_ADD, start, k->in[i].type.dim[axis]);
    }
    nest_close(t, depth);
}
