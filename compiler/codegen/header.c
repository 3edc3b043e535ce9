// The plan's header: figures, and the weights as a struct whose offsets the compiler checks.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "codegen/emit.h"
#include "ir/operands.h"

static void upper_name(char *out, size_t room, const char *name) {
    size_t i = 0;
    for (; name[i] && i + 1 < room; i++) out[i] = (char)toupper((unsigned char)name[i]);
    out[i] = 0;
}

static void write_figure(Text *t, const char *prefix, const char *name, uint64_t value,
                         const char *comment) {
    char line[128];
    snprintf(line, sizeof line, "#define %s_%s %llu", prefix, name, (unsigned long long)value);
    text_add(t, "%-48s ", line);
    size_t begin = c_comment(t);
    text_add(t, "%s", comment), c_comment_end(t, begin);
}

static void write_figures(Text *t, const Program *p) {
    char name[64];
    const Plan *plan = &p->plan;
    upper_name(name, sizeof name, p->name);
    write_figure(t, name, "MAX_ROWS", (uint64_t)p->max_rows, "rows of one step");
    write_figure(t, name, "ROW_BYTES", plan->row_bytes, "of the arena, for each row");
    write_figure(t, name, "ARENA_BYTES", plan->row_bytes * (uint64_t)p->max_rows,
                 "MAX_ROWS times ROW_BYTES");
    write_figure(t, name, "ARENA_LOWER_BOUND", plan->lower_bound * (uint64_t)p->max_rows,
                 "largest sum of values any two of which live at once");
    write_figure(t, name, "LOCAL_BYTES", plan->local_bytes,
                 "of each thread: row-wise values of a single row");
    write_figure(t, name, "SLOT_BYTES", plan->slot_bytes, "state of one sequence");
    write_figure(t, name, "CACHE_BYTES", plan->cache_bytes, "of SLOT_BYTES: KV caches");
    write_figure(t, name, "WEIGHT_BYTES", plan->weight_bytes, "packed");
}

static uint64_t element_count(const PackedWeight *w) {
    const Tensor *plain = w->node->value;
    if (!w->format)  // elements narrower than a byte share bytes
        return dtype_bits(plain->dtype) < 8 ? dtype_bytes(plain->dtype, tensor_count(plain))
                                            : (uint64_t)tensor_count(plain);
    return w->format->blocks ? w->bytes : w->bytes / (uint64_t)w->format->panel_bytes * 16;
}

static void write_field(Text *t, const PackedWeight *w) {
    enum { COLUMN = 69 };
    size_t line = t->length;
    const char *type = w->format ? w->format->element : c_type(w->node->type.dtype);
    text_add(t, "    _Alignas(64) %s %s[%llu]; ", type, w->field,
             (unsigned long long)element_count(w));
    if (t->length - line < COLUMN) text_add(t, "%*s", (int)(COLUMN - (t->length - line)), "");
    size_t comment = c_comment(t);
    if (w->format && w->format->blocks)
        text_add(t, "[%llu panels][%lld / %d][%d bytes of %s] ", (unsigned long long)w->units,
                 (long long)w->depth, w->format->block, w->format->panel_bytes, w->format->name);
    else if (w->format)
        text_add(t, "[%llu panels][%lld][16] ", (unsigned long long)w->units, (long long)w->depth);
    type_print(t, &w->node->type);
    c_comment_end(t, comment);
}

static void write_group(Text *t, const Program *p, WeightGroup group, const char *name) {
    text_add(t, "struct %s_%s {\n", p->name, name);
    for (int i = 0; i < p->n_weights; i++)
        if (p->weights[i]->group == group && p->weights[i]->layer == 0)
            write_field(t, p->weights[i]);
    text_add(t, "};\n\n");
}

static void write_arrays(Text *t, const Program *p, bool *written) {
    const Loop *loop = &p->loop;
    if (*written || !loop->iterations) return;
    *written = true;
    if (p->plan.layer_bytes)
        text_add(t, "    struct %s_layer layer[%d];\n", p->name, loop->iterations);
    if (p->plan.layer_end_bytes)
        text_add(t, "    struct %s_layer_end layer_end[%d];\n", p->name, loop->iterations - 1);
}

static void write_weights(Text *t, const Program *p) {
    bool written = false;
    text_add(t, "// Everything in the order of its use.\nstruct %s_weights {\n", p->name);
    for (int i = 0; i < p->n_weights; i++) {
        if (p->weights[i]->group == GROUP_PROGRAM)
            write_field(t, p->weights[i]);
        else
            write_arrays(t, p, &written);
    }
    if (!p->n_weights) text_add(t, "    char none[64];\n");
    text_add(t, "};\n\n");
}

static void write_checks(Text *t, const Program *p) {
    const char *name = p->name;
    for (int i = 0; i < p->n_weights; i++) {
        const PackedWeight *w = p->weights[i];
        static const char *const arrays[] = {"", "layer[0].", "layer_end[0]."};
        if (w->layer > 0) continue;
        text_add(t, "_Static_assert(offsetof(struct %s_weights, %s%s) == %llu, \"%s\");\n", name,
                 arrays[w->group], w->field, (unsigned long long)w->offset, w->field);
    }
    if (p->plan.layer_bytes)
        text_add(t, "_Static_assert(sizeof(struct %s_layer) == %llu, \"layer\");\n", name,
                 (unsigned long long)p->plan.layer_bytes);
    if (p->plan.layer_end_bytes)
        text_add(t, "_Static_assert(sizeof(struct %s_layer_end) == %llu, \"layer_end\");\n", name,
                 (unsigned long long)p->plan.layer_end_bytes);
    if (p->n_weights)
        text_add(t, "_Static_assert(sizeof(struct %s_weights) == %llu, \"weights\");\n", name,
                 (unsigned long long)p->plan.weight_bytes);
}

static void write_program(Text *t, const Program *p) {
    write_figures(t, p);
    text_add(t, "\n");
    if (p->plan.layer_bytes) write_group(t, p, GROUP_LAYER, "layer");
    if (p->plan.layer_end_bytes) write_group(t, p, GROUP_LAYER_END, "layer_end");
    write_weights(t, p);
    write_checks(t, p);
}

static int64_t widest_head(const Program *p) {
    int64_t widest = p->encoder ? widest_head(p->encoder) : 0;
    for (int i = 0; i < p->n_kernels; i++) {
        const Kernel *k = p->kernels[i];
        if (k->family != FAMILY_ATTENTION) continue;
        for (int j = ATTENTION_KEY; j <= ATTENTION_VALUE; j++)
            if (dim_upper(k->in[j].type.dim[3]) > widest) widest = dim_upper(k->in[j].type.dim[3]);
    }
    return widest;
}

void emit_header(const Program *p, Text *t) {
    char guard[64];
    size_t begin = t->length;
    upper_name(guard, sizeof guard, p->name);
    size_t comment = c_comment(t);
    text_add(t, "%s: sizes, and where the weights lie. Emitted by burin.", p->name);
    c_comment_end(t, comment);
    text_add(t, "#ifndef %s_PLAN_H\n#define %s_PLAN_H\n", guard, guard);
    int64_t head = widest_head(p);
    if (head)
        text_add(t, "#define BURIN_HEAD_DIM %lld  // of attention, at most\n", (long long)head);
    text_add(t,
             "#include \"kernels/kernels.h\"\n#include \"kernels/nest.h\"\n#include "
             "\"engine/step.h\"\n%s\n",
             p->guarded ? "#include \"engine/guard.h\"\n" : "");
    if (p->encoder) write_program(t, p->encoder), text_add(t, "\n");
    write_program(t, p);
    text_add(t, "#endif\n");
    wrap_lines(t, begin);
}
