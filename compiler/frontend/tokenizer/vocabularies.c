// Vocabularies that are not a tokenizer.json: llama2.c's tokenizer.bin, a GGUF's, and GPT-2's vocab.json with merges.txt.
//
// llama2.c and GGUF's "llama" are SentencePiece's BPE: a score for each token says which pair merges first, unknown characters
// become bytes, a space stands in front of the text. GPT-2 and GGUF's "gpt2" are byte-level BPE.
#include <string.h>

#include "frontend/checkpoint/gguf.h"
#include "frontend/tokenizer/compile.h"

enum {
    TYPE_UNKNOWN = 2,
    TYPE_CONTROL = 3,
    TYPE_USER_DEFINED = 4,
    TYPE_UNUSED = 5,
    TYPE_BYTE = 6
};  // tokenizer.ggml.token_type

static void add_token_id(Bytes *to, int32_t id) { bytes_append(to, &id, sizeof id); }

// --------------------------------------------------------------------------------------------------------- llama2.c's .bin
// u32 longest token; then for each token: f32 score, u32 length, bytes. Ids 0 to 2 are unknown, BOS and EOS, 3 to 258 bytes.
enum { BOS = 1, EOS = 2, FIRST_BYTE = 3, MAX_LENGTH = 1 << 16 };

static void read_llama2c_token(TokenizerBuilder *b, Cursor *c, int32_t id) {
    c->what = arena_printf(b->arena, "token %d", id);
    uint32_t score_bits = cursor_u32(c), length = cursor_u32(c);
    float score;
    memcpy(&score, &score_bits, sizeof score);
    if (score != score) file_fatal(c->file, "token %d has no score (NaN)", id);
    const char *text = (const char *)cursor_bytes(c, length);
    struct BuilderToken *t = builder_token(b, id, text, length);
    t->score = score;
    t->in_model = id >= FIRST_BYTE;
    if (id < FIRST_BYTE) t->kind = BURIN_TOKEN_SPECIAL;
}

void read_llama2c_vocabulary(TokenizerBuilder *b, const char *path, int vocab_size) {
    Cursor c = {map_file(b->arena, path), 0, "the longest token's length"};
    if (cursor_u32(&c) > MAX_LENGTH)
        file_fatal(c.file,
                   "this is no tokenizer that burin knows: no tokenizer.json, no GGUF, no tokenizer.bin of llama2.c"
                   "\nhint: of SentencePiece's tokenizer.model take the tokenizer.json beside it");
    for (int32_t id = 0; vocab_size ? id < vocab_size : cursor_left(&c) > 0; id++) read_llama2c_token(b, &c, id);
    if (cursor_left(&c))
        file_fatal(c.file,
                   "the vocabulary ends before the file does: the model has %d tokens\nhint: is this the model's tokenizer?",
                   vocab_size);
    builder_bytes_from_texts(b);
    builder_merges_from_scores(b);
    builder_add_normalizer(b, (burin_normalizer){.kind = BURIN_NORMALIZE_PREPEND}, " ");
    b->head.flags |= BURIN_BYTE_FALLBACK | BURIN_DECODE_STRIP;
    b->head.bos = BOS, b->head.eos = EOS;
    add_token_id(&b->before, BOS);
}

// ---------------------------------------------------------------------------------------------------------------------- GGUF
typedef struct {
    TokenizerBuilder *b;
    const Gguf *gguf;
    uint64_t n;
} Reading;

static bool flag(const Reading *r, const char *key, bool absent) {
    bool value = absent;
    gguf_bool(r->gguf, key, &value);
    return value;
}

static void read_tokens(Reading *r, bool byte_level) {
    uint64_t n_types, n_scores;
    const GgufString *texts = gguf_strings(r->gguf, "tokenizer.ggml.tokens", &r->n);
    const int32_t *types = gguf_ints(r->gguf, "tokenizer.ggml.token_type", &n_types);
    const float *scores = gguf_floats(r->gguf, "tokenizer.ggml.scores", &n_scores);
    if (!r->n) tokenizer_fatal(r->b, "metadata \"tokenizer.ggml.tokens\" is missing");
    if ((types && n_types != r->n) || (scores && n_scores != r->n))
        tokenizer_fatal(r->b, "the vocabulary has %llu tokens, but %llu types and %llu scores", (unsigned long long)r->n,
                        (unsigned long long)n_types, (unsigned long long)n_scores);
    for (uint64_t i = 0; i < r->n; i++) {
        struct BuilderToken *t = builder_token(r->b, (int64_t)i, texts[i].bytes, texts[i].length);
        int32_t type = types ? types[i] : 1;
        t->score = scores ? (double)scores[i] : 0;
        if (t->score != t->score) tokenizer_fatal(r->b, "token %llu has no score (NaN)", (unsigned long long)i);
        t->in_model = type != TYPE_CONTROL && type != TYPE_UNKNOWN && type != TYPE_UNUSED;
        t->added = type == TYPE_CONTROL || type == TYPE_USER_DEFINED;
        if (byte_level && t->added) t->in_model = false;
        if (type == TYPE_CONTROL || type == TYPE_UNKNOWN) t->kind = BURIN_TOKEN_SPECIAL;
    }
}

static int32_t special(const Reading *r, const char *key) {
    int64_t id;
    if (!gguf_int(r->gguf, key, &id) || id == UINT32_MAX) return -1;
    if (id < 0 || (uint64_t)id >= r->n)
        tokenizer_fatal(r->b, "metadata \"%s\" is %lld, but the vocabulary has %llu tokens", key, (long long)id,
                        (unsigned long long)r->n);
    return (int32_t)id;
}

static void read_llama(Reading *r) {
    TokenizerBuilder *b = r->b;
    builder_bytes_from_texts(b);
    builder_merges_from_scores(b);
    if (flag(r, "tokenizer.ggml.add_space_prefix", true)) {
        builder_add_normalizer(b, (burin_normalizer){.kind = BURIN_NORMALIZE_PREPEND}, " ");
        b->head.flags |= BURIN_DECODE_STRIP;
    }
    builder_add_normalizer(b, (burin_normalizer){.kind = BURIN_NORMALIZE_REPLACE, .pattern = pattern_literal(b, " ")},
                           "\xe2\x96\x81");
    b->head.flags |= BURIN_BYTE_FALLBACK | BURIN_DECODE_METASPACE;
}

// How GGUF names the pre-tokenizers of byte-level BPE; each pattern cuts the pieces of the one before it.
typedef struct {
    const char *names[12], *patterns[3];
    bool ignore_merges;
} GgufPretokenizer;

static const GgufPretokenizer gguf_pretokenizers[] = {
    {{"gpt-2", "phi-2", "mpt", "olmo", "jais", "roberta-bpe"}, {GPT2_PATTERN}, false},
    {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone"}, {"\\p{N}", GPT2_PATTERN}, false},
    {{"falcon"}, {"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2_PATTERN, "[0-9][0-9][0-9]"}, false},
    {{"llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral"}, {LLAMA3_PATTERN}, true},
    {{"dbrx", "smaug-bpe"}, {LLAMA3_PATTERN}, false},
    {{"qwen2", "stablelm2", "deepseek-r1-qwen", "hunyuan"}, {QWEN2_PATTERN}, false},
};

static bool has_name(const GgufPretokenizer *p, const char *name) {
    for (size_t i = 0; i < sizeof p->names / sizeof *p->names && p->names[i]; i++)
        if (!strcmp(p->names[i], name)) return true;
    return false;
}

static void read_pretokenizers(Reading *r) {
    const char *name = "gpt-2";
    gguf_string(r->gguf, "tokenizer.ggml.pre", &name);
    for (size_t i = 0; i < sizeof gguf_pretokenizers / sizeof *gguf_pretokenizers; i++) {
        if (!has_name(&gguf_pretokenizers[i], name)) continue;
        for (int k = 0; k < 3 && gguf_pretokenizers[i].patterns[k]; k++) add_split(r->b, gguf_pretokenizers[i].patterns[k]);
        if (gguf_pretokenizers[i].ignore_merges) r->b->head.flags |= BURIN_IGNORE_MERGES;
        return;
    }
    tokenizer_fatal(
        r->b, "the pre-tokenizer \"%s\" of a GGUF is not supported\nhint: give the model's tokenizer.json with --tokenizer",
        name);
}

static void read_gpt2(Reading *r) {
    TokenizerBuilder *b = r->b;
    uint64_t n;
    const GgufString *merges = gguf_strings(r->gguf, "tokenizer.ggml.merges", &n);
    if (!n) tokenizer_fatal(b, "metadata \"tokenizer.ggml.merges\" is missing");
    Merging m = {b, builder_index(b), 0};
    for (uint64_t i = 0; i < n; i++) add_written_merge(&m, arena_strndup(b->arena, merges[i].bytes, merges[i].length));
    read_pretokenizers(r);
    add_byte_level(b);
    set_byte_level(b, "");
}

void read_gguf_vocabulary(TokenizerBuilder *b, const char *path) {
    Reading r = {b, gguf_parse(b->arena, map_file(b->arena, path)), 0};
    const char *model;
    if (!gguf_string(r.gguf, "tokenizer.ggml.model", &model))
        tokenizer_fatal(b, "metadata \"tokenizer.ggml.model\" is missing: the file has no vocabulary");
    read_tokens(&r, !strcmp(model, "gpt2"));
    if (!strcmp(model, "llama"))
        read_llama(&r);
    else if (!strcmp(model, "gpt2"))
        read_gpt2(&r);
    else
        tokenizer_fatal(b,
                        "the vocabulary is of kind \"%s\", which is not supported, only llama and gpt2\nhint: give the model's "
                        "tokenizer.json with --tokenizer",
                        model);
    b->head.bos = special(&r, "tokenizer.ggml.bos_token_id");
    b->head.eos = special(&r, "tokenizer.ggml.eos_token_id");
    b->head.unknown = special(&r, "tokenizer.ggml.unknown_token_id");
    if (b->head.bos >= 0 && flag(&r, "tokenizer.ggml.add_bos_token", !strcmp(model, "llama")))
        add_token_id(&b->before, b->head.bos);
    if (b->head.eos >= 0 && flag(&r, "tokenizer.ggml.add_eos_token", false)) add_token_id(&b->after, b->head.eos);
}

// --------------------------------------------------------------------------------------------------------------------- GPT-2
// merges.txt: a line "#version: ...", then a merge a line, the first most important.
static void read_merges_file(TokenizerBuilder *b, const char *path) {
    const MappedFile *f = map_file(b->arena, path);
    const char *at = (const char *)f->data, *end = at + f->size;
    Merging m = {b, builder_index(b), 0};
    for (const char *next; at < end; at = next) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        next = stop + 1;
        if (stop > at && stop[-1] == '\r') stop--;
        if (stop > at && !(m.rank == 0 && !strncmp(at, "#version", 8)))
            add_written_merge(&m, arena_strndup(b->arena, at, (size_t)(stop - at)));
    }
}

void read_gpt2_vocabulary(TokenizerBuilder *b, const json_t *vocabulary, const char *merges_path) {
    static const char END[] = "<|endoftext|>";
    read_vocabulary(b, vocabulary);
    read_merges_file(b, merges_path);
    add_split(b, GPT2_PATTERN);
    add_byte_level(b);
    set_byte_level(b, "");
    b->head.eos = index_find(builder_index(b), END, strlen(END));
    if (b->head.eos < 0) return;
    b->tokens[b->head.eos].kind = BURIN_TOKEN_SPECIAL;
    b->tokens[b->head.eos].added = true;
}
