// Metadata that changes numbers, and that an architecture's table does not read: such a file is of
// another formula.
#include <stdnoreturn.h>
#include <string.h>

#include "frontend/checkpoint/gguf/gguf.h"
#include "frontend/checkpoint/gguf/table.h"
#include "util/text.h"

static const struct {
    const char *key;
    double neutral;  // besides 0
} changing[] = {{"attention.scale", 0},          {"logit_scale", 1},
                {"residual_scale", 1},           {"embedding_scale", 1},
                {"attn_logit_softcapping", 0},   {"final_logit_softcapping", 0},
                {"attention.clamp_kqv", 0},      {"attention.temperature_scale", 0},
                {"router_logit_softcapping", 0}, {"attention.output_scale", 1},
                {"expert_weights_scale", 1},     {"swiglu_clamp_exp", 0},
                {"swiglu_clamp_shexp", 0},       {"attention.value_scale", 1},
                {"expert_group_scale", 0}};

static bool reads(GgufPairs keys, const char *key) {
    for (int i = 0; i < keys.n; i++)
        if (!strcmp(keys.items[i].gguf, key)) return true;
    return false;
}

static noreturn void refuse(const Gguf *g, const char *key, double value) {
    file_fatal(g->file,
               "metadata \"%s\" is %g, which burin does not compute for this architecture"
               "\nhint: take the model's safetensors",
               key, value);
}

const char *gguf_choice(const Gguf *g, const char *key, const char *words) {
    int64_t n = 0;
    if (!gguf_int(g, key, &n) || n == 0) return NULL;
    for (int64_t i = 1; n > 0 && *words; i++) {
        size_t length = strcspn(words, " ");
        if (i == n) return arena_strndup(g->arena, words, length);
        words += length + (words[length] == ' ');
    }
    refuse(g, key, (double)n);
}

// 0 counts as absent, except for booleans.
static void check_number(const Gguf *g, const char *key, unsigned right) {
    const GgufValue *v = gguf_find(g, key);
    int64_t n = 0;
    bool truth;
    uint64_t elements;
    if (!v) return;
    if (!v->is_array && v->type == GGUF_BOOL) {
        if (gguf_bool(g, key, &truth) && truth != (right != 0)) refuse(g, key, truth);
        return;
    }
    const int32_t *of = v->is_array ? gguf_ints(g, key, &elements) : NULL;
    for (uint64_t i = 0; of && i < elements; i++)
        if (of[i] != 0 && of[i] != (int64_t)right) refuse(g, key, of[i]);
    if (!of && gguf_int(g, key, &n) && n != 0 && n != right) refuse(g, key, (double)n);
}

// Numbers of which the architecture's description supports one; for expert scores softmax, unless
// its table has another.
static void check_only(const Gguf *g, const GgufTable *t, const char *architecture) {
    for (int i = 0; i < t->only.n; i++) {
        unsigned right = 0;
        text_number(t->only.items[i].name, &right);
        check_number(g, arena_printf(g->arena, "%s.%s", architecture, t->only.items[i].gguf),
                     right);
    }
    static const struct {
        const char *key;
        unsigned right;
    } usual[] = {
        {"expert_gating_func", 1}, {"classifier.pooling_type", 2}, {"expert_group_count", 1}};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (!reads(t->choices, usual[i].key) && !reads(t->only, usual[i].key) &&
            !reads(t->further, usual[i].key))
            check_number(g, arena_printf(g->arena, "%s.%s", architecture, usual[i].key),
                         usual[i].right);
}

static bool reads_any(const GgufTable *t, const char *key) {
    return reads(t->needed, key) || reads(t->further, key) || reads(t->each, key);
}

static int64_t whole(const Gguf *g, const char *architecture, const char *key) {
    const GgufValue *v = gguf_find(g, key = arena_printf(g->arena, "%s.%s", architecture, key));
    int64_t n = 0;
    if (v && !v->is_array) gguf_int(g, key, &n);
    return n;
}

// Heads of layers with a window turn as others do, unless the table reads how.
static void check_windows(const Gguf *g, const GgufTable *t, const char *architecture) {
    const char *theta = arena_printf(g->arena, "%s.rope.freq_base_swa", architecture),
               *turned = arena_printf(g->arena, "%s.rope.dimension_count_swa", architecture);
    double base = 1e4, own;
    int64_t heads = whole(g, architecture, "attention.head_count"),
            d = whole(g, architecture, "attention.key_length"), n;
    if (!reads_any(t, "attention.sliding_window") ||
        !whole(g, architecture, "attention.sliding_window"))
        return;
    gguf_float(g, arena_printf(g->arena, "%s.rope.freq_base", architecture), &base);
    if (!reads_any(t, "rope.freq_base_swa") && gguf_float(g, theta, &own) && own != base)
        refuse(g, theta, own);
    if (!d && heads) d = whole(g, architecture, "embedding_length") / heads;
    if (whole(g, architecture, "rope.dimension_count"))
        d = whole(g, architecture, "rope.dimension_count");
    if (!reads_any(t, "rope.dimension_count_swa") && gguf_int(g, turned, &n) && n != d)
        refuse(g, turned, (double)n);
}

// A head that the table has no name for
static void check_head(const Gguf *g, const GgufTable *t) {
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        const char *name = g->tensors[i].name;
        if (!strncmp(name, "cls.", 4) && !strcmp(gguf_name_of(g, t, name), name))
            file_fatal(g->file,
                       "tensor \"%s\" is of a head that gives texts labels or ranks, in a form "
                       "that burin does not read for this"
                       " architecture"
                       "\nhint: take the model's safetensors",
                       name);
    }
}

// A number, or one for each layer
static void check_changing(const Gguf *g, const char *key, double neutral) {
    const GgufValue *v = gguf_find(g, key);
    double value = 0;
    uint64_t n;
    if (!v || (v->type != GGUF_F32 && v->type != GGUF_F64)) return;
    const float *of = v->is_array && v->type == GGUF_F32 ? gguf_floats(g, key, &n) : NULL;
    if (!v->is_array && gguf_float(g, key, &value) && value != 0 && value != neutral)
        refuse(g, key, value);
    for (uint64_t i = 0; of && i < n; i++)
        if (of[i] != 0 && of[i] != neutral) refuse(g, key, of[i]);
}

// Sines and cosines are scaled in all layers, and scores of latent attention with them: not where
// some heads turn otherwise.
static void check_scaled_waves(const Gguf *g, const GgufTable *t, const char *architecture) {
    const char *key = arena_printf(g->arena, "%s.rope.scaling.attn_factor", architecture);
    double factor;
    bool apart = reads_any(t, "rope.freq_base_swa") || reads_any(t, "attention.kv_lora_rank");
    if (apart && gguf_float(g, key, &factor) && factor != 0 && factor != 1) refuse(g, key, factor);
}

void gguf_check_unread(const Gguf *g, const GgufTable *t, const char *architecture) {
    check_only(g, t, architecture);
    check_head(g, t);
    check_windows(g, t, architecture);
    check_scaled_waves(g, t, architecture);
    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++) {
        const char *end = changing[i].key;
        if (!reads_any(t, end))
            check_changing(g, arena_printf(g->arena, "%s.%s", architecture, end),
                           changing[i].neutral);
    }
}
