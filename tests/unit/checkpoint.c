// Checkpoint readers: the models at hand, and small files written here.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "frontend/checkpoint/gguf/table.h"
#include "frontend/checkpoint/reader.h"
#include "frontend/dsl.h"
#include "frontend/sentence.h"
#include "tests/tools/bytes.h"
#include "unit.h"

#define STORIES  "../shared/data/stories260k/"
#define FAMILIES "../shared/data/families/"

static bool absent(const char *path) {
    if (access(path, R_OK) == 0) return false;
    printf("# SKIP %s is not here\n", path);
    return true;
}

static bool has_shape(const Tensor *t, DType dtype, int64_t rows, int64_t columns) {
    return t && t->dtype == dtype && t->dim[0] == rows && t->rank == (columns ? 2 : 1) &&
           (!columns || t->dim[1] == columns);
}

static int64_t config_int(const Checkpoint *c, const char *key) {
    return json_integer_value(json_object_get(c->config, key));
}

// ------------------------------------------------------------------------------- files of the test
typedef struct {
    char path[64];
} Folder;

static Folder make_folder(void) {
    Folder f = {.path = "/tmp/burin-checkpoint-XXXXXX"};
    if (!mkdtemp(f.path)) perror("mkdtemp");
    return f;
}

static const char *put(const Folder *f, const char *name, const void *data, size_t bytes) {
    static char path[4][256];
    static int turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", f->path, name);
    write_file(p, data, bytes);
    return p;
}

static const char *put_text(const Folder *f, const char *name, const char *text) {
    return put(f, name, text, strlen(text));
}

static const char *put_safetensors(const Folder *f, const char *name, const char *header,
                                   size_t data_bytes) {
    Text t = {0};
    uint64_t length = strlen(header);
    text_append(&t, (const char *)&length, sizeof length);
    text_add(&t, "%s", header);
    for (size_t i = 0; i < data_bytes; i++) text_append(&t, &(char){(char)(i + 1)}, 1);
    const char *path = put(f, name, t.data, t.length);
    text_free(&t);
    return path;
}

static void remove_folder(Folder *f) {
    diag_remove_on_stop(f->path);
    if (setjmp(*diag_guard()) == 0) diag_stop();
    diag_unguard();
}

// ------------------------------------------------------------------------------------- safetensors
static void reads_the_austen_folder(void) {
    Arena *arena = arena_new();
    Checkpoint *c = checkpoint_open(arena, "examples/austen", "dsl");
    CHECK(c->kind == CHECKPOINT_SAFETENSORS);
    CHECK_TEXT(c->architecture, "llama");
    CHECK_TEXT(c->tokenizer, "examples/austen/tokenizer.json");
    CHECK(config_int(c, "hidden_size") == 192);
    CHECK(has_shape(checkpoint_find(c, "model.embed_tokens.weight"), DT_bf16, 2048, 192));
    CHECK(
        has_shape(checkpoint_find(c, "model.layers.5.self_attn.k_proj.weight"), DT_bf16, 64, 192));
    CHECK(has_shape(checkpoint_find(c, "model.norm.weight"), DT_bf16, 192, 0));
    CHECK(!checkpoint_find(c, "lm_head.weight"));
    SpecialTokens s = checkpoint_special_tokens(c);
    CHECK(s.bos == 0 && s.n_eos == 1 && s.eos[0] == 1);
    arena_free(arena);
}

static void reads_every_family(void) {
    static const char *const families[] = {"bart", "bert",  "bloom", "clip", "falcon", "gemma",
                                           "gpt2", "llama", "t5",    "vit",  "whisper"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        char path[128];
        snprintf(path, sizeof path, FAMILIES "%s", families[i]);
        if (absent(path)) continue;
        Arena *arena = arena_new();
        Checkpoint *c = checkpoint_open(arena, path, "dsl");
        CHECK_TEXT(c->architecture, families[i]);
        CHECK(c->n_tensors > 10);
        CHECK(checkpoint_special_tokens(c).n_eos <= 1);
        arena_free(arena);
    }
}

static void joins_shards(void) {
    Folder f = make_folder();
    put_safetensors(&f, "a.safetensors",
                    "{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8);
    put_safetensors(&f, "b.safetensors",
                    "{\"__metadata__\":{\"format\":\"pt\"},\"y\":{\"dtype\":\"I8\",\"shape\":[],"
                    "\"data_offsets\":[0,1]}}",
                    1);
    const char *index = put_text(
        &f, "model.safetensors.index.json",
        "{\"metadata\":{},\"weight_map\":{\"y\":\"b.safetensors\",\"x\":\"a.safetensors\"}}");
    Arena *arena = arena_new();
    Checkpoint *by_index = checkpoint_open(arena, index, "dsl"),
               *by_folder = checkpoint_open(arena, f.path, "dsl");
    CHECK(by_index->n_tensors == 2 && by_folder->n_tensors == 2);
    CHECK(has_shape(checkpoint_find(by_folder, "x"), DT_f32, 2, 0));
    CHECK(checkpoint_find(by_index, "y")->rank == 0 &&
          *(const char *)checkpoint_find(by_index, "y")->data == 1);
    CHECK(!by_folder->config && !by_folder->architecture && !by_folder->tokenizer);
    arena_free(arena);
    remove_folder(&f);
}

static void aligns_data(void) {
    Folder f = make_folder();
    const char *path =
        put_safetensors(&f, "odd.safetensors",
                        "{\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                        "\"w\":{\"dtype\":\"F64\",\"shape\":[2,1],\"data_offsets\":[1,17]}}",
                        17);
    Arena *arena = arena_new();
    const Tensor *w = checkpoint_find(checkpoint_open(arena, path, "dsl"), "w");
    CHECK((uintptr_t)w->data % 8 == 0);
    CHECK(((const char *)w->data)[0] == 2 && ((const char *)w->data)[15] == 17);
    arena_free(arena);
    remove_folder(&f);
}

static void finds_places_in_the_configuration(void) {
    Folder f = make_folder();
    put_safetensors(&f, "model.safetensors",
                    "{\"x\":{\"dtype\":\"BOOL\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1);
    put_text(&f, "config.json",
             "{\n  \"inner\": {\"eos_token_id\": \"a \\\"b\"},\n  \"vocab_size\": 320,\n  "
             "\"eos_token_id\": [3, 320, 5]\n}\n");
    put_text(&f, "generation_config.json", "{\"bos_token_id\": 7}");
    Arena *arena = arena_new();
    Checkpoint *c = checkpoint_open(arena, f.path, "dsl");
    Loc at = checkpoint_config_loc(c, "vocab_size");
    CHECK(at.source && at.length == 3 && !strncmp(at.source->text + at.offset, "320", 3));
    CHECK_TEXT(strrchr(loc_text(checkpoint_config_loc(c, "eos_token_id")), '/'),
               "/config.json:4:19");
    CHECK_TEXT(strrchr(loc_text(checkpoint_config_loc(c, "absent")), '/'), "/config.json:1:1");
    SpecialTokens s = checkpoint_special_tokens(c);
    // a token that the vocabulary lacks is none
    CHECK(s.bos == 7 && s.n_eos == 2 && s.eos[0] == 3 && s.eos[1] == 5);
    arena_free(arena);
    remove_folder(&f);
}

// --------------------------------------------------------------------- one model, three containers
static void check_same_weights(const Checkpoint *a, const Checkpoint *b) {
    for (int i = 0; i < a->n_tensors; i++) {
        const Tensor *x = checkpoint_find(a, a->tensors[i]->name),
                     *y = checkpoint_find(b, a->tensors[i]->name);
        if (!y && !strcmp(x->name, "lm_head.weight"))
            y = checkpoint_find(b, "model.embed_tokens.weight");
        bool same = y && x->bytes == y->bytes && x->rank == y->rank && x->dim[0] == y->dim[0] &&
                    !memcmp(x->data, y->data, x->bytes);
        if (!same) printf("# %s differs: %s, %s\n", x->name, a->path, b->path);
        CHECK(same);
    }
}

static void reads_one_model_from_three_containers(void) {
    static const char *const files[] = {
        STORIES "stories260K.bin", STORIES "stories260K.ak42_v1.bin", STORIES "stories260K.gguf"};
    static const char *const keys[] = {
        "hidden_size",         "intermediate_size", "num_hidden_layers", "num_attention_heads",
        "num_key_value_heads", "vocab_size",        "bos_token_id"};
    if (absent(files[0])) return;
    Arena *arena = arena_new();
    Checkpoint *c[3];
    for (int i = 0; i < 3; i++) c[i] = checkpoint_open(arena, files[i], "dsl");
    for (int i = 1; i < 3; i++) {
        check_same_weights(c[i], c[0]);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            CHECK(config_int(c[i], keys[k]) == config_int(c[0], keys[k]));
        CHECK(json_real_value(json_object_get(c[i]->config, "rms_norm_eps")) == 1e-5);
        CHECK(json_real_value(json_object_get(c[i]->config, "rope_theta")) == 1e4);
        CHECK_TEXT(c[i]->architecture, "llama");
    }
    CHECK(c[0]->kind == CHECKPOINT_LLAMA2C && c[2]->kind == CHECKPOINT_GGUF);
    CHECK_TEXT(c[2]->tokenizer, files[2]);
    CHECK(checkpoint_special_tokens(c[0]).eos[0] == 1 &&
          checkpoint_special_tokens(c[2]).eos[0] == 2);
    arena_free(arena);
}

static void restores_the_order_of_rotary_rows(void) {
    struct {
        int32_t hidden, intermediate, layers, heads, kv_heads, vocabulary, context;
        float w[8 + 4 + 16 + 8 + 8 + 16 + 4 + 12 + 12 + 4 + 4];
    } file = {4, 1,  1, 1,
              1, -2, 1, {0}};  // one head of 4: rows 0 1 2 3 are stored as pairs (0, 2), (1, 3)
    enum { EMBED = 8, NORM = 4, Q = 16 };
    for (int i = 0; i < 16; i++) file.w[EMBED + NORM + i] = (float)(i / 4);
    size_t floats = EMBED + NORM + Q * 4 + NORM + 12 + NORM + 4 +
                    8;  // q k v o, norm, gate down up, norm, angles, classifier
    char bytes[28 + 4 * 256] = {0};
    memcpy(bytes, &file, 28 + 4 * (EMBED + NORM + Q));
    Folder f = make_folder();
    Arena *arena = arena_new();
    Checkpoint *c = checkpoint_open(arena, put(&f, "tiny.bin", bytes, 28 + 4 * floats), "dsl");
    const float *q = checkpoint_find(c, "model.layers.0.self_attn.q_proj.weight")->data;
    CHECK(q[0] == 0 && q[4] == 2 && q[8] == 1 && q[12] == 3);
    CHECK(has_shape(checkpoint_find(c, "lm_head.weight"), DT_f32, 2, 4));
    CHECK(json_is_false(json_object_get(c->config, "tie_word_embeddings")));
    arena_free(arena);
    remove_folder(&f);
}

// ---------------------------------------------------------------------------------- transformers 5
static void check_rotary(const char *config, const char *expected) {
    Arena *arena = arena_new();
    json_t *read = json_own(arena, json_loads(config, 0, NULL));
    char *text = json_dumps(config_as_now(arena, read), JSON_COMPACT | JSON_SORT_KEYS);
    CHECK_TEXT(text, expected);
    free(text);
    arena_free(arena);
}

static void reads_rope_parameters(void) {
    check_rotary("{\"rope_theta\":5}", "{\"rope_theta\":5}");
    check_rotary(
        "{\"rope_parameters\":{\"rope_type\":\"default\",\"rope_theta\":5,\"partial_rotary_"
        "factor\":1}}",
        "{\"partial_rotary_factor\":1,\"rope_scaling\":{\"rope_type\":\"default\"},\"rope_theta\":"
        "5}");
    // parameters count more than older fields; rope_scaling with fields counts most
    check_rotary("{\"rope_theta\":4,\"rope_scaling\":null,\"rope_parameters\":{\"rope_theta\":5}}",
                 "{\"rope_scaling\":null,\"rope_theta\":5}");
    check_rotary(
        "{\"rope_theta\":4,\"rope_scaling\":{\"type\":\"linear\",\"factor\":2},"
        "\"rope_parameters\":{\"rope_theta\":5}}",
        "{\"rope_scaling\":{\"factor\":2,\"type\":\"linear\"},\"rope_theta\":4}");
    check_rotary(
        "{\"rope_parameters\":{\"full_attention\":{\"partial_rotary_factor\":0.5},"
        "\"sliding_attention\":{\"partial_rotary_factor\":0.25}}}",
        "{\"partial_rotary_factor\":0.5,\"rope_local_partial_factor\":0.25}");
    // a proportional embedding keeps its part; other names are left to the description
    check_rotary(
        "{\"rope_parameters\":{\"rope_type\":\"proportional\",\"partial_rotary_factor\":0.5}}",
        "{\"rope_scaling\":{\"partial_rotary_factor\":0.5,\"rope_type\":\"proportional\"}}");
    check_rotary("{\"rope_parameters\":{\"main\":{\"rope_theta\":5}}}",
                 "{\"rope_parameters\":{\"main\":{\"rope_theta\":5}}}");
    check_rotary(
        "{\"num_hidden_layers\":2,\"head_dim\":4,\"per_layer_config\":{\"01\":{\"head_dim\":8}}}",
        "{\"head_dim\":4,\"num_hidden_layers\":2,\"per_layer\":{\"head_dim\":[4,8]}}");
    check_rotary("{\"rope_parameters\":{\"rope_type\":\"linear\",\"rope_theta\":5,\"factor\":2}}",
                 "{\"rope_scaling\":{\"factor\":2,\"rope_type\":\"linear\"},\"rope_theta\":5}");
    check_rotary(
        "{\"rope_parameters\":{\"full_attention\":{\"rope_theta\":5},\"sliding_attention\":{\"rope_"
        "theta\":6}}}",
        "{\"rope_local_base_freq\":6,\"rope_theta\":5}");
    check_rotary(
        "{\"rope_parameters\":{\"full_attention\":{\"rope_theta\":5},"
        "\"sliding_attention\":{\"rope_theta\":5,\"rope_type\":\"linear\",\"factor\":2}}}",
        "{\"rope_local_base_freq\":5,\"rope_local_scaling\":{\"factor\":2,\"rope_type\":\"linear\"}"
        ",\"rope_theta\":5}");
    check_rotary("{\"rope_parameters\":5}", "{\"rope_parameters\":5}");
}

// ---------------------------------------------------------------------------------- GGUF's changes
typedef struct {
    const char *architecture;
    int heads, context;
    bool layer_norm;
    int layers;
} Model;

enum { MODEL_VALUES = 7 };

static void put_model(Model m, int tensors, int more_values) {
    char name[128];
    const char *const keys[] = {"embedding_length", "feed_forward_length", "block_count",
                                "attention.head_count", "context_length"};
    const int values[] = {8, 4, m.layers, m.heads, m.context};
    begin(3, (uint64_t)tensors, (uint64_t)(MODEL_VALUES + more_values));
    put_string("general.architecture", m.architecture);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "%s.%s", m.architecture, keys[i]);
        put_u32(name, (uint32_t)values[i]);
    }
    snprintf(name, sizeof name, "%s.attention.layer_norm_%sepsilon", m.architecture,
             m.layer_norm ? "" : "rms_");
    key(name, F32);
    f32(1e-6f);
}

static const Checkpoint *open_put(Arena *arena, const Folder *f) {
    const char *path = put(f, "model.gguf", out.data, out.length);
    text_free(&out);
    return checkpoint_open(arena, path, "dsl");
}

static void restores_matrices_of_gpt2(void) {
    Folder f = make_folder();
    Arena *arena = arena_new();
    put_model((Model){"gpt2", 2, 16, true, 1}, 2, 0);
    describe((Described){"blk.0.attn_qkv.weight", 3, 2, 0, 0});
    describe((Described){"position_embd.weight", 2, 2, 0, 32});
    zeros(-out.length & 31);
    for (int i = 0; i < 12; i++) f32((float)i);
    const Checkpoint *c = open_put(arena, &f);
    const Tensor *t = checkpoint_find(c, "transformer.h.0.attn.c_attn.weight");
    CHECK(has_shape(t, DT_f32, 2, 3) && !memcmp(t->data, (float[]){0, 2, 4, 1, 3, 5}, t->bytes));
    CHECK(has_shape(checkpoint_find(c, "transformer.wpe.weight"), DT_f32, 2, 2));
    CHECK(config_int(c, "n_embd") == 8 && config_int(c, "n_head") == 2 &&
          !json_object_get(c->config, "rope_theta"));
    CHECK_TEXT(c->architecture, "gpt2");
    arena_free(arena);
    remove_folder(&f);
}

static void restores_norms_of_gemma(void) {
    Folder f = make_folder();
    Arena *arena = arena_new();
    put_model((Model){"gemma2", 2, 16, false, 1}, 3, 1);
    key("gemma2.final_logit_softcapping", F32);
    f32(30);
    describe((Described){"blk.0.post_ffw_norm.weight", 1, 2, 0, 0});
    describe((Described){"blk.0.ffn_up.weight", 1, 2, 0, 32});
    describe((Described){"blk.0.attn_norm.weight", 1, 2, 1, 64});
    zeros(-out.length & 31);
    for (int i = 0; i < 16; i++) f32(1.5f);
    u32(0x34cd);  // in f16 0.3, from which 1 cannot be subtracted there
    const Checkpoint *c = open_put(arena, &f);
    const Tensor *norm = checkpoint_find(c, "model.layers.0.post_feedforward_layernorm.weight");
    CHECK(norm && *(const float *)norm->data == 0.5f);
    norm = checkpoint_find(c, "model.layers.0.input_layernorm.weight");
    CHECK(has_shape(norm, DT_f32, 1, 2) && *(const float *)norm->data == 1229.f / 4096 - 1);
    CHECK(*(const float *)checkpoint_find(c, "model.layers.0.mlp.up_proj.weight")->data == 1.5f);
    CHECK(json_real_value(json_object_get(c->config, "final_logit_softcapping")) == 30);
    CHECK(config_int(c, "query_pre_attn_scalar") == 4);
    arena_free(arena);
    remove_folder(&f);
}

static void takes_the_model_beside_its_projector(void) {
    Folder f = make_folder();
    Arena *arena = arena_new();
    put_model((Model){"bloom", 2, 16, true, 1}, 1, 0);
    describe((Described){"blk.0.attn_qkv.weight", 6, 1, 0, 0});
    zeros(-out.length & 31);
    zeros(24);
    put(&f, "mmproj-model-f16.gguf", "GGUF", 4);
    open_put(arena, &f);
    CHECK_TEXT(checkpoint_open(arena, f.path, "dsl")->architecture, "bloom");
    arena_free(arena);
    remove_folder(&f);
}

static void restores_groups_of_bloom(void) {
    Folder f = make_folder();
    Arena *arena = arena_new();
    put_model((Model){"bloom", 2, 16, true, 1}, 1, 0);
    describe((Described){"blk.0.attn_qkv.weight", 6, 1, 0, 0});
    zeros(-out.length & 31);
    for (int i = 0; i < 6; i++) f32((float)i);  // two queries, two keys, two values
    const Checkpoint *c = open_put(arena, &f);
    const Tensor *t = checkpoint_find(c, "transformer.h.0.self_attention.query_key_value.weight");
    CHECK(has_shape(t, DT_f32, 6, 1) && !memcmp(t->data, (float[]){0, 2, 4, 1, 3, 5}, t->bytes));
    CHECK(config_int(c, "n_head") == 2);
    arena_free(arena);
    remove_folder(&f);
}

static void restores_rotary_scaling(void) {
    Folder f = make_folder();
    Arena *arena = arena_new();
    put_model((Model){"llama", 1, 16, false, 1}, 3, 2);
    put_u32("llama.attention.sliding_window", 8);
    key("llama.rope.freq_base", F32);
    f32(5e5f);
    string("rope_freqs.weight");
    u32(1), u64(4), u32(0), u64(0);
    describe((Described){"token_embd.weight", 1, 2, 0, 32});
    string("blk.0.attn_q.bias");
    u32(1), u64(8), u32(0), u64(64);
    zeros(-out.length & 31);
    f32(1), f32(1);           // wavelengths 6.3 and 167
    f32(2.6945297f), f32(8);  // 4443 is between the two limits, 118142 beyond both
    for (int i = 0; i < 12; i++) f32(0);
    for (int i = 0; i < 8; i++) f32((float)i);
    const Checkpoint *c = open_put(arena, &f);
    const json_t *scaling = json_object_get(c->config, "rope_scaling");
    CHECK_TEXT(json_string_value(json_object_get(scaling, "rope_type")), "longrope");
    const json_t *factors = json_object_get(scaling, "short_factor");
    CHECK(json_array_size(factors) == 4 && json_real_value(json_array_get(factors, 3)) == 8 &&
          c->n_tensors == 2);
    CHECK(json_is_true(json_object_get(c->config, "attention_bias")) &&
          json_is_false(json_object_get(c->config, "mlp_bias")));
    const Tensor *bias = checkpoint_find(c, "model.layers.0.self_attn.q_proj.bias");
    CHECK(bias && !memcmp(bias->data, (float[]){0, 2, 4, 6, 1, 3, 5, 7}, bias->bytes));
    CHECK_TEXT(c->architecture, "mistral");
    arena_free(arena);
    remove_folder(&f);
}

// A window of 0 means none; an end of turn ends a text; a table's rows are the number of token
// types.
static void reads_metadata_of_gguf(void) {
    Folder f = make_folder();
    Arena *arena = arena_new();
    put_model((Model){"llama", 1, 16, false, 3}, 1, 5);
    put_u32("llama.attention.sliding_window", 0);
    key("llama.attention.head_count_kv", ARRAY);
    u32(I32), u64(3), u32(0), u32(7), u32(0);
    put_u32("tokenizer.ggml.eos_token_id", 3);
    put_u32("tokenizer.ggml.eot_token_id", 5);
    put_u32("llama.pooling_type", 2);
    describe((Described){"token_types.weight", 4, 2, 0, 0});
    zeros(-out.length & 31);
    for (int i = 0; i < 8; i++) f32(0);
    const Checkpoint *c = open_put(arena, &f);
    SpecialTokens ids = checkpoint_special_tokens(c);
    CHECK(json_is_null(json_object_get(c->config, "sliding_window")));  // none, not the default
    CHECK_TEXT(c->architecture, "llama");
    CHECK(config_int(c, "num_key_value_heads") == 7);  // in the layers that have any
    CHECK(ids.n_eos == 2 && ids.eos[0] == 3 && ids.eos[1] == 5 &&
          config_int(c, "type_vocab_size") == 4);
    CHECK_TEXT(c->pooling, "cls");
    arena_free(arena);
    remove_folder(&f);
}

// Matrices after the pooling, in their order.
static void reads_dense_of_embedding(void) {
    Folder f = make_folder();
    Arena *arena = arena_new();
    put_model((Model){"gemma-embedding", 1, 16, false, 1}, 2, 1);
    put_u32("gemma-embedding.attention.sliding_window", 4);
    describe((Described){"dense_3.weight", 1, 2, 0, 0});
    describe((Described){"dense_2.weight", 2, 2, 0, 32});
    zeros(-out.length & 31);
    for (int i = 0; i < 12; i++) f32(0);
    const Checkpoint *c = open_put(arena, &f);
    Sentence s = {.pooling = POOLING_MEAN};
    sentence_read_dense(&s, c);
    CHECK(s.n_steps == 2 && has_shape(s.steps[0].weight, DT_f32, 2, 2) &&
          has_shape(s.steps[1].weight, DT_f32, 1, 2));
    CHECK(json_is_true(json_object_get(c->config, "use_bidirectional_attention")));
    CHECK_TEXT(c->architecture, "gemma3_text");
    arena_free(arena);
    remove_folder(&f);
}

// An empty "model_type" is in no list of types (found by mutants under AddressSanitizer).
static void knows_no_model_without_a_name(void) {
    const char *name = "model.language_model.x";
    CHECK(checkpoint_older_name(&(Checkpoint){.architecture = ""}, name) == name);
}

// A file with a hole: mapped, never copied.
static void maps_five_gigabytes(void) {
    static const char header[] =
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[5000000000],\"data_offsets\":[0,5000000000]},"
        "\"b\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[5000000000,5000000002]}}";
    Folder f = make_folder();
    const char *path = put_safetensors(&f, "large.safetensors", header, 0);
    off_t data = (off_t)(8 + strlen(header));
    if (truncate(path, data + 5000000002) == 0) {
        Arena *arena = arena_new();
        Checkpoint *c = checkpoint_open(arena, path, "dsl");
        const Tensor *a = checkpoint_find(c, "a"), *b = checkpoint_find(c, "b");
        CHECK(a->bytes == 5000000000 && ((const char *)a->data)[4999999999] == 0);
        CHECK((const char *)b->data - (const char *)a->data == 5000000000 ||
              (uintptr_t)b->data % 2 == 0);
        arena_free(arena);
    } else {
        printf("# SKIP no sparse file of 5 GB here\n");
    }
    remove_folder(&f);
}

// ----------------------------------------------------------------------------------- damaged files
static const char *const whole[] = {"examples/austen/model.safetensors", STORIES "stories260K.bin",
                                    STORIES "stories260K.ak42_v1.bin", STORIES "stories260K.gguf"};
enum { N_WHOLE = sizeof whole / sizeof *whole };

// Opens the file; true if it was refused. The output is in `message`.
static bool is_refused(const char *path, const Folder *f, char message[512]) {
    char log[256];
    snprintf(log, sizeof log, "%s/log", f->path);
    fflush(stderr);
    int saved = dup(STDERR_FILENO);
    if (!freopen(log, "w+", stderr)) return false;
    Arena *arena = arena_new();
    volatile bool refused = true;
    if (setjmp(*diag_guard()) == 0) {
        Checkpoint *c = checkpoint_open(arena, path, "dsl");
        for (int i = 0; i < c->n_tensors; i++) checkpoint_find(c, c->tensors[i]->name);
        refused = false;
    }
    diag_unguard();
    arena_free(arena);
    rewind(stderr);
    message[fread(message, 1, 511, stderr)] = 0;
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    return refused;
}

static void refuses_truncation_everywhere(void) {
    Folder f = make_folder();
    for (int i = 0; i < N_WHOLE; i++) {
        size_t size;
        char message[512];
        if (absent(whole[i])) continue;
        char *data = read_text_file(whole[i], &size);
        const char *path = put(&f, i ? "cut.bin" : "cut.safetensors", data, size);
        for (size_t percent = 100; percent-- > 0;) {
            CHECK(truncate(path, (off_t)(size * percent / 100)) == 0);
            bool told = is_refused(path, &f, message) && strstr(message, "error: ") &&
                        strstr(message, "\n  hint: ");
            if (!told) printf("# %zu %% of %s: %s\n", percent, whole[i], message);
            CHECK(told);
        }
        free(data);
    }
    remove_folder(&f);
}

static void set_byte(const char *path, size_t at, char byte) {
    FILE *file = fopen(path, "r+b");
    CHECK(file && fseek(file, (long)at, SEEK_SET) == 0 && fputc(byte, file) != EOF &&
          fclose(file) == 0);
}

// Any byte of a header may be wrong: the file is read or refused, and nothing else happens.
static void survives_wrong_bytes(void) {
    enum { HEADER = 20000, ROUNDS = 400 };
    Folder f = make_folder();
    uint32_t random = 1, refused = 0;
    for (int i = 0; i < N_WHOLE; i++) {
        size_t size;
        char message[512];
        if (absent(whole[i])) continue;
        char *data = read_text_file(whole[i], &size);
        const char *path = put(&f, i ? "wrong.bin" : "wrong.safetensors", data, size);
        size_t header = i == 1 || i == 2 ? 64 : HEADER;
        for (int round = 0; round < ROUNDS; round++) {
            random = random * 1664525u + 1013904223u;
            size_t at = (random >> 8) % header;
            set_byte(path, at, (char)(random >> 24));
            refused += is_refused(path, &f, message);
            set_byte(path, at, data[at]);
        }
        free(data);
    }
    CHECK(refused > ROUNDS / 4);
    remove_folder(&f);
}

// A class, or one whose head the description of the model has
static bool is_class(const char *described, const char *name) {
    const char *head = strstr(name, "ForSequenceClassification");
    size_t n = head ? (size_t)(head - name) : strlen(name);
    const char *end = described + n;
    return !strncmp(described, name, n) &&
           (head ? !strcmp(end, "Model") || !strcmp(end, "ForCausalLM") : !*end);
}

// `type`: the description's name; NULL: any
static bool is_described(const Descriptions *all, const char *type, const char *class) {
    for (int i = 0; i < all->n; i++)
        if (!type || !strcmp(all->items[i].name, type))
            for (int j = 0; j < all->items[i].n_classes; j++)
                if (is_class(all->items[i].classes[j], class)) return true;
    return false;
}

// The tables of a folder, whose models are all described; returns how many those are.
static int check_tables(Arena *arena, const char *folder, const Descriptions *all, bool by_type) {
    const char *known;
    CHECK(!gguf_table(arena, folder, "../models/llama.burin", &known) &&
          !gguf_table(arena, folder, "parts", &known) &&
          !gguf_table(arena, folder, "eyes", &known));
    int tables = 0;
    for (char *rest, *name = strtok_r(arena_strdup(arena, known), ", ", &rest); name;
         name = strtok_r(NULL, ", ", &rest)) {
        const GgufTable *t = gguf_table(arena, folder, name, &known);
        for (int i = 0; t && i < t->models.n; i++)
            CHECK(is_described(all, by_type ? t->models.items[i].gguf : NULL,
                               t->models.items[i].name));
        tables += t != NULL;
    }
    return tables;
}

// Every table of dsl/gguf is for models that dsl/models has, those of mmproj files for dsl/eyes.
static void names_described_models_in_tables_of_gguf(void) {
    Arena *arena = arena_new();
    Descriptions all = dsl_descriptions(arena, "dsl"),
                 eyes = dsl_descriptions_in(arena, "dsl/eyes");
    CHECK(check_tables(arena, "dsl/gguf", &all, true) >= 31);
    CHECK(check_tables(arena, "dsl/gguf/eyes", &eyes, false) >= 7);
    arena_free(arena);
}

SUITE(checkpoint) {
    TEST(reads_the_austen_folder);
    TEST(reads_every_family);
    TEST(joins_shards);
    TEST(aligns_data);
    TEST(finds_places_in_the_configuration);
    TEST(reads_one_model_from_three_containers);
    TEST(restores_the_order_of_rotary_rows);
    TEST(restores_matrices_of_gpt2);
    TEST(restores_norms_of_gemma);
    TEST(takes_the_model_beside_its_projector);
    TEST(restores_groups_of_bloom);
    TEST(restores_rotary_scaling);
    TEST(reads_metadata_of_gguf);
    TEST(reads_dense_of_embedding);
    TEST(names_described_models_in_tables_of_gguf);
    TEST(reads_rope_parameters);
    TEST(knows_no_model_without_a_name);
    TEST(maps_five_gigabytes);
    TEST(refuses_truncation_everywhere);
    TEST(survives_wrong_bytes);
}
