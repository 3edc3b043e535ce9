// burin plan: predicts a model over ranks before a build. A model's lowered program has the ranges
// of ranks; for a config.json alone, the shape of a LLaMA does.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "codegen/emit.h"
#include "ir/operands.h"
#include "lower/rank_cost.h"
#include "report/report.h"
#include "util/diag.h"
#include "util/text.h"

enum { PANEL = 16, MOST_COUNTS = 16 };
static const double INT8_ROW =
    44.0 / 128;  // bytes of a row of int8 (runtime/kernels/quantize.h) over those of its floats

// ------------------------------------------------------------------------------------ of a program
static bool is_product(const Kernel *k) {
    return k->family == FAMILY_MATMUL || k->family == FAMILY_EXPERTS;
}

static bool held_before(const Program *p, int kernel, const PackedWeight *w) {
    for (int i = 0; i < kernel; i++)
        if (is_product(p->kernels[i]) && p->kernels[i]->in[PRODUCT_WEIGHTS].weight == w)
            return true;
    return false;
}

static void add_kernel(RankModel *m, const Program *p, const Kernel *k, const StepSizes *sizes) {
    Cost c = kernel_cost(p, k, sizes);
    RankStep *s = &m->steps[m->n++];
    *s = (RankStep){.weight_bytes = c.weight_bytes, .ranks = k->ranks};
    if (k->family == FAMILY_ATTENTION) s->cache_bytes = c.bytes;
    if (k->ranks.gathered)
        s->columns = (double)dim_upper(k->out[0].type.dim[k->out[0].type.rank - 1]);
    if (k->family == FAMILY_QUANTIZE) s->columns *= INT8_ROW;
    if (!is_product(k) || held_before(p, k->position, k->in[PRODUCT_WEIGHTS].weight)) return;
    s->held_bytes = (double)k->in[PRODUCT_WEIGHTS].weight->bytes;
    m->whole_bytes -= s->held_bytes;
}

static RankModel model_of_program(const Build *b) {
    const Program *p = b->program;
    StepSizes sizes = step_of_one_row(b);
    RankModel m = {.steps = ARENA_ARRAY(b->arena, RankStep, p->n_kernels)};
    m.whole_bytes = (double)program_weight_bytes(p), m.own_memory = (double)program_arena_bytes(p);
    for (int i = 0; i < p->n_kernels; i++) {
        const Kernel *k = p->kernels[i];
        add_kernel(&m, p, k, &sizes);
        if (k->family != FAMILY_APPEND || !k->ranks.units || k->out[0].base != BASE_STATE) continue;
        m.shared_state += (double)k->out[0].state->bytes;
        m.heads = k->ranks;
    }
    m.own_memory += (double)p->plan.slot_bytes - m.shared_state;
    return m;
}

// A step's calls of a kernel of the text: one, or one in each layer
static int call_count(const Program *p, const Kernel *k) {
    int n = 0;
    for (int i = 0; i < p->n_kernels; i++) n += representative(p, i) == k->position;
    return n;
}

// matmul_bf16_192x320                heads 6, 2, 2       stays with its rank's heads
// attention_6x2x32                   heads 6             192 columns are gathered
static void print_share(const Program *p, const Kernel *k) {
    const RankShare *s = &k->ranks;
    Text units = {0}, then = {0};
    if (!s->units && !is_product(k)) return;
    if (!s->units)
        text_add(&units, "nothing");
    else if (k->family == FAMILY_ATTENTION)
        text_add(&units, "heads %d", s->units);
    else if (!s->n_parts)
        text_add(&units, k->family == FAMILY_QUANTIZE ? "%d blocks" : "%d panels",
                 s->units * s->each);
    else
        for (int i = 0; i < s->n_parts; i++)
            text_add(&units, i ? ", %d" : "heads %d", s->part[i].heads);
    if (s->gathered)
        text_add(&then, "%lld columns are gathered", (long long)last_dim(&k->out[0]));
    else
        text_add(&then, s->units ? "stays with its rank" : "computed whole by each rank");
    printf("%5d  %-36s  %-14s  %s\n", call_count(p, k), p->functions[k->function].name, units.data,
           then.data);
    text_free(&units), text_free(&then);
}

// What ranks share of each kernel of the text, and where they gather: -v
static void print_shares(Build *b, const Program *p) {
    const Kernel **sites = ARENA_ARRAY(b->arena, const Kernel *, p->n_kernels + 1);
    int n = call_sites(p, sites), gathers = 0;
    if (p->encoder) print_shares(b, p->encoder);
    printf("times  %-36s  %-14s  then\n", p->encoder ? "kernel of the decoder" : "kernel",
           "ranks share");
    for (int i = 0; i < n; i++) print_share(p, sites[i]);
    for (int i = 0; i < p->n_kernels; i++) gathers += p->kernels[i]->ranks.gathered;
    printf("%5d  gathers in a step\n\n", gathers);
}

// -------------------------------------------------------------------------------------- of a shape
typedef struct Shape {
    int64_t hidden, inner, layers, heads, kv_heads, width, vocabulary;
    double bytes;  // of a weight
    double input;  // bytes of a gathered row that a product reads, over those of floats
    int64_t context;
} Shape;

static int64_t number_in(const json_t *config, const char *path, const char *name, int64_t absent) {
    const json_t *v = json_object_get(config, name);
    if (json_is_integer(v) && json_integer_value(v) > 0 && json_integer_value(v) < INT32_MAX)
        return json_integer_value(v);
    if (absent) return absent;
    diag_fatal(NO_LOC,
               "%s: %s is missing\nhint: a shape is that of a LLaMA: hidden_size, "
               "intermediate_size, num_hidden_layers, "
               "num_attention_heads, vocab_size",
               path, name);
}

static const WeightFormat *format_of_shape(Arena *arena, const char *format) {
    const WeightFormat *f = weight_format_find(arena, format ? format : "bf16");
    if (!f)
        usage_error("--quant=%s: of a shape, one format of `burin formats`, f32, f16 or bf16",
                    format);
    return f;
}

static Shape read_shape(Arena *arena, const Options *o) {
    json_error_t error;
    json_t *config = json_load_file(o->model, 0, &error);
    if (!config) diag_fatal(NO_LOC, "%s:%d: %s", o->model, error.line, error.text);
    const WeightFormat *f = format_of_shape(arena, o->quant);
    Shape s = {.bytes = (double)f->panel_bytes / (PANEL * f->block),
               .context = o->context ? o->context : 4096};
    s.input = f->blocks ? INT8_ROW : 1;
    s.hidden = number_in(config, o->model, "hidden_size", 0),
    s.inner = number_in(config, o->model, "intermediate_size", 0);
    s.layers = number_in(config, o->model, "num_hidden_layers", 0);
    s.heads = number_in(config, o->model, "num_attention_heads", 0);
    s.kv_heads = number_in(config, o->model, "num_key_value_heads", s.heads);
    s.width = number_in(config, o->model, "head_dim", s.hidden / s.heads ? s.hidden / s.heads : 1);
    s.vocabulary = number_in(config, o->model, "vocab_size", 0);
    json_decref(config);
    return s;
}

static RankStep *add_product(RankModel *m, const Shape *s, int64_t depth, int64_t columns,
                             int64_t matrices) {
    double bytes = (double)depth * (double)(columns * matrices) * s->bytes;
    RankStep *step = &m->steps[m->n++];
    *step = (RankStep){.weight_bytes = bytes, .held_bytes = bytes, .columns = (double)columns};
    step->ranks = (RankShare){.units = (int)((columns + PANEL - 1) / PANEL), .gathered = true};
    return step;
}

// Queries, keys and values stay with their heads (lower/ranks.c).
static void add_attention(RankModel *m, const Shape *s, double cache_bytes) {
    const int heads = (int)s->heads, kv = (int)s->kv_heads, width = (int)s->width,
              from = heads * width;
    RankStep *step = add_product(m, s, s->hidden, (s->heads + 2 * s->kv_heads) * s->width, 1);
    step->columns = 0;
    step->ranks = (RankShare){
        heads, 1, 3, {{0, width, heads}, {from, width, kv}, {from + kv * width, width, kv}}, false};
    m->heads = (RankShare){heads, 1, 1, {{0, PANEL, kv}}, true};
    m->steps[m->n++] = (RankStep){
        .cache_bytes = cache_bytes, .ranks = m->heads, .columns = (double)from * s->input};
}

static RankModel model_of_shape(Arena *arena, const Shape *s) {
    RankModel m = {.steps = ARENA_ARRAY(arena, RankStep, 5 * s->layers + 1)};
    double cache = 2 * 4 * (double)(s->kv_heads * s->width) * (double)s->context;
    for (int64_t i = 0; i < s->layers; i++) {
        add_attention(&m, s, cache / 2);
        add_product(&m, s, s->heads * s->width, s->hidden, 1);
        add_product(&m, s, s->hidden, s->inner, 2)->columns *= s->input;
        add_product(&m, s, s->inner, s->hidden, 1);
    }
    add_product(&m, s, s->hidden, s->vocabulary, 1);
    m.whole_bytes = (double)(s->vocabulary * s->hidden) * s->bytes,
    m.shared_state = cache * (double)s->layers;
    return m;
}

// --------------------------------------------------------------------------------------- the table
static int read_counts(const char *text, int *counts) {
    int n = 0;
    for (const char *at = text; at && n < MOST_COUNTS; n++) {
        char *end;
        long count = strtol(at, &end, 10);
        if (end == at || count < 1 || count > 1024 || (*end && *end != ','))
            usage_error("--ranks=%s: expected numbers of ranks with commas, 1 to 1024", text);
        counts[n] = (int)count, at = *end ? end + 1 : NULL;
    }
    return n;
}

static void print_table(const RankModel *m, const Options *o, const Network *network, double rate) {
    int counts[MOST_COUNTS], n = read_counts(o->ranks ? o->ranks : "1,2,4,8", counts);
    double most = o->rank_memory ? (double)o->rank_memory : 0;
    printf("memory read at %.1f GB/s a machine, network %s: %.0f MB/s, %.0f us\n", rate / 1e9,
           network->name, network->bytes / 1e6, network->latency * 1e6);
    printf("%5s  %10s  %8s  %13s  %12s\n", "ranks", "tokens/s", "reading", "sent a token",
           "memory a rank");
    for (int i = 0; i < n; i++) {
        RankCost c = rank_cost(m, counts[i], network, rate);
        printf("%5d  %10.2f  %6.0f %%  %10.1f KB  %9.2f GB%s\n", counts[i], 1 / c.seconds,
               100 * c.reading / c.seconds, c.sent / 1e3, c.memory / 1e9,
               most && c.memory > most ? "  does not fit --memory" : "");
    }
}

int plan_ranks(Build *b, bool of_shape) {
    const Options *o = b->options;
    const Network *network = network_find(o->network ? o->network : "10G");
    if (!network) usage_error("--network=%s: expected 1G, 10G, 100G or local", o->network);
    Shape shape = {0};
    if (of_shape) shape = read_shape(b->arena, o);
    RankModel m = of_shape ? model_of_shape(b->arena, &shape) : model_of_program(b);
    double rate = o->read_rate ? (double)o->read_rate : measure_reading(b);
    if (rate <= 0)
        diag_fatal(
            NO_LOC,
            "the rate of this machine's memory cannot be measured\nhint: --read=20G gives it");
    if (o->verbose && !of_shape) print_shares(b, b->program);
    print_table(&m, o, network, rate);
    return 0;
}
