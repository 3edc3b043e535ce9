// forward(): the kernels in order, layers as a loop, a wait where data crosses threads.
#include <ctype.h>
#include <string.h>

#include "codegen/cost.h"
#include "codegen/parameters.h"
#include "ir/operands.h"

typedef struct Writer {
    Text *t;
    const Program *p;
    int site;  // number of the call in the text
    const char *indent;
    bool in_loop;
    char *location;  // of the kernel before
    int depth;       // of the regions around
} Writer;

// ----------------------------------------------------------------------------------------- buffers
//   // 768 bytes a row: %o_proj
static void write_size(Text *t, const Buffer *b, const char *each) {
    text_add(t, "  ");
    size_t comment = c_comment(t);
    text_add(t, "%llu bytes%s: %%%s", (unsigned long long)b->row_bytes, each, b->value),
        c_comment_end(t, comment);
}

// local + 768, s->scratch
static void write_offset_in(Text *t, const char *memory, uint64_t offset) {
    text_add(t, "%s", memory);
    if (offset) text_add(t, " + %llu", (unsigned long long)offset);
}

// Returns true if every row of a step has as many units of the buffer.
static bool is_of_rows(const Program *p, const Buffer *b) {
    int64_t factor, offset;
    return p->rows && dim_is_line(p->graph, b->units, p->rows, &factor, &offset) && !offset;
}

// burin_guard(qkv, (size_t)(rows * 128) * 4, (size_t)rows * 576), or burin_unguard(qkv, ...)
static void write_guard(Text *t, const Program *p, const Buffer *b, bool guard) {
    text_add(t, guard ? "    burin_guard(%s, " : "    burin_unguard(%s, ", b->name);
    bool exact = p->dynamic_sizes || !p->rows || is_of_rows(p, b);
    for (int room = !guard; room < 2; room++) {
        if (p->dynamic_sizes) {
            if (room) text_add(t, "(");
            c_bytes(t, p, b, c_dim_of_step_at_most);
            if (room) text_add(t, " + %d) / 64 * 64", 63 + GUARD_BYTES);
        } else if (room || !exact) {
            text_add(t, b->fixed_size ? "%llu" : "(size_t)s->rows * %llu",
                     (unsigned long long)b->row_bytes);
        } else {
            c_bytes(t, p, b, c_dim_of_step_at_most);
        }
        text_add(t, room ? ");\n" : ", ");
    }
}

// For tests: bands after the buffers
static void write_guards(Text *t, const Program *p, bool guard) {
    for (int i = 0; i < p->n_buffers && p->guarded; i++) write_guard(t, p, p->buffers[i], guard);
}

static void write_buffers(Text *t, const Program *p) {
    for (int i = 0; i < p->n_buffers; i++) {
        const Buffer *b = p->buffers[i];
        text_add(t, "    %s *%s = ", c_type(b->dtype), b->name);
        if (p->dynamic_sizes) {
            text_add(t, "(void *)(s->scratch + "), c_buffer_offset(t, p, b), text_add(t, ");\n");
            continue;
        }
        if (b->fixed_size) {
            text_add(t, "(void *)("), write_offset_in(t, "s->scratch", b->arena_offset),
                text_add(t, ");");
            write_size(t, b, "");
            continue;
        }
        if (b->per_thread)
            text_add(t, "burin_per_thread(s, "), write_offset_in(t, "local", b->local_offset);
        else
            text_add(t, "burin_shared(s, %llu", (unsigned long long)b->single_offset);
        text_add(t, ", %llu);", (unsigned long long)b->arena_offset);
        write_size(t, b, " a row");
    }
}

// --------------------------------------------------------------------------------------- locations
// "model.layers.3.self_attn" in a loop: "model.layers.*.self_attn"
static void write_scope(Text *t, const char *scope, bool in_loop) {
    for (const char *c = scope; *c; c++) {
        bool number = in_loop && isdigit((unsigned char)*c) && (c == scope || c[-1] == '.');
        const char *end = c;
        while (number && isdigit((unsigned char)*end)) end++;
        if (number && (*end == '.' || !*end)) {
            text_add(t, "*");
            c = end - 1;
        } else {
            text_add(t, "%c", *c);
        }
    }
}

void write_location(Text *t, const Kernel *k, bool in_loop) {
    const char *where = loc_text(k->loc), *file = where;
    for (const char *c = where; *c && *c != ',' && *c != ':'; c++)
        if (*c == '/') file = c + 1;
    text_add(t, "%s", file);
    if (k->loc.scope && !strstr(where, k->loc.scope)) {
        text_add(t, *where ? " " : "");
        write_scope(t, k->loc.scope, in_loop);
    }
}

// ------------------------------------------------------------------------------------------- calls
static void write_record(Writer *w, const Kernel *k, int result) {
    const View *v = &k->out[result];
    if (k->ranks.units && !k->ranks.gathered) return;
    // no error bound is known for values of loops
    if (w->depth || k->scan || v->type.dtype != DT_f32 || k->cache || k->copies ||
        (k->family == FAMILY_ATTENTION && result))
        return;
    text_add(w->t, " RECORD(\"%s\", %s, ", kernel_value(k, result), w->in_loop ? "layer" : "-1");
    c_pointer(w->t, w->p, k, v);
    text_add(w->t, ", "), c_rows(w->t, w->p, &v->type);
    text_add(w->t, ", ");
    c_dim(w->t, w->p, v->type.rank ? v->type.dim[v->type.rank - 1] : dim_const(w->p->graph, 1));
    text_add(w->t, ", %s);", c_row_stride(w->p, v));
}

// Returns the product after a gather whose weights can be prefetched, or NULL: the product belongs
// to the next layer or stays with its heads.
static const Kernel *product_behind(const Program *p, const Kernel *gathered) {
    const int layer = iteration_of(p, gathered->position);
    for (int i = gathered->position + 1; i < p->n_kernels && !p->n_regions; i++) {
        const Kernel *k = p->kernels[i];
        if (iteration_of(p, i) != layer || k->family == FAMILY_EXPERTS) break;
        if (k->family != FAMILY_MATMUL) continue;
        bool here = k->in[PRODUCT_WEIGHTS].weight->group != GROUP_LAYER_END &&
                    k->in[PRODUCT_WEIGHTS].weight->owner == p;
        return here && !k->ranks.n_parts ? k : NULL;
    }
    return NULL;
}

// NEXT(w->layer[layer].mlp_gate_up_proj, 32, 12288): its units, their bytes
static void write_next(Writer *w, const Kernel *gathered) {
    const Kernel *k = product_behind(w->p, gathered);
    if (!k) {
        text_add(w->t, ", NEXT(NULL, 0, 0)");
        return;
    }
    const PackedWeight *weight = k->in[PRODUCT_WEIGHTS].weight;
    text_add(w->t, ", NEXT("), c_pointer(w->t, w->p, k, &k->in[PRODUCT_WEIGHTS]);
    text_add(w->t, ", %d, %llu)", k->ranks.units,
             (unsigned long long)(weight->bytes / (uint64_t)(k->ranks.units ? k->ranks.units : 1)));
}

// GATHER(o_proj, rows, 192, 192, 12, 16): elements of a row, their stride, units, elements of each;
// rows of int8 in blocks
static void write_gather(Writer *w, const Kernel *k) {
    const View *v = &k->out[0];
    const RankShare *s = &k->ranks;
    if (!s->gathered) return;
    long long columns = (long long)last_dim(v), width = 16 * s->each;
    if (k->family == FAMILY_ATTENTION) width = columns / s->units;
    if (k->family == FAMILY_QUANTIZE) width = s->each, columns = width * s->units;
    text_add(w->t, "\n%sGATHER(", w->indent), c_pointer(w->t, w->p, k, v);
    text_add(w->t, ", "), c_rows(w->t, w->p, &v->type);
    text_add(w->t, ", %s, %lld, %d, %lld", c_row_stride(w->p, v), columns, s->units, width);
    write_next(w, k), text_add(w->t, ");");
}

// A comment where the source changes.
static void write_source(Writer *w, const Kernel *k) {
    Text location = {0};
    text_add(&location, "%s", "");
    write_location(&location, k, w->in_loop);
    if (location.length && (!w->location || strcmp(w->location, location.data))) {
        text_add(w->t, "%s", w->indent);
        size_t comment = c_comment(w->t);
        text_append(w->t, location.data, location.length), c_comment_end(w->t, comment);
    }
    w->location = arena_strndup(w->p->arena, location.data, location.length);
    text_free(&location);
}

static void write_asked(Writer *w, const View *v) {
    if (v->base == BASE_SCALAR)
        text_add(w->t, "%lld", (long long)v->scalar);
    else
        text_add(w->t, "*("), c_pointer(w->t, w->p, NULL, v), text_add(w->t, ")");
}

// The caller gets the count too; a loop that would not stop within its room returns room + 1.
static void write_told(Writer *w, int symbol, const Region *loop) {
    int place = symbol - w->p->n_symbols;
    text_add(w->t, "%sif (s->data_dependent && thread == 0) s->data_dependent[%d] = symbols[%d]",
             w->indent, place, symbol);
    if (loop) {
        text_add(w->t, " + (symbols[%d] == ", symbol), c_dim(w->t, w->p, loop->extent);
        if (loop->most.base != BASE_NONE)
            text_add(w->t, " && symbols[%d] < ", symbol), write_asked(w, &loop->most);
        if (loop->condition.base != BASE_NONE)
            text_add(w->t, " && "), write_asked(w, &loop->condition);
        text_add(w->t, ")");
    }
    text_add(w->t, ";");
}

// symbols[2] = *(number)
static void write_decision(Writer *w, const Dim *symbol, const View *number) {
    int index = symbol_index(w->p, symbol);
    text_add(w->t, "%ssymbols[%d] = ", w->indent, index), write_asked(w, number);
    text_add(w->t, ";\n"), write_told(w, index, NULL);
    // The caller is told of more than there is room for; what follows uses no more.
    text_add(w->t, "\n%sif (symbols[%d] > %lld) symbols[%d] = %lld;", w->indent, index,
             (long long)symbol->value, index, (long long)symbol->value);
}

// FOR_EACH_SLICE(20, rows)
//     matmul_bf16_192x320(slices.range, rows, input_layernorm, w->layer[layer].qkv, qkv); FOR_EACH_ATTENTION_SLICE(9, rows)
//     attention_9x3x64(slices.range, s, thread, rows, s->slot, s->position, qkv, keys, values, a);
static void write_slice_loop(Writer *w, const Kernel *k) {
    const bool attention = k->family == FAMILY_ATTENTION;
    text_add(w->t, "%s%s(", w->indent, attention ? "FOR_EACH_ATTENTION_SLICE" : "FOR_EACH_SLICE"),
        c_dim(w->t, w->p, k->share.count);
    text_add(w->t, ", "), c_rows(w->t, w->p, &k->out[0].type), text_add(w->t, ")");
}

// FOR_EACH_FINISHED_TILE(20, 2, 0, rows), of attention FOR_EACH_FINISHED_HEAD(15, rows): the pieces
// that a part completes
static void write_tile_loop(Writer *w, const Kernel *k) {
    text_add(w->t, "%s    ", w->indent);
    if (k->family == FAMILY_ATTENTION)
        text_add(w->t, "FOR_EACH_FINISHED_HEAD(%d, ", k->tiles.first);
    else
        text_add(w->t, "FOR_EACH_FINISHED_TILE("), c_dim(w->t, w->p, k->share.count),
            text_add(w->t, ", %d, %d, ", k->tiles.columns / 16, k->tiles.first);
    c_rows(w->t, w->p, &k->out[0].type), text_add(w->t, ") {\n");
}

static void write_fused_call(Writer *w, const Kernel *k, const char *indent, int site) {
    const KernelFunction *f = &w->p->functions[k->function];
    const Parameters ps = parameters_of(w->p, k);
    text_add(w->t, "%s%s", indent, f->name), write_arguments(w->t, &ps, f->body);
    text_add(w->t, ";\n%sLAP(%d);\n", indent, site);
}

static bool same_tiles(const Kernel *a, const Kernel *b) {
    return a->first_tile == b->first_tile && a->n_tiles == b->n_tiles;
}

// Kernels of the same pieces, one after the other
static void write_fused_calls(Writer *w, const Kernel *maker) {
    const char *around = arena_printf(w->p->arena, "%s        ", w->indent),
               *within = arena_printf(w->p->arena, "%s    ", around);
    Kernel *const *k = w->p->kernels + maker->position;
    for (int i = 1; i <= maker->n_fused; i++) {
        bool every = k[i]->n_tiles == maker->tiles.count;
        if (!every && (i == 1 || !same_tiles(k[i - 1], k[i])))
            text_add(w->t, "%sif (TILE_IN(%d, %d)) {\n", around, k[i]->first_tile, k[i]->n_tiles);
        write_fused_call(w, k[i], every ? around : within, w->site + i);
        if (!every && (i == maker->n_fused || !same_tiles(k[i], k[i + 1])))
            text_add(w->t, "%s}\n", around);
    }
}

// FOR_EACH_SLICE(20, rows) {
//     matmul_bf16_192x320(slices.range, rows, input_layernorm, w->layer[layer].qkv, qkv);
//     LAP(2);
//     FOR_EACH_FINISHED_TILE(20, 2, 0, rows) {
//         if (TILE_IN(0, 6)) {
//             rotary_32(TILE_RANGE(0, 1), rows, qkv, w->c_table, w->s_table, s->position, qkv);
//             LAP(3);
//         }
//     }
// }
static void write_fused_kernel(Writer *w, const Kernel *k) {
    const KernelFunction *f = &w->p->functions[k->function];
    const Parameters ps = parameters_of(w->p, k);
    write_slice_loop(w, k);
    text_add(w->t, " {\n%s    %s", w->indent, f->name), write_arguments(w->t, &ps, f->body);
    text_add(w->t, ";\n%s    LAP(%d);\n", w->indent, w->site);
    write_tile_loop(w, k), write_fused_calls(w, k);
    text_add(w->t, "%s    }\n%s}\n", w->indent, w->indent);
}

// A product that stays with the heads of its rank is called for queries, keys and values.
static void write_function_call(Writer *w, const Kernel *k) {
    const KernelFunction *f = &w->p->functions[k->function];
    const Parameters ps = parameters_of(w->p, k);
    bool by_heads = k->family == FAMILY_MATMUL && k->ranks.n_parts;
    for (int i = 0; i == 0 || (by_heads && i < k->ranks.n_parts); i++) {
        if (by_heads) ps.list[RANGE_PARAMETER].argument = c_head_panels(w->p, k, &k->ranks.part[i]);
        if (k->dynamic) write_slice_loop(w, k), text_add(w->t, "\n    ");
        text_add(w->t, "%s%s", w->indent, f->name), write_arguments(w->t, &ps, f->body);
        text_add(w->t, ";\n");
    }
}

// FOR_EACH_SEQUENCE {
//     const int rows = sequence.rows;
//     cache_append_key_12x32(SEQUENCE_RANGE(12), rows, qkv + sequence.row * 1152 + 384, keys + sequence.key * 32); }
static void write_call_per_sequence(Writer *w, const Kernel *k) {
    const char *around = w->indent;
    Text call = {0}, *t = w->t;
    w->indent = arena_printf(w->p->arena, "%s    ", around), w->t = &call;
    write_function_call(w, k);
    text_add(t, "%sFOR_EACH_SEQUENCE {\n", around);
    if (has_word(call.data, "rows")) text_add(t, "%sconst int rows = sequence.rows;\n", w->indent);
    text_add(t, "%s%s}\n", call.data, around);
    w->indent = around, w->t = t;
    text_free(&call);
}

// Returns true if the product's result changed while it was computed.
static bool is_turned(const Program *p, const Kernel *k) {
    for (int i = 1; i <= k->n_fused; i++) {
        const View *y = &p->kernels[k->position + i]->out[0];
        if (y->base == BASE_BUFFER && y->buffer == k->out[0].buffer) return true;
    }
    return false;
}

static void write_call(Writer *w, const Kernel *k) {
    if (k->barrier_decode && k->barrier_prefill)
        text_add(w->t, "%sBARRIER();\n", w->indent);
    else if (k->barrier_prefill)
        text_add(w->t, "%sif (many) BARRIER();\n", w->indent);
    else if (k->barrier_decode)
        text_add(w->t, "%sif (!many) BARRIER();\n", w->indent);
    if (!k->fused_into) write_source(w, k);
    if (k->per_sequence)
        write_call_per_sequence(w, k);
    else if (k->n_fused)
        write_fused_kernel(w, k);
    else if (!k->fused_into)
        write_function_call(w, k);
    text_add(w->t, "%sDONE(%d);", w->indent, w->site++);
    write_gather(w, k);
    if (k->defines) {
        text_add(w->t, "\n%sBARRIER();\n", w->indent);
        write_decision(w, k->defines, &k->out[k->n_out - 1]);
    }
    for (int i = k->n_out - 1; i >= 0; i--)
        if (!is_turned(w->p, k)) write_record(w, k, i);
    text_add(w->t, "\n");
}

static void write_loop(Writer *w) {
    const Loop *loop = &w->p->loop;
    text_add(w->t, "    for (int layer = 0; layer < %d; layer++) {\n", loop->iterations);
    w->indent = "        ", w->in_loop = true;
    for (int j = 0; j < loop->period; j++) {
        if (loop->missing && j == loop->period - loop->missing)
            text_add(w->t, "        if (layer == %d) break;\n", loop->iterations - 1);
        write_call(w, w->p->kernels[loop->first + j]);
    }
    w->indent = "    ", w->in_loop = false;
    text_add(w->t, "    }\n");
}

// ----------------------------------------------------------------------------------------- regions
static void indent(Writer *w, int by) {
    w->depth += by;
    w->indent = arena_printf(w->p->arena, "%*s", 4 * (w->depth + 1), "");
}

//     for (symbols[1] = 0; symbols[1] < (int)s->symbols[0]; symbols[1]++) {
//         BARRIER();
//         if (!*(condition)) break;
static void open_loop(Writer *w, const Region *r) {
    int counter = symbol_index(w->p, r->counter);
    text_add(w->t, "%sfor (symbols[%d] = 0; symbols[%d] < ", w->indent, counter, counter),
        c_dim(w->t, w->p, r->extent);
    text_add(w->t, "; symbols[%d]++) {\n", counter);
    indent(w, 1);
    text_add(w->t, "%sBARRIER();\n", w->indent);
    if (r->most.base != BASE_NONE) {
        text_add(w->t, "%sif (symbols[%d] >= ", w->indent, counter), write_asked(w, &r->most);
        text_add(w->t, ") break;\n");
    }
    if (r->condition.base == BASE_NONE) return;
    text_add(w->t, "%sif (!", w->indent), write_asked(w, &r->condition),
        text_add(w->t, ") break;\n");
}

static void open_if(Writer *w, const Region *r) {
    text_add(w->t, "%sBARRIER();\n%sif (", w->indent, w->indent), write_asked(w, &r->condition),
        text_add(w->t, ") {\n");
    indent(w, 1);
}

static void close_region(Writer *w, const Region *r) {
    indent(w, -1);
    text_add(w->t, "%s}\n%sBARRIER();\n", w->indent, w->indent);
    int length = r->is_loop ? symbol_index(w->p, r->length) : -1;
    if (length < w->p->n_symbols) return;
    text_add(w->t, "%ssymbols[%d] = symbols[%d];\n", w->indent, length,
             symbol_index(w->p, r->counter));
    write_told(w, length, r), text_add(w->t, "\n");
}

// What ends before a kernel, the inner ones first, then what begins.
static void cross_regions(Writer *w, int kernel) {
    const Program *p = w->p;
    for (int i = p->n_regions; i-- > 0;)
        if (p->regions[i].end == kernel) close_region(w, &p->regions[i]);
    for (int i = 0; i < p->n_regions; i++) {
        const Region *r = &p->regions[i];
        if (r->first == kernel)
            r->is_loop ? open_loop(w, r) : open_if(w, r);
        else if (!r->is_loop && r->middle == kernel && kernel < r->end)
            indent(w, -1), text_add(w->t, "%s} else {\n", w->indent), indent(w, 1);
    }
}

// Counters of loops and data-dependent sizes belong to each thread; they follow the sizes of the
// inputs.
static void write_own_symbols(Text *t, const Program *p) {
    if (!p->n_counters && !p->n_data_dependent) return;
    text_add(t, "    int64_t symbols[%d] = {0};\n",
             p->n_symbols + p->n_data_dependent + p->n_counters);
    text_add(t, "    burin_step own = *s;\n");
    if (p->n_symbols)
        text_add(t, "    if (s->symbols) memcpy(symbols, s->symbols, %d * sizeof *symbols);\n",
                 p->n_symbols);
    text_add(t, "    own.symbols = symbols, s = &own;\n");
}

// The kernels in order of emission; a loop's kernels once.
int call_sites(const Program *p, const Kernel **list) {
    int n = 0;
    const Loop *loop = &p->loop;
    int again = loop->first + loop->period,
        end = loop->first + loop->period * loop->iterations - loop->missing;
    for (int i = 0; i < p->n_kernels; i++) {
        if (loop->iterations && i >= again && i < end) continue;
        if (list) list[n] = p->kernels[i];
        n++;
    }
    return n;
}

static void write_calls(Text *t, const Program *p, int first_site) {
    const Loop *loop = &p->loop;
    int end = loop->first + loop->period * loop->iterations - loop->missing;
    Writer w = {.t = t, .p = p, .indent = "    ", .site = first_site};
    text_add(t, "\n");
    for (int i = 0; i < p->n_kernels; i++) {
        cross_regions(&w, i);
        if (loop->iterations && i == loop->first) {
            write_loop(&w);
            i = end - 1;
        } else {
            write_call(&w, p->kernels[i]);
        }
    }
    cross_regions(&w, p->n_kernels);
}

// Of what `lines` name
static void write_locals(Text *t, const Program *p, const char *lines) {
    bool many = has_word(lines, "many"), rows = many || has_word(lines, "rows"),
         logit_rows = has_word(lines, "logit_rows");
    if (has_word(lines, "w"))
        text_add(t, "    const struct %s_weights *w = (const void *)", p->name),
            text_add(t, p->weights_offset ? "(s->weights + %llu);\n" : "s->weights;\n",
                     (unsigned long long)p->weights_offset);
    if (p->encoder && has_word(lines, "encoder"))
        text_add(t, "    const struct %s_weights *encoder = (const void *)s->weights;\n",
                 p->encoder->name);
    write_own_symbols(t, p);
    if (rows || logit_rows)
        text_add(t, "    const int %s%s%s;\n", rows ? "rows = s->rows" : "",
                 rows && logit_rows ? ", " : "", logit_rows ? "logit_rows = s->n_logit_rows" : "");
    if (many) text_add(t, "    const bool many = rows > 1;\n");
    if (has_word(lines, "local"))
        text_add(t, "    unsigned char *local = s->local + (size_t)thread * %llu;\n",
                 (unsigned long long)p->plan.local_bytes);
}

enum { MOST_INLINE = 40 };  // calls of a step that clang gets whole

void write_forward(Text *t, const Program *p, int first_site) {
    bool encodes = *p->prefix;
    Text lines = {0};
    if (p->dynamic_sizes) write_buffer_offsets(t, p);
    text_add(t, "// One thread's part of %s.\n",
             encodes ? "the encoder's pass over a sequence" : "a step");
    text_add(t, "%svoid %s(const burin_step *s, int thread) {\n",
             call_sites(p, NULL) > MOST_INLINE ? "LONG_STEP " : "", encodes ? "ENCODE" : "FORWARD");
    if (p->dynamic_sizes)
        text_add(&lines, "    size_t offset[%d];\n    %sbuffer_offsets(s->symbols, offset);\n",
                 p->n_buffers + 1, p->prefix);
    write_buffers(&lines, p);
    write_guards(&lines, p, true);
    write_calls(&lines, p, first_site);
    write_guards(&lines, p, false);
    write_locals(t, p, lines.data);
    text_add(t, "%s}\n", lines.data);
    text_free(&lines);
}
