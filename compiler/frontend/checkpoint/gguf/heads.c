// A GGUF's attention settings in config.json's words: size of heads, rotated part, frequency, and
// factor of scores.
//
//   llama.rope.dimension_count = 32 of 128      -> partial_rotary_factor 0.25
//   hunyuan_vl.rope.scaling.alpha = 1000        -> rope_theta, times 1000^(d / (d - 2))
#include <inttypes.h>
#include <math.h>
#include <stdnoreturn.h>
#include <string.h>

#include "frontend/checkpoint/gguf/reading.h"

void gguf_set_default(json_t *config, const char *key, json_t *value) {
    if (json_object_get(config, key))
        json_decref(value);
    else
        json_object_set_new(config, key, value);
}

double gguf_config_number(const GgufReading *r, const char *key) {
    return json_number_value(json_object_get(r->config, key));
}

int64_t gguf_head_dim(const GgufReading *r) {
    double heads = gguf_config_number(r, "num_attention_heads"),
           stated = gguf_config_number(r, "head_dim");
    double d = stated > 0 ? stated : heads > 0 ? gguf_config_number(r, "hidden_size") / heads : 0;
    if (d > INT32_MAX || d < 0)
        file_fatal(r->gguf->file, "a head of this model would have %g numbers", d);
    return (int64_t)d;
}

static bool has_key(GgufPairs keys, const char *name) {
    for (int i = 0; i < keys.n; i++)
        if (!strcmp(keys.items[i].name, name)) return true;
    return false;
}

static bool has_gguf_key(GgufPairs keys, const char *key) {
    for (int i = 0; i < keys.n; i++)
        if (!strcmp(keys.items[i].gguf, key)) return true;
    return false;
}

static noreturn void refuse_scaling(const GgufReading *r) {
    file_fatal(r->gguf->file,
               "the file scales the rotary embedding of \"%s\", which burin does not compute for "
               "this architecture"
               "\nhint: take the model's safetensors",
               r->name);
}

static noreturn void refuse_partial_rotary(const GgufReading *r, const char *key, int64_t rotary,
                                           int64_t d) {
    file_fatal(r->gguf->file,
               "metadata \"%s\" is %" PRId64 ", but a head has %" PRId64
               ": partial rotary is not supported here",
               key, rotary, d);
}

// How much of a head is rotated: a part where the description knows of parts, else all.
static void set_rotary_part(const GgufReading *r) {
    static const char *const parts[] = {"partial_rotary_factor", "rotary_pct"};
    const char *key = gguf_key_of(r, "rope.dimension_count");
    int64_t rotary, d = gguf_head_dim(r);
    bool stated = gguf_int(r->gguf, key, &rotary);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!has_key(r->table->further, parts[i])) continue;
        if (!stated) rotary = d;
        json_object_set_new(r->config, parts[i], json_real(d > 0 ? (double)rotary / (double)d : 1));
        return;
    }
    if (stated && rotary != d) refuse_partial_rotary(r, key, rotary, d);
}

static void set_scaling(const GgufReading *r) {
    int64_t rotary = gguf_head_dim(r);
    gguf_int(r->gguf, gguf_key_of(r, "rope.dimension_count"), &rotary);
    json_t *scaling = gguf_rotary_scaling(r->gguf, r->name, rotary / 2, r->table->changes);
    if (scaling && has_gguf_key(r->table->fixed, "rope_scaling")) refuse_scaling(r);
    if (scaling) json_object_set_new(r->config, "rope_scaling", scaling);
    set_rotary_part(r);
}

// Gemma 2 and 3 divide scores by the root of the head's size, their largest (46 and 62 layers) by
// that of hidden_size / heads.
static void set_query_scale(const GgufReading *r) {
    bool largest = gguf_config_number(r, "num_hidden_layers") == 46 ||
                   gguf_config_number(r, "num_hidden_layers") == 62;
    double scalar = largest ? gguf_config_number(r, "hidden_size") /
                                  gguf_config_number(r, "num_attention_heads")
                            : (double)gguf_head_dim(r);
    json_object_set_new(r->config, "query_pre_attn_scalar", json_integer((json_int_t)scalar));
}

// Scores are divided by the root of the head's size unless the file sets a factor.
static void set_score_scale(const GgufReading *r) {
    if (gguf_config_number(r, "attention_multiplier") == 0)
        json_object_set_new(r->config, "attention_multiplier",
                            json_real(1 / sqrt((double)gguf_head_dim(r))));
}

// Models that also see have positions in several axes, which are one number for words; their heads
// turn by halves.
static void set_sections(const GgufReading *r) {
    const GgufValue *v = gguf_find(r->gguf, gguf_key_of(r, "rope.dimension_sections"));
    uint64_t n = 0;
    const int32_t *of = v && v->is_array ? gguf_ints(r->gguf, v->key, &n) : NULL;
    if (of && n > 1 && of[0] > 0 && of[1] > 0)
        json_object_set_new(r->config, "rotary_by_halves", json_true());
}

// Hunyuan's: the base is larger, so that the slowest pair turns `alpha` times slower.
static void set_stretched_base(const GgufReading *r) {
    double alpha = 0, d = (double)gguf_head_dim(r);
    if (!gguf_float(r->gguf, gguf_key_of(r, "rope.scaling.alpha"), &alpha) || alpha <= 0 || d <= 2)
        return;
    json_object_set_new(r->config, "rope_theta",
                        json_real(gguf_config_number(r, "rope_theta") * pow(alpha, d / (d - 2))));
}

static void set_rotary(const GgufReading *r) {
    if (has_key(r->table->further, "num_key_value_heads"))
        gguf_set_default(r->config, "num_key_value_heads",
                         json_integer((json_int_t)gguf_config_number(r, "num_attention_heads")));
    gguf_set_default(r->config, "rope_theta", json_real(1e4));
    set_stretched_base(r);
    set_sections(r);
    if (has_key(r->table->further, "head_dim"))
        gguf_set_default(r->config, "head_dim", json_integer(gguf_head_dim(r)));
    set_scaling(r);
}

// Descriptions whose heads turn whole, and unscaled
static void check_plain_rotary(const GgufReading *r) {
    const char *key = gguf_key_of(r, "rope.dimension_count");
    int64_t rotary, heads = 0, width = 0, d = 0;
    gguf_int(r->gguf, gguf_key_of(r, "embedding_length"), &width);
    gguf_int(r->gguf, gguf_key_of(r, "attention.head_count"), &heads);
    if (!gguf_int(r->gguf, gguf_key_of(r, "attention.key_length"), &d))
        d = heads > 0 ? width / heads : 0;
    if (gguf_int(r->gguf, key, &rotary) && rotary != d) refuse_partial_rotary(r, key, rotary, d);
    json_t *scaling = gguf_rotary_scaling(r->gguf, r->name, d / 2, r->table->changes);
    if (scaling) refuse_scaling(r);
}

// The two parts of a latent attention's heads: rotated and unrotated
static void set_latent_head(const GgufReading *r) {
    double head = gguf_config_number(r, "qk_head_dim"),
           turned = gguf_config_number(r, "qk_rope_head_dim");
    if (head > turned)
        json_object_set_new(r->config, "qk_nope_head_dim",
                            json_integer((json_int_t)(head - turned)));
}

void gguf_set_heads(const GgufReading *r) {
    if (has_key(r->table->further, "rope_theta"))
        set_rotary(r);
    else if (has_gguf_key(r->table->further, "rope.freq_base"))
        check_plain_rotary(r);
    if (r->table->changes & GGUF_QUERY_SCALE) set_query_scale(r);
    if (r->table->changes & GGUF_SCORE_SCALE) set_score_scale(r);
    set_latent_head(r);
}
