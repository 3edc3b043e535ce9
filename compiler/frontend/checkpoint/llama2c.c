// llama2.c's .bin: a header of seven numbers, then every weight as f32 in a fixed order, nothing
// named.
//   legacy      28 bytes of header; a negative vocab_size means a separate classifier matrix
//   version 1   "ak42", 256 bytes of header, norms first
// The rows of q and k are stored for interleaved rotary embedding. The tables of rotary angles in
// legacy files are skipped.
#include <inttypes.h>
#include <string.h>

#include "frontend/checkpoint/reader.h"

enum { MAGIC = 0x616b3432, HEADER_BYTES = 256, LEGACY_HEADER_BYTES = 28, MAX_LAYERS = 4096 };

typedef struct {
    int32_t hidden, intermediate, layers, heads, kv_heads, vocabulary, context;
} Header;

typedef struct {
    Checkpoint *checkpoint;
    Cursor at;
    Header header;
    bool tied;
    uint64_t q_rows, kv_rows;
} Reading;

static bool plausible(const Header *h) {
    return h->hidden > 0 && h->intermediate > 0 && h->layers > 0 && h->layers <= MAX_LAYERS &&
           h->heads > 0 && h->kv_heads > 0 && h->vocabulary != 0 && h->vocabulary != INT32_MIN &&
           h->context > 0 && h->hidden % h->heads == 0 && h->heads % h->kv_heads == 0 &&
           h->hidden / h->heads % 2 == 0;
}

static bool has_magic(const MappedFile *f) {
    const uint32_t magic = MAGIC;
    return f->size >= sizeof magic && !memcmp(f->data, &magic, sizeof magic);
}

bool llama2c_recognise(const MappedFile *f) {
    Header h;
    if (has_magic(f)) return true;
    if (f->size < LEGACY_HEADER_BYTES) return false;
    memcpy(&h, f->data, sizeof h);
    return plausible(&h);
}

static void read_header(Reading *r) {
    const MappedFile *f = r->at.file;
    r->at.what = "the header";
    if (!has_magic(f)) {
        memcpy(&r->header, cursor_bytes(&r->at, LEGACY_HEADER_BYTES), sizeof r->header);
        r->tied = r->header.vocabulary > 0;
        if (!r->tied) r->header.vocabulary = -r->header.vocabulary;
        return;
    }
    const unsigned char *header = cursor_bytes(&r->at, HEADER_BYTES);
    uint32_t version;
    memcpy(&version, header + 4, sizeof version);
    if (version != 1)
        file_fatal(f,
                   "llama2.c version %" PRIu32
                   " is not supported, only legacy and version 1\nhint: export with --version 1",
                   version);
    memcpy(&r->header, header + 8, sizeof r->header);
    r->tied = header[8 + sizeof r->header];
    if (!plausible(&r->header) || r->header.vocabulary < 0)
        file_fatal(f,
                   "the llama2.c header makes no model: hidden %d, intermediate %d, layers %d, "
                   "heads %d, kv heads %d, vocabulary %d, "
                   "context %d",
                   r->header.hidden, r->header.intermediate, r->header.layers, r->header.heads,
                   r->header.kv_heads, r->header.vocabulary, r->header.context);
}

static void add(Reading *r, const char *name, int rank, const uint64_t *dims, int rotary_heads) {
    Tensor t = {.name = name, .dtype = DT_f32};
    tensor_set_shape(r->at.file, &t, rank, dims);
    r->at.what = arena_printf(r->checkpoint->arena, "tensor \"%s\"", name);
    t.data = cursor_bytes(&r->at, t.bytes);
    checkpoint_add(r->checkpoint, r->at.file, &t)->rotary_heads = rotary_heads;
}

static void add_vector(Reading *r, const char *name) {
    add(r, name, 1, (uint64_t[]){(uint64_t)r->header.hidden}, 0);
}

static void add_vocabulary(Reading *r, const char *name) {
    add(r, name, 2, (uint64_t[]){(uint64_t)r->header.vocabulary, (uint64_t)r->header.hidden}, 0);
}

// One kind of weight of every layer: llama2.c stores these together.
typedef struct {
    const char *name;
    uint64_t rows, columns;  // columns 0: a vector
    int rotary_heads;
} Kind;

static void add_layers(Reading *r, Kind k) {
    for (int i = 0; i < r->header.layers; i++) {
        const char *name =
            arena_printf(r->checkpoint->arena, "model.layers.%d.%s.weight", i, k.name);
        add(r, name, k.columns ? 2 : 1, (uint64_t[]){k.rows, k.columns}, k.rotary_heads);
    }
}

static void add_matrices(Reading *r, bool legacy) {
    uint64_t hidden = (uint64_t)r->header.hidden, intermediate = (uint64_t)r->header.intermediate;
    add_layers(r, (Kind){"self_attn.q_proj", hidden, hidden, r->header.heads});
    add_layers(r, (Kind){"self_attn.k_proj", r->kv_rows, hidden, r->header.kv_heads});
    add_layers(r, (Kind){"self_attn.v_proj", r->kv_rows, hidden, 0});
    add_layers(r, (Kind){"self_attn.o_proj", hidden, hidden, 0});
    if (legacy) add_layers(r, (Kind){"post_attention_layernorm", hidden, 0, 0});
    add_layers(r, (Kind){"mlp.gate_proj", intermediate, hidden, 0});
    add_layers(r, (Kind){"mlp.down_proj", hidden, intermediate, 0});
    add_layers(r, (Kind){"mlp.up_proj", intermediate, hidden, 0});
}

static void add_legacy(Reading *r) {
    add_vocabulary(r, "model.embed_tokens.weight");
    add_layers(r, (Kind){"input_layernorm", (uint64_t)r->header.hidden, 0, 0});
    add_matrices(r, true);
    add_vector(r, "model.norm.weight");
    uint64_t angles = (uint64_t)r->header.context * (uint64_t)(r->header.hidden / r->header.heads) *
                      sizeof(float);
    r->at.what = "the tables of rotary angles";
    cursor_bytes(&r->at, angles);
}

static void add_version_1(Reading *r) {
    add_layers(r, (Kind){"input_layernorm", (uint64_t)r->header.hidden, 0, 0});
    add_layers(r, (Kind){"post_attention_layernorm", (uint64_t)r->header.hidden, 0, 0});
    add_vector(r, "model.norm.weight");
    add_vocabulary(r, "model.embed_tokens.weight");
    add_matrices(r, false);
}

static void set_configuration(Reading *r) {
    const Header *h = &r->header;
    Checkpoint *c = r->checkpoint;
    c->config = json_own(
        c->arena,
        json_pack("{s:s, s:[s], s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:b, s:i, s:[i,i]}",
                  "model_type", "llama", "architectures", "LlamaForCausalLM", "hidden_size",
                  h->hidden, "intermediate_size", h->intermediate, "num_hidden_layers", h->layers,
                  "num_attention_heads", h->heads, "num_key_value_heads", h->kv_heads, "vocab_size",
                  h->vocabulary, "max_position_embeddings", h->context, "rms_norm_eps", 1e-5,
                  "rope_theta", 1e4, "tie_word_embeddings", r->tied, "bos_token_id",
                  // run.c stops at BOS, which separates two texts
                  1, "eos_token_id", 1, 2));
    c->config_source = &r->at.file->source;
    c->architecture = "llama";
}

void llama2c_read(Checkpoint *c, const MappedFile *file) {
    Reading r = {.checkpoint = c, .at = {.file = file}};
    c->kind = CHECKPOINT_LLAMA2C;
    read_header(&r);
    r.kv_rows = (uint64_t)(r.header.hidden / r.header.heads) * (uint64_t)r.header.kv_heads;
    if (has_magic(file))
        add_version_1(&r);
    else
        add_legacy(&r);
    if (!r.tied) add_vocabulary(&r, "lm_head.weight");
    if (cursor_left(&r.at))
        file_fatal(file,
                   "the header describes %" PRIu64 " bytes, the file has %" PRIu64
                   "\nhint: is this a llama2.c checkpoint?",
                   r.at.at, file->size);
    set_configuration(&r);
}
