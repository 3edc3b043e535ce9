// Metadata that changes numbers, and that an architecture's table does not read: such a file is of another formula.
#include <string.h>

#include "frontend/checkpoint/gguf.h"
#include "frontend/checkpoint/gguf_table.h"

static const struct {
    const char *key;
    double neutral;  // besides 0
} changing[] = {{"attention.scale", 0},          {"logit_scale", 1},
                {"residual_scale", 1},           {"embedding_scale", 1},
                {"attn_logit_softcapping", 0},   {"final_logit_softcapping", 0},
                {"attention.clamp_kqv", 0},      {"attention.temperature_scale", 0},
                {"router_logit_softcapping", 0}, {"attention.output_scale", 1},
                {"expert_weights_scale", 1}};

static bool reads(GgufPairs keys, const char *key) {
    for (int i = 0; i < keys.n; i++)
        if (!strcmp(keys.items[i].gguf, key)) return true;
    return false;
}

void gguf_check_unread(const Gguf *g, const GgufTable *t, const char *architecture) {
    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++) {
        const char *key = arena_printf(g->arena, "%s.%s", architecture, changing[i].key);
        const GgufValue *v = gguf_find(g, key);
        double value = 0;
        bool read = reads(t->needed, changing[i].key) || reads(t->further, changing[i].key);
        if (!v || read || v->is_array || (v->type != GGUF_F32 && v->type != GGUF_F64) || !gguf_float(g, key, &value)) continue;
        if (value == 0 || value == changing[i].neutral) continue;
        file_fatal(g->file,
                   "metadata \"%s\" is %g, which burin does not compute for this architecture"
                   "\nhint: take the model's safetensors",
                   key, value);
    }
}
