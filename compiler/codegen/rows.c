// Row-wise kernels: embeddings, norms, quantization of activations, selection of rows.

#include "codegen/emit.h"

static void open_function(Text *t, const char *name, const char *parameters) {
    text_add(t, "KERNEL void %s(burin_part part, %s) {\n", name, parameters);
}

// ------------------------------------------------------------------------------------------------------------------- embed
// Rows of a table, or columns of packed panels, which are the rows of what was packed.
void write_embed(Text *t, const Program *p, const Kernel *k, const char *name) {
    const WeightFormat *packed = k->in[0].weight->format;
    long long n = (long long)last_dim(&k->out[0]);
    const char *format = packed ? packed->name : dtype_name(k->in[0].type.dtype), *what = packed ? "panels" : "table";
    long long rows = packed ? (long long)k->in[0].weight->columns : (long long)dim_upper(k->in[0].type.dim[0]);
    (void)p;
    text_add(t, "KERNEL void %s(burin_part part, const int32_t *index, const %s *%s, float *y) {\n", name,
             packed ? packed->element : c_type(k->in[0].type.dtype), what);
    text_add(t, "    for (int r = part.first; r < part.last; r++)\n");
    text_add(t, "        gather_%s_%s(%lld, %s, burin_index(index[r], %lld), y + r * %lld);\n}\n", packed ? "column" : "row",
             format, n, what, rows, n);
}

void call_embed(Text *t, const Program *p, const Kernel *k) {
    text_add(t, "("), c_part(t, p, k);
    for (int i = 1; i >= 0; i--) text_add(t, ", "), c_pointer(t, p, k, &k->in[i]);
    text_add(t, ", "), c_pointer(t, p, k, &k->out[0]), text_add(t, ")");
}

// -------------------------------------------------------------------------------------------------------------------- norms
void write_norm(Text *t, const Program *p, const Kernel *k, const char *name) {
    bool skip = k->node->op == OP_skip_rms_normalization || k->node->op == OP_skip_layer_normalization;
    bool layer = k->node->op == OP_layer_normalization || k->node->op == OP_skip_layer_normalization, sum = k->n_out == 2;
    bool bias = k->n_in > (skip ? 3 : 2) && k->node->in[skip ? 3 : 2];
    long long n = (long long)last_dim(&k->out[0]);
    text_add(t, "KERNEL void %s(burin_part part, const float *x, %sconst float *weight, %s%sfloat *y) {\n", name,
             skip ? "const float *residual, " : "", bias ? "const float *bias, " : "", sum ? "float *sum, " : "");
    text_add(t, "    for (int r = part.first; r < part.last; r++) {\n");
    const char *x = c_row_stride(p, &k->in[0]);
    if (skip) {
        text_add(t, "        add_row(%lld, x + r * %s, residual + r * %s, %s + r * %lld);\n", n, x, c_row_stride(p, &k->in[1]),
                 sum ? "sum" : "y", n);
    }
    text_add(t, "        %s(%lld, ", layer ? "layer_norm" : "rms_norm", n);
    c_float(t, attr_float(k->node, "epsilon", 0));
    if (skip)
        text_add(t, ", %s + r * %lld, ", sum ? "sum" : "y", n);
    else
        text_add(t, ", x + r * %s, ", x);
    if (layer)
        text_add(t, "(const float *const[2]){weight, %s}", bias ? "bias" : "NULL");
    else
        text_add(t, "weight");
    text_add(t, ", y + r * %lld);\n    }\n}\n", n);
}

void call_norm(Text *t, const Program *p, const Kernel *k) {
    text_add(t, "("), c_part(t, p, k);
    for (int i = 0; i < k->n_in; i++)
        if (k->node->in[i]) text_add(t, ", "), c_pointer(t, p, k, &k->in[i]);
    for (int i = k->n_out - 1; i >= 0; i--) text_add(t, ", "), c_pointer(t, p, k, &k->out[i]);
    text_add(t, ")");
}

// ---------------------------------------------------------------------------------------------------------- quantize, select
void write_quantize(Text *t, const Program *p, const Kernel *k, const char *name) {
    open_function(t, name, "const float *x, q8_block *y");
    text_add(t, "    for (int r = part.first; r < part.last; r++) quantize_row_q8_0(%lld, x + r * %s, y + r * %s);\n}\n",
             (long long)last_dim(&k->in[0]), c_row_stride(p, &k->in[0]), c_row_stride(p, &k->out[0]));
}

void write_select(Text *t, const Program *p, const Kernel *k, const char *name) {
    long long n = (long long)last_dim(&k->out[0]);
    const char *type = c_type(k->out[0].type.dtype);
    text_add(t, "KERNEL void %s(burin_part part, const int32_t *row, const %s *x, %s *y) {\n", name, type, type);
    text_add(t,
             "    for (int r = part.first; r < part.last; r++) memcpy(y + r * %lld, x + row[r] * %s, %lld * sizeof *y);\n}\n",
             n, c_row_stride(p, &k->in[0]), n);
}

void call_rows(Text *t, const Program *p, const Kernel *k) {
    text_add(t, "("), c_part(t, p, k);
    if (k->family == FAMILY_SELECT) text_add(t, ", s->wanted");
    if (k->family == FAMILY_ORDER) text_add(t, ", "), c_dim(t, p, type_count(p->graph, &k->out[0].type));
    text_add(t, ", "), c_pointer(t, p, k, &k->in[0]);
    text_add(t, ", "), c_pointer(t, p, k, &k->out[0]), text_add(t, ")");
}
