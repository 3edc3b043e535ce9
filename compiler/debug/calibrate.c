// The model is compiled for this CPU, its weights, rows and caches as floats, and reads the text in
// windows with its trace on. Of each value that products read, squares are summed column by column;
// a matrix weighs the errors of its columns by their means (ir/encode.h). Sums are those of one
// thread, in order: the same on every machine.
#include "debug/calibrate.h"

#include <stdlib.h>
#include <string.h>

#include "debug/compiled_model.h"
#include "engine/threads.h"
#include "ir/operands.h"
#include "text/prompt.h"
#include "toolchain/process.h"
#include "util/files.h"
#include "util/hash.h"

enum { WINDOW = 512, MOST_TOKENS = 4096, FEWEST_TOKENS = 32 };

// For a value's columns, or those of all values that a matrix multiplies
typedef struct Columns {
    int64_t n;
    double *sum, rows;
} Columns;

typedef struct Calibration {
    Build *build;       // of floats
    Columns **of_node;  // by node->mark; NULL: no product reads it
} Calibration;

static Columns *columns_new(Arena *arena, int64_t n) {
    Columns *c = ARENA_NEW(arena, Columns);
    *c = (Columns){.n = n, .sum = ARENA_ARRAY(arena, double, n)};
    return c;
}

static void record(void *context, const char *value, int layer, const float *data, int rows,
                   int columns, int row_stride) {
    Calibration *c = context;
    const Node *n = compiled_model_node(c->build->program, value, layer);
    Columns *sums = n ? c->of_node[n->mark] : NULL;
    if (!sums || sums->n != columns) return;
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < columns; i++) {
            double x = data[(size_t)r * (size_t)row_stride + (size_t)i];
            sums->sum[i] += x * x;
        }
    sums->rows += rows;
}

// -------------------------------------------------------------------------------------- the floats
static Build build_floats(const Build *b) {
    Options *o = ARENA_NEW(b->arena, Options);
    *o = *b->options;
    o->quant = o->calibrate = o->target = o->with = o->dump_ir = NULL;
    o->requantize = o->require_fusion = false;
    o->activations = o->kv = "f32", o->mcpu = "native", o->max_ram = 0;
    Build floats = build_new(b->arena, o);
    floats.kind = OUTPUT_SHARED;
    build_open(&floats);
    build_load(&floats);
    build_passes(&floats);
    build_lower(&floats);
    return floats;
}

static void watch_products(Calibration *c) {
    const Graph *g = c->build->program->graph;
    int nodes = 0;
    EACH_NODE(n, g) n->mark = nodes++;
    c->of_node = ARENA_ARRAY(c->build->arena, Columns *, nodes);
    EACH_NODE(n, g) {
        int64_t width;
        const Type *x = is_packed_product(n) ? &n->in[0]->type : NULL;
        if (!x || !dim_is_const(x->dim[x->rank - 1], &width) || c->of_node[n->in[0]->mark])
            continue;
        c->of_node[n->in[0]->mark] = columns_new(c->build->arena, width);
    }
}

// ---------------------------------------------------------------------------------------- the text
typedef struct TokenList {
    int32_t *id;
    int n;
} TokenList;

typedef struct {
    const char *option, *path;
    int most, least;   // tokens that are used, that are needed
    const char *hint;  // where there are fewer
} TextFile;

enum { BYTES_A_TOKEN = 256 };  // more than any text has: of a long file the beginning

static TokenList read_tokens(const Build *b, const TextFile *f) {
    size_t bytes;
    if (!graph_has_rows(b->module->graphs[0]) || b->module->n_graphs > 1)
        diag_fatal(NO_LOC, "--%s reads a text with a decoder, and %s is none", f->option, b->name);
    if (!b->tokenizer)
        diag_fatal(NO_LOC,
                   "--%s reads a text, and this model has no tokenizer\nhint: --tokenizer=FILE",
                   f->option);
    char *text = read_text_file(f->path, &bytes);
    if (bytes > (size_t)f->most * BYTES_A_TOKEN) bytes = (size_t)f->most * BYTES_A_TOKEN;
    const burin_encoding e = {
        .text = text, .bytes = bytes, .special = true, .plain = true, .whole = true};
    burin_tokens tokens = burin_encode_text(b->tokenizer->blob, &e);
    int32_t n = tokens.n < f->most ? tokens.n : f->most,
            *ids = ARENA_ARRAY(b->arena, int32_t, n + 1);
    memcpy(ids, tokens.id, (size_t)n * sizeof *ids);
    free(tokens.id);
    free(text);
    if (n < f->least)
        diag_fatal(NO_LOC, "%s has %d tokens, --%s needs at least %d\nhint: %s", f->path, n,
                   f->option, f->least, f->hint);
    return (TokenList){ids, n};
}

void check_perplexity_text(const Build *b) {
    int64_t context = b->passes.context, window = b->options->window;
    if (window > context)
        diag_fatal(NO_LOC,
                   "--window=%lld is longer than the context of %lld positions\nhint: a smaller "
                   "window, or --ctx=%lld",
                   (long long)window, (long long)context, (long long)window);
    if (!window) window = context < 256 ? context : 256;
    read_tokens(b, &(TextFile){"perplexity", b->options->perplexity, (int)window, (int)window,
                               "a longer text, or a smaller --window"});
}

// ----------------------------------------------------------------------------------------- reading
typedef struct Reader {
    const Build *build;
    ForwardFunction *forward;
    burin_step step;
} Reader;

static Reader reader_open(const Build *b, const CompiledModel *compiled, burin_trace *trace) {
    static burin_barrier barrier = {.threads = 1};
    const Program *p = b->program;
    int rows = (int)p->max_rows;
    uint64_t logits = (uint64_t)rows * (uint64_t)build_vocabulary(b) * sizeof(float);
    Reader r = {.build = b, .forward = compiled->forward};
    r.step = (burin_step){.weights = compiled->weights,
                          .arena = compiled_model_memory(p->plan.row_bytes * (uint64_t)rows, 0),
                          .local = compiled_model_memory(p->plan.local_bytes, 0),
                          .state = compiled_model_memory(p->plan.slot_bytes, 0),
                          .scratch = compiled_model_scratch(p->plan.scratch_bytes),
                          .logits = (float *)(void *)compiled_model_memory(logits, 0),
                          .slot = ARENA_ARRAY(b->arena, int32_t, rows),
                          .max_rows = rows,
                          .threads = 1,
                          .barrier = &barrier,
                          .trace = trace};
    return r;
}

static void reader_close(Reader *r) {
    compiled_model_free_scratch(r->step.scratch, r->build->program->plan.scratch_bytes);
    free(r->step.arena), free(r->step.local), free(r->step.state), free(r->step.logits);
}

// n tokens of a window, the first at a position of it
static void read_chunk(Reader *r, const int32_t *tokens, int position, int n) {
    int32_t *positions = ARENA_ARRAY(r->build->arena, int32_t, n),
            *logit_rows = ARENA_ARRAY(r->build->arena, int32_t, n);
    for (int i = 0; i < n; i++) positions[i] = position + i, logit_rows[i] = i;
    r->step.token = tokens, r->step.position = positions, r->step.logit_rows = logit_rows;
    r->step.rows = r->step.n_logit_rows = n;
    r->forward(&r->step, 0);
}

static void read_text(Reader *r, TokenList tokens) {
    int window = r->build->passes.context < WINDOW ? (int)r->build->passes.context : WINDOW;
    for (int at = 0, n; at < tokens.n; at += n) {
        int position = at % window;
        n = r->step.max_rows < window - position ? r->step.max_rows : window - position;
        if (n > tokens.n - at) n = tokens.n - at;
        progress("reading the text of --calibrate", (double)at / tokens.n);
        read_chunk(r, tokens.id + at, position, n);
    }
    progress(NULL, 1);
}

static void run_calibration(Calibration *c, TokenList tokens) {
    Build *b = c->build;
    burin_trace trace = {.context = c, .record = record};
    compiled_model_for_here(b,
                            "--calibrate runs the model on this CPU, for which burin has no code");
    const char *folder = work_folder(b->arena);
    build_sources(b, folder);
    CompiledModel compiled = compiled_model_open(b, folder);
    Reader r = reader_open(b, &compiled, &trace);
    read_text(&r, tokens);
    reader_close(&r);
    compiled_model_close(&compiled, b);
    remove_tree(folder);
    diag_keep(folder);
}

// -------------------------------------------------------------------------------------- importance
// By the tensor's name: the sums of all values that it is multiplied by
static Map columns_of_tensors(const Calibration *c) {
    Map map;
    map_init(&map, c->build->arena);
    EACH_NODE(n, c->build->program->graph) {
        const Node *pack = is_packed_product(n) ? n->in[PRODUCT_WEIGHTS] : NULL;
        const Columns *of = pack ? c->of_node[n->in[0]->mark] : NULL;
        if (!of || !(of->rows > 0) || pack->op != OP_pack) continue;
        const char *last = NULL;  // experts are slices of one tensor
        for (int i = 0; i < pack->n_in; i++) {
            const char *name = pack->in[i]->value ? pack->in[i]->value->name : NULL;
            if (!name || name == last) continue;
            Columns *sum = map_get(&map, last = name);
            if (!sum) map_put(&map, name, sum = columns_new(c->build->arena, of->n));
            if (sum->n != of->n) continue;
            for (int64_t j = 0; j < of->n; j++) sum->sum[j] += of->sum[j];
            sum->rows += of->rows;
        }
    }
    return map;
}

// Means over their mean; columns that were always 0 keep a small weight, for other texts.
static const Importance *importance_of(Arena *arena, const Columns *c) {
    Importance *m = ARENA_NEW(arena, Importance);
    float *column = ARENA_ARRAY(arena, float, c->n);
    double all = 0;
    for (int64_t i = 0; i < c->n; i++) all += c->sum[i];
    for (int64_t i = 0; i < c->n; i++)
        column[i] = all > 0 ? (float)(c->sum[i] * (double)c->n / all + 0x1p-10) : 1;
    *m = (Importance){c->n, column};
    return m;
}

static void weigh_constants(Build *b, const Map *columns) {
    for (int i = 0; i < b->module->n_graphs; i++)
        EACH_NODE(n, b->module->graphs[i]) {
            const Columns *c = n->op == OP_constant && n->value && n->value->name
                                   ? map_get(columns, n->value->name)
                                   : NULL;
            if (!c) continue;
            Tensor *t = ARENA_NEW(b->arena, Tensor);
            *t = *n->value;
            t->importance = importance_of(b->arena, c);
            n->value = t;
        }
}

void calibrate(Build *b) {
    const char *path = b->options->calibrate;
    TokenList tokens = read_tokens(b, &(TextFile){"calibrate", path, MOST_TOKENS, FEWEST_TOKENS,
                                                  "some pages of text like the model's own"});
    Build floats = build_floats(b);
    Calibration c = {.build = &floats};
    watch_products(&c);
    run_calibration(&c, tokens);
    Map columns = columns_of_tensors(&c);
    weigh_constants(b, &columns);
    b->calibrated = hash_bytes(tokens.id, (size_t)tokens.n * sizeof *tokens.id, 1);
}
