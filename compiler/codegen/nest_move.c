// Nests that only move elements, of any type: copies of views, gather, concat.

#include "codegen/nest.h"

static void indent(Text *t, int depth) { text_add(t, "%*s", 4 * depth, ""); }

static void open_axis(Text *t, const Program *p, const char *index, const Dim *extent, int depth) {
    indent(t, depth), text_add(t, "for (int %s = 0; %s < ", index, index), c_dim(t, p, extent), text_add(t, "; %s++)\n", index);
}

// One scalar operand: a number in the text, or its only element.
static void write_scalar_operand(Text *t, const Program *p, const Kernel *k, int i, const char *base) {
    const View *v = &k->in[i];
    if (v->base == BASE_SCALAR)
        text_add(t, "(%s)", c_type(v->type.dtype)), c_number(t, v->type.dtype, v->scalar);
    else
        text_add(t, "*("), nest_address(t, p, v, base, nest_index(&v->type, 0)), text_add(t, ")");
}

// y[...][i] = a0[...][i], whatever the strides
void write_copy(Text *t, const Program *p, const Kernel *k, const char *name) {
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank);
    if (dtype_bits(type->dtype) < 8) {
        write_plain(t, p, k, name, expr_arg(p->arena, 0));
        return;
    }
    nest_open_function(t, k, name);
    int depth = nest_open(t, p, k, type->rank);
    indent(t, depth), text_add(t, "*("), nest_address(t, p, &k->out[0], "y", at);
    text_add(t, ") = ");
    if (k->in[0].base == BASE_SCALAR)
        write_scalar_operand(t, p, k, 0, "a0");
    else
        text_add(t, "*("), nest_address(t, p, &k->in[0], "a0", at), text_add(t, ")");
    text_add(t, ";\n");
    nest_close(t, depth);
}

// The same bits as another type
void write_bit_cast(Text *t, const Program *p, const Kernel *k, const char *name) {
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank);
    nest_open_function(t, k, name);
    int depth = nest_open(t, p, k, type->rank);
    indent(t, depth), text_add(t, "memcpy("), nest_address(t, p, &k->out[0], "y", at);
    text_add(t, ", "), nest_address(t, p, &k->in[0], "a0", at), text_add(t, ", sizeof *y);\n");
    nest_close(t, depth);
}

// y[before...][index...][after...] = data[before...][index value][after...]
void write_gather(Text *t, const Program *p, const Kernel *k, const char *name) {
    const View *data = &k->in[0], *index = &k->in[1];
    const Type *type = &k->out[0].type;
    int axis = node_axis(k->node), many = index->type.rank;
    NestIndex at = nest_index(type, type->rank), from = nest_index(&data->type, data->type.rank),
              which = nest_index(&index->type, many);
    for (int i = 0; i < many; i++) which.index[i] = at.index[axis + i];
    for (int i = 0; i < data->type.rank; i++)
        from.index[i] = i < axis ? at.index[i] : i == axis ? "chosen" : at.index[i + many - 1];
    nest_open_function(t, k, name);
    int depth = nest_open(t, p, k, axis + many), last = type->rank;
    indent(t, depth), text_add(t, "int chosen = burin_index((int)*("), nest_address(t, p, index, "a1", which);
    text_add(t, "), "), c_dim(t, p, data->type.dim[axis]), text_add(t, ");\n");
    int inside = depth, parted = nest_parted(p, k);
    for (int i = parted > axis + many ? parted : axis + many; i < last; i++)
        open_axis(t, p, at.index[i], type->dim[i], inside++);
    indent(t, inside), text_add(t, "*("), nest_address(t, p, &k->out[0], "y", at);
    text_add(t, ") = *("), nest_address(t, p, data, "a0", from), text_add(t, ");\n");
    nest_close(t, depth);
}

// An axis that is padded: where in x index i lies, and whether it lies there at all.
static void pad_axis(Text *t, const Program *p, const Kernel *k, int axis, int depth) {
    int n;
    const Dim *low = attr_dims(k->node, "low", &n)[axis];
    const int64_t *interior = attr_ints(k->node, "interior", &n);
    int step = interior ? (int)interior[axis] + 1 : 1;
    indent(t, depth), text_add(t, "int x%d = i%d - ", axis, axis), c_dim(t, p, low),
        text_add(t, ", in%d = x%d >= 0", axis, axis);
    if (step > 1) text_add(t, " && x%d %% %d == 0", axis, step);
    text_add(t, " && x%d / %d < ", axis, step), c_dim(t, p, k->in[0].type.dim[axis]), text_add(t, ";\n");
    if (step > 1) indent(t, depth), text_add(t, "x%d /= %d;\n", axis, step);
}

// y[i..] = x[(i - low) / (interior + 1)..] where there is one, else the value
void write_pad(Text *t, const Program *p, const Kernel *k, const char *name) {
    static const char *const inner[MAX_RANK] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
    const Type *type = &k->out[0].type;
    NestIndex at = nest_index(type, type->rank), from = at;
    nest_open_function(t, k, name);
    int depth = nest_open(t, p, k, type->rank);
    for (int i = 0; i < type->rank; i++) pad_axis(t, p, k, i, depth), from.index[i] = inner[i];
    indent(t, depth), text_add(t, "*("), nest_address(t, p, &k->out[0], "y", at), text_add(t, ") = 1");
    for (int i = 0; i < type->rank; i++) text_add(t, " && in%d", i);
    text_add(t, " ? *("), nest_address(t, p, &k->in[0], "a0", from), text_add(t, ") : ");
    write_scalar_operand(t, p, k, 1, "a1"), text_add(t, ";\n");
    nest_close(t, depth);
}

// The operands one after the other along the axis; threads share what stands before it.
void write_concat(Text *t, const Program *p, const Kernel *k, const char *name) {
    const Type *type = &k->out[0].type;
    int axis = node_axis(k->node);
    const Dim *start = dim_const(p->graph, 0);
    nest_open_function(t, k, name);
    int depth = nest_open(t, p, k, axis);
    for (int i = 0; i < k->n_in; i++) {
        NestIndex to = nest_index(type, type->rank), from = to;
        Text shifted = {0};
        char base[16];
        text_add(&shifted, "(%s + ", to.index[axis]), c_dim(&shifted, p, start), text_add(&shifted, ")");
        to.index[axis] = shifted.data;
        snprintf(base, sizeof base, "a%d", i);
        int inside = depth;
        for (int j = axis; j < type->rank; j++) open_axis(t, p, from.index[j], k->in[i].type.dim[j], inside++);
        indent(t, inside), text_add(t, "*("), nest_address(t, p, &k->out[0], "y", to), text_add(t, ") = ");
        if (k->in[i].base == BASE_SCALAR)
            write_scalar_operand(t, p, k, i, base), text_add(t, ";\n");
        else
            text_add(t, "*("), nest_address(t, p, &k->in[i], base, from), text_add(t, ");\n");
        start = dim_binary(p->graph, DIM_ADD, start, k->in[i].type.dim[axis]);
        text_free(&shifted);
    }
    nest_close(t, depth);
}
