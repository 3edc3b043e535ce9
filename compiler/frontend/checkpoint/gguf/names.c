// Names of a GGUF's tensors in Hugging Face's words, by the pairs of its table.
#include <string.h>

#include "frontend/checkpoint/gguf/gguf.h"
#include "frontend/checkpoint/gguf/table.h"
#include "util/text.h"

// "blk.3.attn_q" with "blk.N.attn_q": true, and 3.
bool gguf_matches(const char *pattern, const char *name, size_t length, unsigned *layer) {
    const char *n = strstr(pattern, ".N.");
    size_t head = n ? (size_t)(n + 1 - pattern) : 0;
    if (!n) return strlen(pattern) == length && !memcmp(pattern, name, length);
    const char *rest =
        length <= head || memcmp(pattern, name, head) ? NULL : text_number(name + head, layer);
    return rest && strlen(n + 2) == length - (size_t)(rest - name) &&
           !memcmp(n + 2, rest, strlen(n + 2));
}

// "model.layers.N.self_attn.q_proj" of layer 3 followed by ".weight"; a name that ends in "=" is
// complete.
const char *gguf_with_layer(Arena *arena, const char *pattern, unsigned layer, const char *end) {
    const char *n = strstr(pattern, ".N."), *exact = strchr(pattern, '=');
    if (exact)
        pattern = arena_strndup(arena, pattern, (size_t)(exact - pattern)),
        n = strstr(pattern, ".N."), end = "";
    if (!n) return arena_printf(arena, "%s%s", pattern, end);
    return arena_printf(arena, "%.*s.%u.%s%s", (int)(n - pattern), pattern, layer, n + 3, end);
}

// Endings after the name of a layer: its weights, or bounds of its rows and results
static bool is_part(const char *end) {
    static const char *const parts[] = {".weight",    ".bias",       ".input_min",
                                        ".input_max", ".output_min", ".output_max"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(end, parts[i])) return true;
    return false;
}

// A name is that of a pair, then ".weight" or ".bias", or nothing, where the pair's is all of the
// name.
static const char *name_of_pair(const Gguf *g, const GgufTable *t, const char *gguf) {
    const char *dot = strrchr(gguf, '.');
    unsigned layer = 0;
    bool ends = dot && is_part(dot);
    size_t length = ends ? (size_t)(dot - gguf) : strlen(gguf);
    for (int i = 0; i < t->tensors.n; i++) {
        const GgufPair *p = &t->tensors.items[i];
        if ((ends || strchr(p->name, '=')) && gguf_matches(p->gguf, gguf, length, &layer) &&
            (!p->needs || gguf_tensor(g, p->needs)))
            return gguf_with_layer(g->arena, p->name, layer, ends ? dot : "");
    }
    return NULL;
}

// ".ffn_up.weight" of "blk.0.ffn_up.weight"; NULL of a tensor that is no layer's
const char *gguf_layer_of(const char *gguf, unsigned *layer) {
    return strncmp(gguf, "blk.", 4) ? NULL : text_number(gguf + 4, layer);
}

// Files of before 2024-04 have a tensor for each expert: "blk.0.ffn_up.3.weight" of
// "blk.0.ffn_up_exps.weight".
static const char *name_of_expert(const Gguf *g, const GgufTable *t, const char *gguf) {
    Arena *arena = g->arena;
    unsigned layer, expert;
    const char *part = gguf_layer_of(gguf, &layer);
    if (!part || strncmp(part, ".ffn_", 5)) return NULL;
    size_t length = strcspn(part + 1, ".") + 1;
    const char *end = part[length] ? text_number(part + length + 1, &expert) : NULL;
    if (!end || *end != '.') return NULL;
    const char *name =
        name_of_pair(g, t, arena_printf(arena, "blk.%u%.*s_exps%s", layer, (int)length, part, end));
    const char *e = name ? strstr(name, ".E.") : NULL;
    return e ? arena_printf(arena, "%.*s.%u.%s", (int)(e - name), name, expert, e + 3) : NULL;
}

const char *gguf_name_of(const Gguf *g, const GgufTable *t, const char *gguf) {
    const char *name = name_of_pair(g, t, gguf);
    if (!name) name = name_of_expert(g, t, gguf);
    return name ? name : gguf;
}
