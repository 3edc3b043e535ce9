// libFuzzer target: texts that reach a program. The first byte is a tokenizer's number, and selects
// a prompt or messages, which a chat template renders.
#include "frontend/template.h"
#include "input.h"
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ADDED                                                                                  \
    "\"added_tokens\":[{\"id\":0,\"content\":\"<s>\",\"special\":true,\"normalized\":false},{" \
    "\"id\":1,\"content\":\"</"                                                                \
    "s>\",\"special\":true,\"normalized\":true,\"rstrip\":true}],"
#define NFKC "{\"type\":\"NFKC\"},{\"type\":\"Lowercase\"}"
static const char *const TOKENIZERS[] = {
    "{" ADDED "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[" NFKC
    "]},\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"use_regex\":true},"
    "\"model\":{\"type\":\"BPE\",\"vocab\":{\"<s>\":0,\"</"
    "s>\":1,\"a\":2,\"b\":3,\"\\u0120\":4,\"\\u0120a\":5,\"ab\":6},\"merges\":[\"\\u0120 a\",\"a "
    "b\"]}}",
    "{" ADDED
    "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFD\"},{\"type\":"
    "\"Prepend\",\"prepend\":\"\\u2581\"}]}"
    ","
    "\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\",\"prepend_scheme\":"
    "\"always\"},"
    "\"model\":{\"type\":\"Unigram\",\"unk_id\":2,\"vocab\":[[\"<s>\",0],[\"</"
    "s>\",0],[\"<unk>\",0],[\"\\u2581\",-2],[\"a\",-3],[\"\\u2581ab\",-4]]}}",
    "{" ADDED
    "\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"}"
    ","
    "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"u\",\"continuing_subword_prefix\":\"##\","
    "\"max_input_chars_per_word\":"
    "10000,"
    "\"vocab\":{\"<s>\":0,\"</s>\":1,\"u\":2,\"a\":3,\"##a\":4,\"##aa\":5,\"b\":6}}}",
    "{" ADDED
    "\"pre_tokenizer\":{\"type\":\"Split\",\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"(?:b|"
    "bb)+c|b?b?b?b?b?b?b?b?b?b?b?"
    "c|\\\\s+(?!\\\\S)\"}},"
    "\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"unk_token\":\"<s>\",\"vocab\":{\"<s>\":0,"
    "\"</"
    "s>\":1,\"a\":2,\"<0x61>\":3,\"<0xC3>\":4},\"merges\":[]}}",
};
enum { N_TOKENIZERS = sizeof TOKENIZERS / sizeof *TOKENIZERS };

static const char TEMPLATE[] =
    "{% for m in messages %}<s>{{ m.role }}\n{{ m.content | trim }}</s>{% endfor %}<s>";
static Arena *kept;
static const void *blobs[N_TOKENIZERS];
static CompiledTemplate template;

static void keep(Arena *arena, const char *path) {
    static int n;
    (void)arena;
    blobs[n++] = tokenizer_load(kept, path, 0)->blob;
}

static void open_all(void) {
    kept = arena_new();
    for (int i = 0; i < N_TOKENIZERS; i++)
        fuzz_import((const uint8_t *)TOKENIZERS[i], strlen(TOKENIZERS[i]), keep);
    if (!blobs[N_TOKENIZERS - 1]) abort();
    TemplateText text = {.source = template_source(kept, "fuzz", TEMPLATE, sizeof TEMPLATE - 1)};
    template = template_compile(kept, &text);
    if (!template.blob) abort();
}

static void encode_messages(Arena *arena, const void *blob, const char *json, size_t bytes) {
    burin_rendering r = {
        .template_blob = template.blob, .json = json, .json_bytes = bytes, .json_name = "messages"};
    r.memory_bytes = 1 << 20, r.memory = arena_alloc(arena, r.memory_bytes);
    if (!burin_render(&r)) return;
    burin_tokens tokens = burin_encode_text(
        blob, &(burin_encoding){.text = r.text, .bytes = r.bytes, .marks = r.marks, .whole = true});
    decode_all(arena, blob, &tokens);
    free(tokens.id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!kept) open_all();
    if (!size) return 0;
    Arena *arena = arena_new();
    const void *blob = blobs[data[0] / 2 % N_TOKENIZERS];
    if (data[0] & 1)
        encode_messages(arena, blob, (const char *)data + 1, size - 1);
    else
        encode_each_way(arena, blob, (const char *)data + 1, size - 1);
    arena_free(arena);
    return 0;
}
