// Tokenizers: the shared cases of Hugging Face's vocabularies, llama2.c's and GGUF's, and small ones written here.
#include "frontend/tokenizer.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/tokenizer.h"
#include "unit.h"
#include "util/diag.h"
#include "util/text.h"

#define SHARED "../shared/data/"

static bool absent(const char *path) {
    if (access(path, R_OK) == 0) return false;
    printf("# SKIP %s is not here\n", path);
    return true;
}

// ------------------------------------------------------------------------------------------------------------------- helpers
typedef struct {
    Arena *arena;
    const void *blob;
    int32_t *ids;
    size_t n;
} Run;

static Run load(const char *path, int vocab_size) {
    Run r = {.arena = arena_new()};
    r.blob = tokenizer_load(r.arena, path, vocab_size)->blob;
    return r;
}

static void encode(Run *r, const char *text, size_t bytes, bool special) {
    void *memory = malloc(burin_encode_memory(r->blob, bytes) + 1);
    burin_encoding e = {.text = text, .bytes = bytes, .special = special, .memory = memory};
    e.capacity = burin_encode(r->blob, &e);
    r->ids = e.ids = ARENA_ARRAY(r->arena, int32_t, e.capacity + 1);
    r->n = burin_encode(r->blob, &e);
    CHECK(r->n == e.capacity);
    free(memory);
}

static const char *decode(Run *r) {
    burin_decoder d = {0};
    Text t = {0};
    char *bytes = arena_alloc(r->arena, burin_decode_max(r->blob));
    text_append(&t, "", 0);
    for (size_t i = 0; i < r->n; i++) text_append(&t, bytes, burin_decode(r->blob, &d, r->ids[i], bytes));
    const char *text = arena_strndup(r->arena, t.data, t.length);
    text_free(&t);
    return text;
}

static void check_ids(const Run *r, const int32_t *expected, size_t n, const char *what) {
    bool same = r->n == n && !memcmp(r->ids, expected, n * sizeof *expected);
    CHECK(same);
    if (same) return;
    printf("# %s: expected", what);
    for (size_t i = 0; i < n; i++) printf(" %d", expected[i]);
    printf("\n#   got");
    for (size_t i = 0; i < r->n; i++) printf(" %d", r->ids[i]);
    printf("\n");
}
#define CHECK_IDS(r, ...) \
    check_ids(&(r), (int32_t[]){__VA_ARGS__}, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t), #__VA_ARGS__)

static void check_json_ids(Run *r, const json_t *expected, const char *what) {
    int32_t *ids = ARENA_ARRAY(r->arena, int32_t, json_array_size(expected) + 1);
    for (size_t i = 0; i < json_array_size(expected); i++) ids[i] = (int32_t)json_integer_value(json_array_get(expected, i));
    check_ids(r, ids, json_array_size(expected), what);
}

// ------------------------------------------------------------------------------------------------------------- shared
// vocabularies
static void check_cases(const char *kind, const char *file) {
    char path[256], cases_path[256];
    snprintf(path, sizeof path, SHARED "tokenizers/%s/%s", kind, file);
    snprintf(cases_path, sizeof cases_path, SHARED "tokenizers/%s/cases.json", kind);
    if (absent(path)) return;
    Run r = load(path, 0);
    json_t *cases = json_load_file(cases_path, JSON_ALLOW_NUL, NULL), *c;
    const char *name;
    CHECK(json_object_size(cases) > 20);
    json_object_foreach(cases, name, c) {
        const json_t *text = json_object_get(c, "text");
        if (json_object_get(c, "text_pair")) continue;
        encode(&r, json_string_value(text), json_string_length(text), true);
        check_json_ids(&r, json_object_get(c, "ids"), name);
    }
    json_decref(cases);
    arena_free(r.arena);
}

static void encodes_like_falcon(void) { check_cases("falcon", "tokenizer.json"); }

static void encodes_austen(void) {
    Run r = load("examples/austen/tokenizer.json", 2048);
    json_t *expected = json_load_file("examples/austen/expected.json", 0, NULL), *greedy = json_object_get(expected, "greedy"),
           *g;
    size_t i, bytes;
    char *text = read_text_file("examples/austen/held_out.txt", &bytes);
    encode(&r, text, bytes, true);
    CHECK(r.n == (size_t)json_integer_value(json_object_get(expected, "tokens")));
    CHECK_TEXT(decode(&r), text);
    r.n = json_array_size(json_object_get(expected, "first_tokens"));
    check_json_ids(&r, json_object_get(expected, "first_tokens"), "held_out.txt");
    json_array_foreach(greedy, i, g) {
        const char *prompt = json_string_value(json_object_get(g, "prompt"));
        encode(&r, prompt, strlen(prompt), true);
        memmove(r.ids + 1, r.ids, r.n++ * sizeof *r.ids);  // expected.json puts <s> in front
        r.ids[0] = 0;
        check_json_ids(&r, json_object_get(g, "ids"), prompt);
    }
    free(text);
    json_decref(expected);
    arena_free(r.arena);
}

static void encodes_like_llama2c(void) {
    const char *const files[] = {SHARED "stories260k/tok512.bin", SHARED "stories260k/stories260K.gguf"};
    for (int i = 0; i < 2 && !absent(files[i]); i++) {
        Run r = load(files[i], 512);
        encode(&r, "", 0, true);
        CHECK_IDS(r, 1);
        encode(&r, "Once upon a time, there was", 27, true);
        CHECK_TEXT(decode(&r), "Once upon a time, there was");
        CHECK_IDS(r, 1, 403, 407, 261, 378, 432, 383, 286);
        encode(&r, "a\n\xe2\x82\xac\xff z", 8, true);
        CHECK_TEXT(decode(&r), "a\n\xe2\x82\xac\xff z");
        CHECK(burin_tokenizer_bos(r.blob) == 1);
        arena_free(r.arena);
    }
}

SUITE(tokenizer) {
    TEST(encodes_austen);
    TEST(encodes_like_llama2c);

    TEST(encodes_like_falcon);
}
