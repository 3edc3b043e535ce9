// Metadata that changes numbers, and that an architecture's table does not read: such a file is of another formula.
#include <stdnoreturn.h>
#include <string.h>

#include "frontend/checkpoint/gguf.h"
#include "frontend/checkpoint/gguf_table.h"
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

static void check_number(const Gguf *g, const char *key, unsigned right) {
    int64_t n = 0;
    if (gguf_int(g, key, &n) && n != 0 && n != right) refuse(g, key, (double)n);
}

// Numbers of which the architecture's description computes one alone; of how experts are judged softmax, unless its table says.
static void check_only(const Gguf *g, const GgufTable *t, const char *architecture) {
    for (int i = 0; i < t->only.n; i++) {
        unsigned right = 0;
        text_number(t->only.items[i].name, &right);
        check_number(g, arena_printf(g->arena, "%s.%s", architecture, t->only.items[i].gguf), right);
    }
    if (!reads(t->choices, "expert_gating_func") && !reads(t->only, "expert_gating_func"))
        check_number(g, arena_printf(g->arena, "%s.expert_gating_func", architecture), 1);
}

// A head that the table has no name for
static void check_head(const Gguf *g, const GgufTable *t) {
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        const char *name = g->tensors[i].name;
        if (!strncmp(name, "cls.", 4) && !strcmp(gguf_name_of(g, t, name), name))
            file_fatal(
                g->file,
                "tensor \"%s\" is of a head that gives texts labels or ranks, in a form that burin does not read for this"
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
    if (!v->is_array && gguf_float(g, key, &value) && value != 0 && value != neutral) refuse(g, key, value);
    for (uint64_t i = 0; of && i < n; i++)
        if (of[i] != 0 && of[i] != neutral) refuse(g, key, of[i]);
}

void gguf_check_unread(const Gguf *g, const GgufTable *t, const char *architecture) {
    check_only(g, t, architecture);
    check_head(g, t);
    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++) {
        const char *end = changing[i].key;
        if (!reads(t->needed, end) && !reads(t->further, end) && !reads(t->each, end))
            check_changing(g, arena_printf(g->arena, "%s.%s", architecture, end), changing[i].neutral);
    }
}
