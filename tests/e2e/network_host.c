// A host of two networks: hosts vit.h and bert.h as burin emits them, runs both on given .npy
// files, and prints a hash of each. usage: network_host pixel_values.npy input_ids.npy
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bert.h"
#include "runtime/engine/hash.h"
#include "vit.h"

static int failures;
#define CHECK(condition) \
    if (!(condition)) printf("not ok - line %d: %s\n", __LINE__, #condition), failures++

static void print_hash(const float *states, size_t bytes, const float *pooled,
                       size_t pooled_bytes) {
    uint64_t hash = burin_hash_bytes(burin_hash_start, states, bytes);
    printf("%016llx\n", (unsigned long long)burin_hash_bytes(hash, pooled, pooled_bytes));
}

// The data after the 128 bytes of numpy's header.
static void read_values(const char *path, void *values, size_t bytes) {
    FILE *f = fopen(path, "rb");
    CHECK(f && !fseek(f, 128, SEEK_SET) && fread(values, 1, bytes, f) == bytes);
    if (f) fclose(f);
}

static void run_vit(const char *path) {
    static float pixels[3 * 32 * 32], states[17 * 64], pooled[64];
    int64_t dims[] = {3, 32, 32}, shapes[3], wrong[] = {3, 32, 33};
    int n;
    vit_state state;
    size_t bytes = vit_state_bytes(NULL);
    void *memory = aligned_alloc(vit_ALIGNMENT, bytes);
    read_values(path, pixels, sizeof pixels);
    CHECK(!strcmp(vit_inputs(&n)->name, "pixel_values") && n == 1);
    CHECK(!strcmp(vit_outputs(&n)[1].name, "pooler_output") && n == 2);
    CHECK(vit_shapes(dims, shapes) == 0 && shapes[0] == 17 && shapes[1] == 64 && shapes[2] == 64);
    CHECK(vit_init(&state, NULL, memory, bytes - 1) == vit_SMALL_MEMORY);
    CHECK(vit_run(&state, (const void *[]){pixels}, dims, (void *[]){states, pooled}) ==
          vit_NOT_OPEN);
    CHECK(vit_init(&state, NULL, memory, bytes) == 0);
    CHECK(vit_run(&state, (const void *[]){pixels}, wrong, (void *[]){states, pooled}) ==
          vit_BAD_SHAPE);
    CHECK(vit_run(&state, (const void *[]){pixels}, dims, (void *[]){states, pooled}) == 0);
    CHECK(vit_run(NULL, (const void *[]){pixels}, dims, (void *[]){states, pooled}) ==
          vit_BAD_ARGUMENT);
    CHECK(vit_run(&state, NULL, dims, (void *[]){states, pooled}) == vit_BAD_ARGUMENT);
    CHECK(vit_run(&state, (const void *[]){NULL}, dims, (void *[]){states, pooled}) ==
          vit_BAD_ARGUMENT);
    CHECK(vit_run(&state, (const void *[]){pixels}, NULL, (void *[]){states, pooled}) ==
          vit_BAD_ARGUMENT);
    CHECK(vit_run(&state, (const void *[]){pixels}, dims, NULL) == vit_BAD_ARGUMENT);
    CHECK(vit_run(&state, (const void *[]){pixels}, dims, (void *[]){states, NULL}) ==
          vit_BAD_ARGUMENT);
    CHECK(vit_run(&state, (const void *[]){(char *)pixels + 1}, dims, (void *[]){states, pooled}) ==
          vit_BAD_ALIGNMENT);
    CHECK(vit_shapes(NULL, shapes) == vit_BAD_ARGUMENT &&
          vit_shapes(dims, NULL) == vit_BAD_ARGUMENT);
    CHECK(vit_init(NULL, NULL, memory, bytes) == vit_BAD_ARGUMENT && vit_inputs(NULL) &&
          vit_outputs(NULL));
    vit_close(&state);
    free(memory);
    print_hash(states, sizeof states, pooled, sizeof pooled);
}

enum { TOKENS = 21, PADDED = 40, WIDTH = 64 };

typedef struct encoding {
    float states[PADDED * WIDTH], pooled[WIDTH];
} encoding;

// Padding: ids and types of anything, masked.
static int encode(bert_state *state, const int64_t *ids, int length, encoding *out) {
    int32_t tokens[PADDED], types[PADDED], mask[PADDED];
    int64_t dims[] = {length, length, length};
    for (int i = 0; i < length; i++) {
        tokens[i] = (int32_t)(i < TOKENS ? ids[i] : i * 7 % 320);
        types[i] = i >= TOKENS;
        mask[i] = i < TOKENS;
    }
    return bert_run(state, (const void *[]){tokens, types, mask}, dims,
                    (void *[]){out->states, out->pooled});
}

static void run_bert(const char *path) {
    static encoding alone, padded;
    int64_t ids[TOKENS], differ[] = {TOKENS, TOKENS, 9};
    static const int32_t zeros[PADDED];
    const int64_t longest[] = {PADDED, PADDED, PADDED};
    bert_options options = {.dims = longest, .threads = 2};
    size_t bytes = bert_state_bytes(&options);
    void *memory = aligned_alloc(bert_ALIGNMENT, bytes);
    bert_state state;
    read_values(path, ids, sizeof ids);
    CHECK(bytes < bert_state_bytes(NULL));
    CHECK(bert_init(&state, &options, memory, bytes) == 0);
    CHECK(encode(&state, ids, PADDED, &padded) == 0);
    CHECK(bert_run(&state, (const void *[]){zeros, zeros, zeros}, differ,
                   (void *[]){alone.states, alone.pooled}) == bert_BAD_SHAPE);
    CHECK(encode(&state, ids, TOKENS, &alone) == 0);
    for (int length = TOKENS + 1; length <= PADDED; length++) {
        CHECK(encode(&state, ids, length, &padded) == 0);
        CHECK(!memcmp(alone.states, padded.states, sizeof(float) * TOKENS * WIDTH));
        CHECK(!memcmp(alone.pooled, padded.pooled, sizeof alone.pooled));
    }
    print_hash(alone.states, sizeof(float) * TOKENS * WIDTH, alone.pooled, sizeof alone.pooled);
    CHECK(bert_encode_memory(4) == 0 && bert_encode("text", 4, NULL, 0, NULL) == -1);
    ids[3] = 320;
    CHECK(encode(&state, ids, TOKENS, &alone) == bert_BAD_VALUE);
    bert_close(&state);
    free(memory);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    run_vit(argv[1]);
    run_bert(argv[2]);
    return failures != 0;
}
