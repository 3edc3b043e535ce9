// The emitted C: a document. Facts of the model, one function for each distinct kernel with the IR
// value and the source it comes from, then forward().
#include <string.h>

#include "codegen/cost.h"
#include "codegen/parameters.h"
#include "util/files.h"

static void write_bytes(Text *t, uint64_t bytes) {
    if (bytes < 1u << 20)
        text_add(t, "%llu bytes", (unsigned long long)bytes);
    else
        text_add(t, "%llu bytes (%.1f MB)", (unsigned long long)bytes, (double)bytes / 1048576);
}

static void write_title(Text *t, const Program *p) {
    size_t comment = c_comment(t);
    text_add(t,
             "%s: emitted by burin from %s. Compiled once for each CPU, with -DBURIN_CPU=x86_64_v3 "
             "or the like.",
             p->name, p->module->description ? path_name(p->module->description) : "");
    c_comment_end(t, comment);
    text_add(t, "//\n");
}

static void write_facts(Text *t, const Program *p) {
    const Plan *plan = &p->plan;
    uint64_t rows = (uint64_t)p->max_rows;
    text_add(t, "//   kernels  : %d distinct, %d in a step", p->n_functions, p->n_kernels);
    if (p->loop.iterations)
        text_add(t, "; kernels %d to %d are a loop over %d layers", p->loop.first,
                 p->loop.first + p->loop.period - 1, p->loop.iterations);
    text_add(t, "\n//   barriers : %d in a step of one row, %d in a step of more\n",
             plan->barriers_decode, plan->barriers_prefill);
    text_add(t, "//   arena    : ");
    write_bytes(t, plan->row_bytes * rows);
    text_add(t, " for %llu rows; at least ", (unsigned long long)rows);
    write_bytes(t, plan->lower_bound * rows);
    text_add(t, " live at once\n//   local    : ");
    write_bytes(t, plan->local_bytes);
    text_add(t, " a thread\n//   state    : ");
    write_bytes(t, plan->slot_bytes);
    text_add(t, " a slot, of which KV cache ");
    write_bytes(t, plan->cache_bytes);
    text_add(t, "\n//   weights  : ");
    write_bytes(t, plan->weight_bytes);
    text_add(t, ", packed\n");
}

static void write_operand_types(Text *t, const Kernel *k) {
    const char *separator = "";
    for (int i = 0; i < k->n_in; i++) {
        if (k->in[i].base == BASE_SCALAR || k->in[i].base == BASE_NONE) continue;
        text_add(t, "%s", separator);
        separator = ", ";
        type_print(t, &k->in[i].type);
    }
    text_add(t, " -> ");
    type_print(t, &k->out[0].type);
}

// Returns true if CPUs that differ only in integer products share the function.
static bool is_shared(const Program *p, const KernelFunction *f) {
    return program_has_integers(p) && !computes_integers(f->first);
}

// // %qkv: f32[R, 192], bf16[320, 192] -> f32[R, 320]     llama.burin:12:7 model.layers.*.self_attn
void emit_function(const Program *p, const KernelFunction *f, Text *t) {
    size_t comments = t->length, comment = c_comment(t);
    text_add(t, "%%%s: ", kernel_value(f->first, 0));
    write_operand_types(t, f->first);
    const Loc at = f->first->loc;
    if (at.scope || *loc_text(at)) {
        text_add(t, "     ");
        write_location(t, f->first, loop_of(p, f->first) != NULL);
    }
    const Expr *e =
        f->first->copies
            ? NULL
            : kernel_expr(f->first, f->first->family == FAMILY_NEST ? "expr" : "epilogue");
    c_comment_end(t, comment);
    if (e) {
        comment = c_comment(t);
        expr_print(t, e);
        c_comment_end(t, comment);
    }
    const Parameters ps = parameters_of(p, f->first);
    text_add(t, "%s", f->before);
    write_signature(t, &ps, is_shared(p, f) ? "FLOAT_KERNEL" : "KERNEL", f->name, f->body);
    text_add(t, "%s}\n", f->body);
    wrap_lines(t, comments);
}

// Ranges of ranks: a thread's part of its rank's panels or heads, and the columns of the other
// ranks.
static void write_rank_macros(Text *t) {
    text_add(t,
             "#define PANELS(count, each, rows) burin_panels_of(s, thread, count, each, rows)\n");
    text_add(t, "#define NEXT(weights, count, bytes) burin_own_bytes(s, weights, count, bytes)\n");
    text_add(t, "#define BLOCKS(count, each) burin_own_range(s, thread, count, each)\n");
    text_add(t, "#define HEADS(heads, shared) burin_heads_of(s, thread, heads, shared)\n");
    text_add(t,
             "#define HEADS_PANELS(...) burin_panels_of_heads(s, thread, "
             "&(burin_head_columns){__VA_ARGS__})\n");
    text_add(t,
             "#define TILES(heads, shared, rows) burin_tiles_of(s, thread, heads, shared, rows)\n");
    text_add(t,
             "#define GATHER(y, ...) burin_gather(s, thread, &(burin_columns){(unsigned char "
             "*)(y), sizeof *(y), __VA_ARGS__})\n");
}

// Kernels that go text by text, of several in a step
static void write_sequence_macros(Text *t) {
    text_add(t,
             "#define FOR_EACH_SEQUENCE \\\n    for (burin_sequence sequence = {.index = -1}; "
             "burin_next_sequence(s, thread, "
             "&sequence);)\n");
    text_add(t,
             "#define SEQUENCE_RANGE(count) burin_sequence_range(s, thread, &sequence, count)\n");
    text_add(t,
             "#define SEQUENCE_ROW_RANGE(count) burin_sequence_row_range(s, thread, &sequence, "
             "count)\n");
}

static bool fuses_tiles(const Program *p) {
    for (int i = 0; i < p->n_kernels; i++)
        if (p->kernels[i]->n_fused) return true;
    return false;
}

// Kernels fused into this one, tile by tile.
static void write_tile_macros(Text *t) {
    text_add(t,
             "#define FOR_EACH_FINISHED_TILE(...) \\\n    for (burin_tiles tiles = "
             "burin_finished_tiles(slices.range, __VA_ARGS__); "
             "burin_next_tile(s, &tiles);)\n");
    text_add(t,
             "#define FOR_EACH_FINISHED_HEAD(...) \\\n    for (burin_tiles tiles = "
             "burin_finished_heads(slices.range, __VA_ARGS__); "
             "burin_next_tile(s, &tiles);)\n");
    text_add(t, "#define TILE_IN(first, count) burin_tile_in(&tiles, first, count)\n");
    text_add(t, "#define TILE_RANGE(first, each) burin_tile_range(&tiles, first, each)\n");
    text_add(t, "#define LAP(kernel) burin_lap(s, thread, kernel)\n");
}

// Names of the functions that CPUs share
static void write_shared_names(Text *t, const Program *p, const char *model) {
    enum { COLUMNS = 120, AROUND = sizeof "#define (...) FLOATS(__)(__VA_ARGS__)" };
    for (int i = 0; i < p->n_functions; i++) {
        const char *name = p->functions[i].name;
        if (p->functions[i].of_encoder || !is_shared(p, &p->functions[i])) continue;
        bool wide = 2 * strlen(name) + strlen(model) + AROUND > COLUMNS;
        text_add(t, "#define %s(...)%s FLOATS(%s_%s_)(__VA_ARGS__)\n", name, wide ? " \\\n   " : "",
                 model, name);
    }
}

static void write_macros(Text *t, const Program *p) {
    if (p->over_ranks) text_add(t, "#define BURIN_MPI 1\n");
    text_add(t, "#include \"%s_plan.h\"\n\n", p->name);
    text_add(t, "#define JOINED(name, cpu) name##cpu\n#define JOIN(name, cpu) JOINED(name, cpu)\n");
    text_add(t, "#define FORWARD JOIN(%s_forward_, BURIN_CPU)\n", p->name);
    if (p->encoder) text_add(t, "#define ENCODE JOIN(%s_forward_, BURIN_CPU)\n", p->encoder->name);
    text_add(t, "#define EXP JOIN(%s_exp_, BURIN_CPU)\n", p->name);
    text_add(t,
             "#define THREAD_RANGE(count) burin_thread_range(s, thread, count)\n#define "
             "ROW_RANGE(count) burin_row_range(s, "
             "thread, count)\n");
    text_add(t,
             "#define FOR_EACH_SLICE(...) \\\n    for (burin_slices slices = "
             "burin_matmul_slices(s, thread, __VA_ARGS__); "
             "burin_next_slice(s, thread, &slices);)\n");
    text_add(t,
             "#define FOR_EACH_ATTENTION_SLICE(...) \\\n    for (burin_slices slices = "
             "burin_attention_slices(s, thread, "
             "__VA_ARGS__); "
             "burin_next_slice(s, thread, &slices);)\n");
    text_add(t, "#define ALL(count) (burin_range){0, count}\n");
    if (fuses_tiles(p) || (p->encoder && fuses_tiles(p->encoder))) write_tile_macros(t);
    if (p->batches_sequences) write_sequence_macros(t);
    text_add(t, "#define STATE(offset) ((void *)(s->state + (offset)))\n");
    text_add(t,
             "#define BARRIER() burin_step_barrier(s, thread)\n#define DONE(kernel) burin_mark(s, "
             "thread, kernel)\n");
    if (p->over_ranks) write_rank_macros(t);
    text_add(t, "#define RECORD(...) BURIN_RECORD(s, thread, __VA_ARGS__)\n");
    if (program_has_integers(p)) text_add(t, "#define FLOATS(name) JOIN(name, BURIN_FLOATS)\n");
    if (p->encoder) write_shared_names(t, p->encoder, p->name);
    write_shared_names(t, p, p->name);
    text_add(t, "\n");
    if (p->encoder) text_add(t, "void ENCODE(const burin_step *s, int thread);\n");
    text_add(
        t,
        "void FORWARD(const burin_step *s, int thread);\nvoid EXP(float *values, size_t n);\n\n");
    text_add(t, "void EXP(float *values, size_t n) { burin_exp_values(values, n); }\n");
}

static void write_graph(Text *t, const Program *p, int first_site) {
    for (int i = 0; i < p->n_functions; i++)
        if (!p->functions[i].of_encoder) {
            text_add(t, "\n");
            emit_function(p, &p->functions[i], t);
        }
    text_add(t, "\n");
    write_forward(t, p, first_site);
}

void emit_program(const Program *p, Text *source) {
    size_t begin = source->length;
    write_title(source, p);
    if (p->encoder) {
        text_add(source, "// The encoder, which runs once for a sequence\n");
        write_facts(source, p->encoder);
    }
    if (p->encoder) text_add(source, "//\n// The decoder\n");
    write_facts(source, p);
    write_macros(source, p);
    if (p->encoder) write_graph(source, p->encoder, call_sites(p, NULL));
    write_graph(source, p, 0);
    wrap_lines(source, begin);
}
