// GGUF files with many tensors, and with names that look like others'.
#include <stdlib.h>
#include <unistd.h>

#include "frontend/checkpoint/reader.h"
#include "tests/tools/bytes.h"
#include "unit.h"

static void begin_mixtral(uint64_t tensors) {
    const char *const keys[] = {"embedding_length",     "feed_forward_length", "block_count",
                                "attention.head_count", "context_length",      "expert_count",
                                "expert_used_count"};
    begin(3, tensors, 9);
    put_string("general.architecture", "llama");
    for (int i = 0; i < 7; i++) {
        char name[64];
        snprintf(name, sizeof name, "llama.%s", keys[i]);
        put_u32(name, i < 2 ? 8 : 2);
    }
    key("llama.attention.layer_norm_rms_epsilon", F32);
    f32(1e-6f);
}

static const Checkpoint *open_it(Arena *arena) {
    char path[] = "/tmp/burin-gguf-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) perror(path);
    write_file(path, out.data, out.length);
    text_free(&out);
    const Checkpoint *c = checkpoint_open(arena, path, "dsl");
    close(fd);
    unlink(path);
    return c;
}

// Old files: a tensor for each expert. Quadratic search would take minutes.
static void reads_a_hundred_thousand_tensors(void) {
    enum { EXPERTS = 100000 };
    Arena *arena = arena_new();
    begin_mixtral(EXPERTS);
    for (int i = 0; i < EXPERTS; i++) {
        char name[64];
        snprintf(name, sizeof name, "blk.%d.ffn_up.%d.weight", i % 2, i / 2);
        describe((Described){name, 1, 8, 0, (uint64_t)i * 32});
    }
    zeros(-out.length & 31);
    for (int i = 0; i < EXPERTS * 8; i++) f32((float)(i / 8));
    const Checkpoint *c = open_it(arena);
    const Tensor *t = checkpoint_find(c, "model.layers.1.block_sparse_moe.experts.49999.w3.weight");
    CHECK(c->n_tensors == EXPERTS && t && *(const float *)t->data == 99999);
    arena_free(arena);
}

// No number of a layer or of an expert: names stay, so that the builder of the model sees them.
static void takes_numbers_without_signs(void) {
    static const char *const names[] = {
        "blk.-1.ffn_norm.weight", "blk.+1.ffn_norm.weight",        "blk. 1.ffn_norm.weight",
        "blk.01.ffn_norm.weight", "blk.0.ffn_up.-1.weight",        "blk.0.ffn_up.+3.weight",
        "blk.0.ffn_up. 3.weight", "blk.0.ffn_up.03.weight",        "blk.0.ffn_up.3",
        "blk.0.ffn_up.3x.weight", "blk.0.ffn_up..weight",          "blk.4294967296.ffn_norm.weight",
        "blk.-1.ffn_up.1.weight", "blk.0.ffn_up.9999999999.weight"};
    enum { N = sizeof names / sizeof *names };
    Arena *arena = arena_new();
    begin_mixtral(N);
    for (int i = 0; i < N; i++) describe((Described){names[i], 1, 8, 0, (uint64_t)i * 32});
    zeros(-out.length & 31);
    zeros(N * 32);
    const Checkpoint *c = open_it(arena);
    for (int i = 0; i < N; i++) CHECK(i < c->n_tensors && !strcmp(c->tensors[i]->name, names[i]));
    arena_free(arena);
}

SUITE(gguf) {
    TEST(reads_a_hundred_thousand_tensors);
    TEST(takes_numbers_without_signs);
}
