// The passes over the exports in ../shared/data/onnx/exports: the numbers of attentions, norms and
// rotary embeddings were counted in the architectures, by hand. None is missed, and none of their
// parts is left.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "frontend/onnx.h"
#include "passes/pass.h"
#include "unit.h"

#define EXPORTS "../shared/data/onnx/exports/"

typedef struct Case {
    const char *name;
    bool text;  // also a decoder of tokens, with a cache of its own
    int attention, norms, rotary;
} Case;

static const Case CASES[] = {
    // two layers: 2 norms each and a last one; BLOOM has one after its embeddings
    {"bert-optimum-enc", false, 2, 5, 0},
    {"bloom-optimum-nocache", true, 2, 6, 0},
    {"bloom-torch-dynamo", true, 2, 6, 0},
    {"gpt2-optimum-nocache", true, 2, 5, 0},
    {"gpt2-optimum-past", true, 2, 5, 0},
    {"gpt2-torch-dynamo", true, 2, 5, 0},
    {"llama-optimum-nocache", true, 2, 5, 4},  // queries and keys turn
    {"llama-optimum-past", true, 2, 5, 4},
    {"llama-torch-dynamo", true, 2, 5, 4},
    {"t5-optimum-s2s-encoder", false, 2, 5, 0},
    {"t5-optimum-s2s-decoder", false, 4, 7, 0},  // self and cross attention, 3 norms a layer
    {"t5-optimum-s2s-decoder-with-past", false, 4, 7, 0},
    {"vit-optimum-enc", false, 2, 5, 0},
    {"whisper-optimum-s2s-encoder", false, 2, 5, 0},
    {"whisper-optimum-s2s-decoder", false, 4, 7, 0},
    {"whisper-optimum-s2s-decoder-with-past", false, 4, 7, 0},
};

static const OnnxDim DIMS[] = {{"batch_size", 1, 1, NULL},
                               {"num_channels", 3, 3, NULL},
                               {"height", 32, 32, NULL},
                               {"width", 32, 32, NULL},
                               {"sequence_length", 1, 128, NULL},
                               {"past_sequence_length", 1, 128, NULL},
                               {"encoder_sequence_length", 1, 128, NULL},
                               {"decoder_sequence_length", 1, 128, NULL},
                               {"past_decoder_sequence_length", 1, 128, NULL}};

static int occurrences(const char *text, const char *part) {
    int n = 0;
    for (const char *p = text; (p = strstr(p, part)); p += strlen(part)) n++;
    return n;
}

static void fused_as_counted(const Case *c, Arena *arena, Module *m) {
    PassContext passes = {
        .arena = arena, .module = m, .max_rows = 16, .stop_after = group_last(GROUP_fuse)};
    passes_run(m, &passes);
    Text t = {0};
    graph_print(&t, m->graphs[0]);
    int norms = occurrences(t.data, " = layer_normalization(") +
                occurrences(t.data, " = rms_normalization(") +
                occurrences(t.data, " = skip_layer_normalization(") +
                occurrences(t.data, " = skip_rms_normalization(");
    bool right = occurrences(t.data, " = attention(") == c->attention && norms == c->norms &&
                 occurrences(t.data, " = rotary_embedding(") == c->rotary;
    static const char *const parts[] = {"softmax(", "erf(", "pow(", "sqrt(", "reduce_mean("};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        right &= !occurrences(t.data, parts[i]);
    for (const FusionSite *s = passes.sites; s; s = s->next) right &= !s->missed;
    if (!right) printf("# %s\n", c->name);
    CHECK(right);
    text_free(&t);
}

static bool is_here(const Case *c, char *path, size_t size) {
    snprintf(path, size, EXPORTS "%s/model.onnx", c->name);
    if (!access(path, R_OK)) return true;
    printf("# SKIP %s is not here\n", path);
    return false;
}

static const OnnxOptions OPTIONS = {.dims = DIMS, .n_dims = sizeof DIMS / sizeof *DIMS};

static void networks_fuse_completely(void) {
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char path[256];
        if (!is_here(&CASES[i], path, sizeof path)) continue;
        Arena *arena = arena_new();
        fused_as_counted(&CASES[i], arena, onnx_load(arena, path, &OPTIONS));
        arena_free(arena);
    }
}

static void decoders_fuse_completely(void) {
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char path[256];
        if (!CASES[i].text || !is_here(&CASES[i], path, sizeof path)) continue;
        Arena *arena = arena_new();
        Module *m = onnx_load_text(arena, path, &OPTIONS, NULL);
        CHECK(m != NULL);
        if (m) fused_as_counted(&CASES[i], arena, m);
        arena_free(arena);
    }
}

// From a cache-less file and from one with a cache: rows, states of both kinds a layer, and no
// integer op but lookups of tokens and positions.
static void decoders_become_incremental(void) {
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char path[256];
        if (!CASES[i].text || !is_here(&CASES[i], path, sizeof path)) continue;
        Arena *arena = arena_new();
        Module *m = onnx_load_text(arena, path, &OPTIONS, NULL);
        PassContext passes = {.arena = arena,
                              .module = m,
                              .max_rows = 16,
                              .context = 100,
                              .stop_after = group_last(GROUP_incremental)};
        passes_run(m, &passes);
        Text t = {0};
        graph_print(&t, m->graphs[0]);
        CHECK(occurrences(t.data, "= state {kind=\"key\"") == 2);
        CHECK(occurrences(t.data, "causal=1") == 2);
        CHECK(occurrences(t.data, "= iota") == 0 && occurrences(t.data, "= where(") == 0 &&
              occurrences(t.data, ": i64[") == 0);
        text_free(&t);
        arena_free(arena);
    }
}

SUITE(exports) {
    TEST(networks_fuse_completely);
    TEST(decoders_fuse_completely);
    TEST(decoders_become_incremental);
}
