// Small pieces of C: types, dimensions, numbers, and where operands begin.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "codegen/emit.h"
#include "ir/convert.h"
#include "ir/operands.h"

#define ROWS  {'`', result_rows_name, write_result_rows}
#define STORE {'$', store_name, write_store}
const KernelWriter kernel_writers[] = {
    [FAMILY_EMBED] = {embed_parameters, write_embed, {{0}}},
    [FAMILY_MATMUL] = {matmul_parameters, write_matmul, {ROWS, STORE}},
    [FAMILY_EXPERTS] = {matmul_parameters, write_matmul, {ROWS, STORE}},
    [FAMILY_DEPTHWISE] = {depthwise_parameters, write_depthwise, {ROWS, STORE}},
    [FAMILY_ORDER] = {order_parameters, write_order, {{0}}},
    [FAMILY_NORM] = {norm_parameters, write_norm, {{0}}},
    [FAMILY_QUANTIZE] = {quantize_parameters, write_quantize, {{0}}},
    [FAMILY_ROTARY] = {rotary_parameters, write_rotary, {{0}}},
    [FAMILY_APPEND] = {append_parameters, write_append, {{0}}},
    [FAMILY_SHIFT] = {shift_rows_parameters, write_shift_rows, {{0}}},
    [FAMILY_KEYS] = {kept_keys_parameters, write_kept_keys, {{0}}},
    [FAMILY_ATTENTION] = {attention_parameters, write_attention, {{0}}},
    [FAMILY_SCAN] = {scan_parameters, write_scan, {{0}}},
    [FAMILY_GATHER] = {gather_rows_parameters, write_gather_rows, {{0}}},
    [FAMILY_NEST] = {nest_parameters, write_nest, {{'$', order_name, write_slice_order}}},
};

size_t c_comment(Text *t) {
    text_add(t, "// ");
    return t->length;
}

// A backslash at the end of a line continues it, and so does its trigraph.
void c_comment_end(Text *t, size_t begin) {
    char *words = strdup(t->data + begin);
    size_t n = t->length - begin;
    t->length = begin;
    for (size_t i = 0, length; i < n; i += length ? length : 1) {
        bool continues = words[i] == '\\' || !strncmp(words + i,
                                                      "?"
                                                      "?/",
                                                      3);
        length = continues ? 0 : burin_printable(words + i, n - i);
        if (length)
            text_append(t, words + i, length);
        else
            text_add(t, "\\x%02x", (unsigned)(unsigned char)words[i]);
    }
    free(words);
    text_append(t, "\n", 1);
}

const char *c_type(DType t) {
    static const char *const names[DT_COUNT] = {
        [DT_f32] = "float",     [DT_f64] = "double",       [DT_f16] = "uint16_t",
        [DT_bf16] = "uint16_t", [DT_i8] = "int8_t",        [DT_i16] = "int16_t",
        [DT_i32] = "int32_t",   [DT_i64] = "int64_t",      [DT_u8] = "uint8_t",
        [DT_u16] = "uint16_t",  [DT_u32] = "uint32_t",     [DT_u64] = "uint64_t",
        [DT_bool] = "uint8_t",  [DT_q8_rows] = "q8_block", [DT_i8_rows] = "q8_block",
    };
    return names[t] ? names[t] : "uint8_t";
}

int symbol_index(const Program *p, const Dim *symbol) {
    for (int i = 0; i < p->n_symbols; i++)
        if (p->symbols[i] == symbol) return i;
    for (int i = 0; i < p->n_data_dependent; i++)
        if (p->data_dependent[i] == symbol) return p->n_symbols + i;
    for (int i = 0; i < p->n_counters; i++)
        if (p->counters[i] == symbol) return p->n_symbols + p->n_data_dependent + i;
    return -1;
}

typedef struct DimWriter {
    const Program *p;
    bool by_symbols;  // symbols[i] only: outside of a step
    bool before_run;  // data-dependent sizes count as their bounds
} DimWriter;

static void write_symbol(Text *t, const DimWriter *w, const Dim *d) {
    int index = symbol_index(w->p, d);
    bool by_name = d == w->p->rows || d == w->p->logit_rows;
    if (index < 0 && !by_name) diag_fatal(NO_LOC, "nothing decides the size \"%s\"", d->name);
    if (w->before_run && index >= w->p->n_symbols)
        text_add(t, "%lld", (long long)dim_upper(d));
    else if (w->by_symbols)
        text_add(t, "symbols[%d]", index);
    else if (by_name)
        text_add(t, d == w->p->rows ? "rows" : "logit_rows");
    else
        text_add(t, "(int)s->symbols[%d]", index);
}

static void write_dim(Text *t, const DimWriter *w, const Dim *d) {
    static const char *const operators[] = {
        [DIM_ADD] = "+", [DIM_MUL] = "*", [DIM_FLOORDIV] = "/", [DIM_MOD] = "%"};
    int64_t value;
    if (dim_is_const(d, &value)) {
        text_add(t, "%lld", (long long)value);
    } else if (d->kind == DIM_SYMBOL) {
        write_symbol(t, w, d);
    } else if (d->kind == DIM_MIN || d->kind == DIM_MAX) {
        text_add(t, "burin_%s((int)", d->kind == DIM_MIN ? "min" : "max");
        write_dim(t, w, d->a), text_add(t, ", (int)"), write_dim(t, w, d->b), text_add(t, ")");
    } else if (d->kind != DIM_ADD && d->kind != DIM_MUL &&
               (dim_lower(d->a) < 0 || dim_lower(d->b) < 1)) {
        text_add(t, "burin_floor_%s(", d->kind == DIM_MOD ? "mod" : "div");
        write_dim(t, w, d->a), text_add(t, ", "), write_dim(t, w, d->b), text_add(t, ")");
    } else {
        text_add(t, "(");
        write_dim(t, w, d->a), text_add(t, " %s ", operators[d->kind]), write_dim(t, w, d->b);
        text_add(t, ")");
    }
}

void c_dim(Text *t, const Program *p, const Dim *d) {
    write_dim(t, &(DimWriter){p, false, false}, d);
}
void c_dim_of_symbols(Text *t, const Program *p, const Dim *d) {
    write_dim(t, &(DimWriter){p, true, false}, d);
}
void c_dim_of_step_at_most(Text *t, const Program *p, const Dim *d) {
    write_dim(t, &(DimWriter){p, false, true}, d);
}
void c_dim_at_most(Text *t, const Program *p, const Dim *d) {
    write_dim(t, &(DimWriter){p, true, true}, d);
}

void c_float(Text *t, double value) {
    float f = (float)value;
    if (f != f)
        text_add(t, "NAN");
    else if (f > 3.4028235e38f)
        text_add(t, "INFINITY");
    else if (f < -3.4028235e38f)
        text_add(t, "-INFINITY");
    else if (f < 1e6f && f > -1e6f && f == (float)(int)f && !(f == 0 && 1 / f < 0))
        text_add(t, "%d", (int)f);
    else
        text_add(t, "%af", (double)f);
}

void c_number(Text *t, DType dtype, double value) {
    uint64_t bits = 0;
    if (dtype == DT_f32) {
        c_float(t, value);
    } else if (dtype == DT_f64) {
        text_add(t,
                 value != value                    ? "NAN"
                 : value > 1.7976931348623157e308  ? "INFINITY"
                 : value < -1.7976931348623157e308 ? "-INFINITY"
                                                   : "%a",
                 value);
    } else if (dtype_is_float(dtype) || dtype == DT_u64) {
        dtype_store(dtype, &bits, 0, value);
        text_add(t, "%lluu", (unsigned long long)bits);
    } else {
        text_add(t, "%lld", (long long)value);
    }
}

int64_t last_dim(const View *v) {
    return v->type.rank ? dim_upper(v->type.dim[v->type.rank - 1]) : 1;
}

// Rows in blocks are counted in these.
const char *c_row_stride(const Program *p, const View *v) {
    Text t = {0};
    int64_t stride;
    if (v->type.rank < 2 || dtype_is_rows(v->type.dtype))
        text_add(&t, "%lld",
                 (long long)storage_units_of(v->type.dtype, 1, (int64_t[]){last_dim(v)}));
    else if (dim_is_const(v->stride[v->type.rank - 2], &stride))
        text_add(&t, "%lld", (long long)stride);
    else
        c_dim(&t, p, v->stride[v->type.rank - 2]);
    const char *copy = arena_strdup(p->arena, t.data);
    text_free(&t);
    return copy;
}

const Dim *row_count(const Program *p, const Type *type) {
    const Dim *rows = dim_const(p->graph, 1);
    for (int i = 0; i + 1 < type->rank; i++)
        rows = dim_binary(p->graph, DIM_MUL, rows, type->dim[i]);
    return rows;
}

// A kernel may have other rows than its program: half as many after windows of two.
const char *rows_name(const Program *p, const Type *type) {
    return !p->rows || row_count(p, type) == p->rows ? "rows" : "own_rows";
}

void c_rows(Text *t, const Program *p, const Type *type) { c_dim(t, p, row_count(p, type)); }

const Loop *loop_of(const Program *p, const Kernel *k) {
    const Loop *loop = &p->loop;
    int end = loop->first + loop->period * loop->iterations - loop->missing;
    return loop->iterations && k->position >= loop->first && k->position < end ? loop : NULL;
}

// ---------------------------------------------------------------------------------------- operands
// A decoder's inputs are the rows' tokens, slots and positions; any other graph is a network of
// tensors.
bool is_decoder(const Program *p) { return graph_has_rows(p->graph); }

static const char *input_name(const Node *n) {
    static const char *const names[] = {[INPUT_TOKENS] = "s->token",
                                        [INPUT_POSITIONS] = "s->position",
                                        [INPUT_SLOTS] = "s->slot",
                                        [INPUT_LOGIT_ROWS] = "s->logit_rows",
                                        [INPUT_SOURCE_LAST] = "s->source_last",
                                        [INPUT_EMBEDDINGS] = "s->embeddings",
                                        [INPUT_EMBEDDED] = "s->embedded",
                                        [INPUT_LAST_SEEN] = "s->last_seen",
                                        [INPUT_AXES] = "s->axes"};
    size_t role = (size_t)input_role(n);
    const char *name = role < sizeof names / sizeof *names ? names[role] : NULL;
    return name && graph_has_rows(n->graph) ? name : NULL;
}

static int input_index(const Node *n) {
    for (int i = 0; i < n->graph->n_inputs; i++)
        if (n->graph->inputs[i] == n) return i;
    return -1;
}

void c_input(Text *t, const Node *n) {
    if (input_name(n))
        text_add(t, "%s", input_name(n));
    else
        text_add(t, "(const %s *)s->inputs[%d]", c_type(n->type.dtype), input_index(n));
}

// The kernel at this position of the second iteration; NULL for kernels that the loop's end skips.
static const Kernel *second_iteration(const Program *p, const Loop *loop, const Kernel *k) {
    int at = loop->first + (k->position - loop->first) % loop->period + loop->period;
    return at < loop->first + loop->period * loop->iterations - loop->missing ? p->kernels[at]
                                                                              : NULL;
}

// STATE(place in the slot, and how much further in each layer)
static void c_state(Text *t, const Program *p, const Kernel *k, const View *v) {
    const Loop *loop = loop_of(p, k);
    const Kernel *next = loop ? second_iteration(p, loop, k) : NULL;
    uint64_t each = 0;
    if (next) {
        const Kernel *first = p->kernels[next->position - loop->period];
        for (int i = 0; i < k->n_in; i++)
            if (&k->in[i] == v) each = next->in[i].state->offset - first->in[i].state->offset;
        if (&k->out[0] == v) each = next->out[0].state->offset - first->out[0].state->offset;
    }
    if (each && !v->state->offset)
        text_add(t, "STATE((size_t)layer * %llu)", (unsigned long long)each);
    else if (each)
        text_add(t, "STATE(%llu + (size_t)layer * %llu)", (unsigned long long)v->state->offset,
                 (unsigned long long)each);
    else
        text_add(t, "STATE(%llu)", (unsigned long long)v->state->offset);
}

static void c_base(Text *t, const Program *p, const Kernel *k, const View *v) {
    static const char *const groups[] = {"w->", "w->layer[layer].", "w->layer_end[layer]."};
    switch (v->base) {
        case BASE_NONE:
            text_add(t, "NULL");
            break;
        case BASE_BUFFER:
            text_add(t, "%s", v->buffer->name);
            break;
        case BASE_WEIGHT:
            text_add(t, "%s%s", v->weight->owner == p ? groups[v->weight->group] : "encoder->",
                     v->weight->field);
            break;
        case BASE_STATE:
            c_state(t, p, k, v);
            break;
        case BASE_INPUT:
            c_input(t, v->input);
            break;
        case BASE_OUTPUT:
            if (is_decoder(p))
                text_add(t,
                         output_is_row_states(p->graph, v->output) ? "s->row_states" : "s->logits");
            else
                text_add(t, "(%s *)s->outputs[%d]", c_type(v->type.dtype), v->output);
            break;
        case BASE_SCALAR:
            c_float(t, v->scalar);
            break;
    }
}

void c_pointer(Text *t, const Program *p, const Kernel *k, const View *v) {
    int64_t offset;
    c_base(t, p, k, v);
    if (v->base == BASE_NONE || v->base == BASE_SCALAR ||
        (dim_is_const(v->offset, &offset) && offset == 0))
        return;
    text_add(t, " + ");
    c_dim(t, p, v->offset);
}

// Caches of a call are by keys; values that are not by rows have room for each row of a sequence.
void c_sequence_offset(Text *t, const Program *p, const View *v) {
    if (v->base != BASE_BUFFER && v->base != BASE_INPUT && v->base != BASE_OUTPUT) return;
    if (v->base == BASE_BUFFER && v->buffer->fixed_size) {
        if (v->type.rank == 4) text_add(t, " + sequence.key * "), c_dim(t, p, v->stride[2]);
        return;
    }
    int64_t stride = sequence_stride(p, v);
    if (v->base == BASE_OUTPUT && !stride)
        text_add(t, " + sequence.index * "),
            c_dim(t, p, type_count(p->graph, &p->graph->outputs[v->output]->type));
    else
        text_add(t, stride == 1 ? " + sequence.row" : " + sequence.row * %lld", (long long)stride);
}

// PANELS(20, 1, rows), ALL(rows), HEADS(2, 6), TILES(6, 6, rows): the thread's part of what its
// rank computes
static void c_rank_range(Text *t, const Program *p, const Kernel *k) {
    const RankShare *share = &k->ranks;
    if (k->family == FAMILY_APPEND || k->family == FAMILY_ROTARY) {
        text_add(t, "HEADS(%d, %d)", share->part[0].heads, share->units);
        return;
    }
    if (k->family == FAMILY_QUANTIZE)
        text_add(t, "ALL(");
    else if (k->family == FAMILY_ATTENTION)
        text_add(t, "TILES("), c_dim(t, p, k->share.count), text_add(t, ", %d, ", share->units);
    else
        text_add(t, "PANELS(%d, %d, ", share->units, share->each);
    c_rows(t, p, &k->out[0].type);
    text_add(t, ")");
}

// HEADS_PANELS(192, 32, 2, 6, rows): the panels that hold the rank's of 2 heads, 32 columns each
// from 192 on
const char *c_head_panels(const Program *p, const Kernel *k, const RankPart *part) {
    Text t = {0};
    text_add(&t, "HEADS_PANELS(%d, %d, %d, %d, ", part->first, part->width, part->heads,
             k->ranks.units);
    c_rows(&t, p, &k->out[0].type);
    text_add(&t, ")");
    const char *text = arena_strndup(p->arena, t.data, t.length);
    text_free(&t);
    return text;
}

void c_units(Text *t, const Program *p, const Kernel *k) {
    if (k->share.kind == SHARE_EXPERTS) {
        text_add(t, "expert_units("), c_dim(t, p, k->share.count), text_add(t, ", "),
            c_rows(t, p, &k->out[0].type);
        text_add(t, ", %lld)", (long long)last_dim(&k->in[EXPERT_INDEX]));
    } else if (k->share.kind == SHARE_TILES || k->share.kind == SHARE_PANELS) {
        text_add(t, k->share.kind == SHARE_TILES ? "attention_units(" : "matmul_units("),
            c_dim(t, p, k->share.count);
        text_add(t, ", "), c_rows(t, p, &k->out[0].type), text_add(t, ")");
    } else {
        c_dim(t, p, k->share.count);
    }
}

void c_range(Text *t, const Program *p, const Kernel *k) {
    if (k->ranks.units) {
        c_rank_range(t, p, k);
    } else if (k->fused_into) {
        text_add(t, "TILE_RANGE(%d, 1)", k->first_tile);
    } else if (k->dynamic) {
        text_add(t, "slices.range");
    } else {
        static const char *const macros[2][2] = {{"THREAD_RANGE", "ROW_RANGE"},
                                                 {"SEQUENCE_RANGE", "SEQUENCE_ROW_RANGE"}};
        text_add(t, "%s(", macros[k->per_sequence][k->replicated_if_one_row]), c_units(t, p, k),
            text_add(t, ")");
    }
}
