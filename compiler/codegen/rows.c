// Row-wise kernels: embeddings, norms, quantization of activations, selection of rows.
#include "codegen/parameters.h"
#include "ir/operands.h"
#include "kernels/quantize.h"

// ------------------------------------------------------------------------------------------- embed
// Rows of a table, or columns of packed panels, which equal rows of the unpacked table.
void embed_parameters(Parameters *ps) {
    const View *in = ps->kernel->in;
    take_range(ps, "range");
    take_operand(ps, "index", &in[1]);
    take_operand(ps, in[0].weight->format ? "panels" : "table", &in[0]);
    take_result(ps, "y", &ps->kernel->out[0]);
}

void write_embed(Text *t, const Program *p, const Kernel *k) {
    const WeightFormat *packed = k->in[0].weight->format;
    long long n = (long long)last_dim(&k->out[0]);
    const char *format = packed ? packed->name : dtype_name(k->in[0].type.dtype),
               *what = packed ? "panels" : "table";
    long long rows =
        packed ? (long long)k->in[0].weight->columns : (long long)dim_upper(k->in[0].type.dim[0]);
    (void)p;
    text_add(t, "    for (int r = range.first; r < range.last; r++)\n");
    text_add(t, "        gather_%s_%s(%lld, %s, burin_index(index[r], %lld), y + r * %lld);\n",
             packed ? "column" : "row", format, n, what, rows, n);
}

// ------------------------------------------------------------------------------------------- norms
static bool is_skip(const Kernel *k) {
    return k->op == OP_skip_rms_normalization || k->op == OP_skip_layer_normalization;
}
static bool is_layer(const Kernel *k) {
    return k->op == OP_layer_normalization || k->op == OP_skip_layer_normalization;
}

// NULL: there is none
static const View *bias_of(const Kernel *k) {
    int i = is_skip(k) ? SKIP_NORM_BIAS : NORM_BIAS;
    return i < k->n_in && k->in[i].base != BASE_NONE ? &k->in[i] : NULL;
}

// The sum of a skip norm, if it is used
static bool has_sum(const Kernel *k) { return k->n_out > 1 && quantized_result(k) != 1; }

void norm_parameters(Parameters *ps) {
    const Kernel *k = ps->kernel;
    take_range(ps, "range");
    take_operand(ps, "x", &k->in[NORM_X]);
    if (is_skip(k)) take_operand(ps, "residual", &k->in[SKIP_NORM_RESIDUAL]);
    take_operand(ps, "weight", &k->in[is_skip(k) ? SKIP_NORM_WEIGHT : NORM_WEIGHT]);
    if (bias_of(k)) take_operand(ps, "bias", bias_of(k));
    if (quantized_result(k) >= 0) take_result(ps, "quantized", &k->out[quantized_result(k)]);
    if (has_sum(k)) take_result(ps, "sum", &k->out[1]);
    take_result(ps, "y", &k->out[0]);
}

void write_norm(Text *t, const Program *p, const Kernel *k) {
    long long n = (long long)last_dim(&k->out[0]);
    const char *stride = c_row_stride(p, &k->in[NORM_X]), *from = "x";
    int quantized = quantized_result(k);
    bool braces = is_skip(k) || quantized >= 0;
    text_add(t, "    for (int r = range.first; r < range.last; r++)%s\n", braces ? " {" : "");
    if (is_skip(k)) {
        from = has_sum(k) ? "sum" : "y";
        text_add(t, "        add_row(%lld, x + r * %s, residual + r * %s, %s + r * %lld);\n", n,
                 stride, c_row_stride(p, &k->in[SKIP_NORM_RESIDUAL]), from, n);
        stride = c_row_stride(p, &k->out[0]);
    }
    text_add(t, "        %s(%lld, ", is_layer(k) ? "layer_norm" : "rms_norm", n);
    c_float(t, kernel_float(k, "epsilon", 0));
    text_add(t, ", %s + r * %s, ", from, stride);
    if (is_layer(k))
        text_add(t, "(const float *const[2]){weight, %s}", bias_of(k) ? "bias" : "NULL");
    else
        text_add(t, "weight");
    text_add(t, ", y + r * %lld);\n", n);
    if (quantized >= 0)
        text_add(t, "        quantize_row_q8_0(%lld, y + r * %lld, quantized + r * %s);\n", n, n,
                 c_row_stride(p, &k->out[quantized]));
    if (braces) text_add(t, "    }\n");
}

// -------------------------------------------------------------------------------- quantize, select
// Blocks of columns: over ranks the rank's own, in a fused kernel those of the tile, otherwise all
static const char *blocks_of_part(const Program *p, const Kernel *k) {
    const RankShare *s = &k->ranks;
    if (s->units) return arena_printf(p->arena, "BLOCKS(%d, %d)", s->units, s->each);
    if (k->fused_into)
        return arena_printf(p->arena, "TILE_RANGE(%d, %d)", k->first_tile,
                            k->fused_into->tiles.columns / QUANT_BLOCK);
    return arena_printf(p->arena, "ALL(%d)",
                        (int)((last_dim(&k->in[0]) + QUANT_BLOCK - 1) / QUANT_BLOCK));
}

static void take_row_part(Parameters *ps) {
    Text t = {0};
    if (!ps->kernel->fused_into) {
        take_range(ps, "range");
        return;
    }
    text_add(&t, "ALL("), c_rows(&t, ps->program, &ps->kernel->in[0].type), text_add(&t, ")");
    take(ps, "burin_range ", "range", arena_strndup(ps->program->arena, t.data, t.length));
    text_free(&t);
}

void quantize_parameters(Parameters *ps) {
    const Kernel *k = ps->kernel;
    take_row_part(ps);
    take(ps, "burin_range ", "blocks", blocks_of_part(ps->program, k));
    take_operand(ps, "x", &k->in[0]);
    take_result(ps, "y", &k->out[0]);
}

void write_quantize(Text *t, const Program *p, const Kernel *k) {
    long long n = (long long)last_dim(&k->in[0]);
    const char *stride = c_row_stride(p, &k->in[0]), *blocks = c_row_stride(p, &k->out[0]);
    if (k->out[0].type.dtype == DT_i8_rows) {
        text_add(t,
                 "    for (int r = range.first; r < range.last; r++) quantize_row_integers(%lld, x "
                 "+ r * %s, y + r * %s);\n",
                 n, stride, blocks);
        return;
    }
    text_add(t, "    int from = 32 * blocks.first, k = burin_min(32 * blocks.last, %lld) - from;\n",
             n);
    text_add(t,
             "    for (int r = range.first; r < range.last && k > 0; r++)\n"
             "        quantize_row_q8_0(k, x + r * %s + from, y + r * %s + blocks.first);\n",
             stride, blocks);
}

void gather_rows_parameters(Parameters *ps) {
    take_range(ps, "range");
    take(ps, "const int32_t *", "row", "s->logit_rows");
    take_operand(ps, "x", &ps->kernel->in[0]);
    take_result(ps, "y", &ps->kernel->out[0]);
}

void write_gather_rows(Text *t, const Program *p, const Kernel *k) {
    long long n = (long long)last_dim(&k->out[0]);
    text_add(t,
             "    for (int r = range.first; r < range.last; r++) memcpy(y + r * %lld, x + row[r] * "
             "%s, %lld * sizeof *y);\n",
             n, c_row_stride(p, &k->in[0]), n);
}
