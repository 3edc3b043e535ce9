// The scaling of a GGUF's rotary embedding, as config.json's rope_scaling:
//
//   llama.rope.scaling.type = "yarn", .factor = 4, .original_context_length = 4096
//       -> {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 4096}
//   rope_freqs.weight [d/2], the divisor of each frequency (LLaMA 3)
//       -> {"rope_type": "longrope", "short_factor": [...], "long_factor": [...], "attention_factor": 1}
//   rope_factors_short.weight and rope_factors_long.weight (Phi-3)
//       -> the same with both, and the attention factor of the metadata
#include <inttypes.h>
#include <math.h>
#include <stdnoreturn.h>
#include <string.h>

#include "frontend/checkpoint/gguf/gguf.h"
#include "frontend/checkpoint/gguf/table.h"

typedef struct {
    const Gguf *gguf;
    const char *architecture;
    int64_t pairs;
    unsigned changes;
} Rotary;

bool gguf_is_rotary_table(const GgufTensor *t) { return !strncmp(t->name, "rope_f", 6); }

static const char *key_of(const Rotary *r, const char *end) {
    return arena_printf(r->gguf->arena, "%s.rope.%s", r->architecture, end);
}

static double number(const Rotary *r, const char *end, double standard) {
    gguf_float(r->gguf, key_of(r, end), &standard);
    return standard;
}

// A table of f32, one for each pair of a head, as a list, times `factor`; NULL when the file has
// none.
static json_t *table(const Rotary *r, const char *name, double factor) {
    const GgufTensor *t = gguf_tensor(r->gguf, name);
    if (!t) return NULL;
    uint64_t at = t->part->data + t->offset, size = t->part->file->size, n = (uint64_t)r->pairs;
    if (t->rank != 1 || t->type != GGUF_TENSOR_F32 || t->dims[0] != n || at > size ||
        n * 4 > size - at)
        file_fatal(r->gguf->file,
                   "the table %s must be %" PRId64 " numbers in F32, one for each pair of a head",
                   name, r->pairs);
    json_t *list = json_array();
    for (uint64_t i = 0; i < n; i++) {
        float one;
        memcpy(&one, t->part->file->data + at + i * 4, sizeof one);
        if (!(one > 0) || isinf(one))
            file_fatal(r->gguf->file, "number %" PRIu64 " of the table %s is no factor", i, name);
        json_array_append_new(list, json_real(factor * (double)one));
    }
    return list;
}

static json_t *by_factors(const Rotary *r, json_t *near, json_t *far) {
    return json_pack("{s:s, s:o, s:o, s:f}", "rope_type", "longrope", "short_factor", near,
                     "long_factor", far, "attention_factor", number(r, "scaling.attn_factor", 1));
}

// `factor`: divides all frequencies beside
static json_t *by_tables(const Rotary *r, double factor) {
    json_t *all = table(r, "rope_freqs.weight", factor),
           *near = table(r, "rope_factors_short.weight", factor),
           *far = table(r, "rope_factors_long.weight", factor);
    if (!all && !near && !far) return NULL;
    if (all ? near || far : !near || !far)
        file_fatal(r->gguf->file,
                   "tables of rotary scaling must be rope_freqs, or rope_factors_short and "
                   "rope_factors_long");
    return by_factors(r, all ? all : near, all ? json_copy(all) : far);
}

// One factor for all frequencies; values are scaled too if the file has a value factor.
static json_t *linear(const Rotary *r, double factor) {
    double part = number(r, "scaling.attn_factor", 1);
    if (part == 1)
        return factor == 1 ? NULL
                           : json_pack("{s:s, s:f}", "rope_type", "linear", "factor", factor);
    json_t *all = json_array();
    for (int64_t i = 0; i < r->pairs; i++) json_array_append_new(all, json_real(factor));
    return by_factors(r, all, json_copy(all));
}

// llama.cpp stretches DeepSeek's scores by scalings of its own where the file does not say how
// much.
static noreturn void refuse_unstretched(const Rotary *r) {
    file_fatal(
        r->gguf->file,
        "metadata \"%s\" is missing beside a rotary scaling\nhint: take the model's safetensors",
        key_of(r, "scaling.yarn_log_multiplier"));
}

// mscale_all_dim; mscale is 1, or equal to it. Some files store a tenth of it.
static void set_stretch(const Rotary *r, json_t *scaling) {
    double multiplier = number(r, "scaling.yarn_log_multiplier", 0);
    if (multiplier == 0) {
        if (r->changes & (GGUF_STRETCH_TENTH | GGUF_STRETCHES_TENTH)) refuse_unstretched(r);
        return;
    }
    if (!(r->changes & (GGUF_STRETCH | GGUF_STRETCH_TENTH | GGUF_STRETCHES_TENTH)))
        file_fatal(r->gguf->file,
                   "metadata \"%s\" is not supported\nhint: take the model's safetensors",
                   key_of(r, "scaling.yarn_log_multiplier"));
    double all = r->changes & GGUF_STRETCH ? multiplier : 10 * multiplier;
    if (r->changes & GGUF_STRETCH_TENTH && fabs(all - 1) > 1e-6)
        file_fatal(r->gguf->file,
                   "metadata \"%s\" is %g, which burin does not compute for this architecture",
                   key_of(r, "scaling.yarn_log_multiplier"), multiplier);
    json_object_set_new(scaling, "mscale", json_real(r->changes & GGUF_STRETCHES_TENTH ? all : 1));
    json_object_set_new(scaling, "mscale_all_dim", json_real(all));
}

// Between the slowed frequencies and the unchanged ones, the ramp covers the whole difference.
static void check_mixture(const Rotary *r) {
    static const char *const keys[] = {"scaling.yarn_ext_factor", "scaling.yarn_attn_factor"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        double value = number(r, keys[i], 1);
        if (value != 1 && !(i == 0 && value < 0))
            file_fatal(r->gguf->file,
                       "metadata \"%s\" is %g, burin computes YaRN with 1\nhint: take the model's "
                       "safetensors",
                       key_of(r, keys[i]), value);
    }
}

// Converters omit defaults: beta_fast 32, beta_slow 1, and the attention factor implied by the
// factor.
static json_t *yarn(const Rotary *r, double factor) {
    int64_t context = 0;
    double part = number(r, "scaling.attn_factor", 1);
    json_t *scaling = json_pack("{s:s, s:f, s:f, s:f}", "rope_type", "yarn", "factor", factor,
                                "beta_fast", number(r, "scaling.yarn_beta_fast", 32), "beta_slow",
                                number(r, "scaling.yarn_beta_slow", 1));
    set_stretch(r, scaling);
    if (gguf_int(r->gguf, key_of(r, "scaling.original_context_length"), &context) && context > 0)
        json_object_set_new(scaling, "original_max_position_embeddings", json_integer(context));
    if (part != 1)
        json_object_set_new(scaling, "attention_factor",
                            json_real(part * (factor > 1 ? 0.1 * log(factor) + 1 : 1)));
    return scaling;
}

// llama.cpp scales the layers with windows alone then; of the model nothing is known.
static void check_no_scaling(const Rotary *r, double factor) {
    int64_t window = 0;
    const GgufValue *v = gguf_find(
        r->gguf, arena_printf(r->gguf->arena, "%s.attention.sliding_window", r->architecture));
    if (v && !v->is_array) gguf_int(r->gguf, v->key, &window);
    if (window > 0 && factor != 0 && factor != 1)
        file_fatal(r->gguf->file,
                   "metadata \"%s\" is \"none\" beside a factor of %g, which of layers with "
                   "windows is no formula that burin knows"
                   "\nhint: take the model's safetensors",
                   key_of(r, "scaling.type"), factor);
}

json_t *gguf_rotary_scaling(const Gguf *g, const char *architecture, int64_t pairs,
                            unsigned changes) {
    Rotary r = {g, architecture, pairs, changes};
    const char *type = "linear";
    double factor = number(&r, "scaling.factor", number(&r, "scale_linear", 0));
    gguf_string(g, key_of(&r, "scaling.type"), &type);
    if (!strcmp(type, "none")) check_no_scaling(&r, factor);
    if (factor == 0 || !strcmp(type, "none")) factor = 1;
    check_mixture(&r);
    json_t *tables = by_tables(&r, strcmp(type, "yarn") ? factor : 1);
    bool linearly =
        !strcmp(type, "none") || !strcmp(type, "linear") || (tables && !strcmp(type, "longrope"));
    if (linearly && factor != 1 && changes & (GGUF_STRETCH_TENTH | GGUF_STRETCHES_TENTH))
        refuse_unstretched(&r);
    if (linearly && factor > 0) return tables ? tables : linear(&r, factor);
    if (!tables && !strcmp(type, "yarn") && factor > 0) return yarn(&r, factor);
    json_decref(tables);
    file_fatal(g->file,
               "rotary scaling \"%s\"%s of a GGUF is not supported yet\nhint: take the model's "
               "safetensors",
               type, tables ? " with a table" : "");
}
