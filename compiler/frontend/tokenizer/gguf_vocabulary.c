// The vocabulary in a GGUF, read as llama.cpp reads it.
//
//   "llama"   SentencePiece's BPE: merges by the score of each token, unknown characters become bytes, a space is
//             prepended to the text
//   "gpt2"    byte-level BPE, cut by the patterns that tokenizer.ggml.pre names
//   "whitespace"  BPE over characters of words
//   "gemma4"  BPE over characters, where a space is U+2581 and unknown characters become bytes; lines are cut apart
//   "t5"      SentencePiece's unigram model, with its table of normalization
//   "rwkv"    the longest token that fits, from the left; texts of tokens have escapes
//   "bert"    WordPiece, whose tokens begin with U+2581 where a word begins: presented as the tokenizer.json it was made of
#include <string.h>

#include "frontend/checkpoint/gguf/gguf.h"
#include "frontend/tokenizer/compile.h"
#include "frontend/tokenizer/sentencepiece.h"
#include "util/json.h"
#include "util/text.h"

enum {
    TYPE_NORMAL = 1,
    TYPE_UNKNOWN,
    TYPE_CONTROL,
    TYPE_USER_DEFINED,
    TYPE_BYTE = 6
};  // tokenizer.ggml.token_type

typedef struct {
    TokenizerBuilder *b;
    const Gguf *gguf;
    const GgufString *texts;
    const int32_t *types;  // NULL: all are normal
    uint64_t n;
    bool adds_bos, adds_eos;  // unless the file overrides it
    bool always_bos;          // regardless of the file
} Reading;

static bool flag(const Reading *r, const char *key, bool absent) {
    bool value = absent;
    gguf_bool(r->gguf, key, &value);
    return value;
}

static void read_texts(Reading *r) {
    uint64_t n_types;
    r->texts = gguf_strings(r->gguf, "tokenizer.ggml.tokens", &r->n);
    r->types = gguf_ints(r->gguf, "tokenizer.ggml.token_type", &n_types);
    if (!r->n) tokenizer_fatal(r->b, "metadata \"tokenizer.ggml.tokens\" is missing");
    if (r->types && n_types != r->n)
        tokenizer_fatal(r->b, "the vocabulary has %llu tokens, but %llu types",
                        (unsigned long long)r->n, (unsigned long long)n_types);
}

static int32_t type_of_token(const Reading *r, uint64_t i) {
    int32_t type = r->types ? r->types[i] : TYPE_NORMAL;
    bool named = type != TYPE_UNKNOWN && type != TYPE_BYTE && gguf_is_control_text(&r->texts[i]);
    return named ? TYPE_CONTROL : type;
}

static void check_scores(const Reading *r, const float *scores, uint64_t n) {
    if (scores && n != r->n)
        tokenizer_fatal(r->b, "the vocabulary has %llu tokens, but %llu scores",
                        (unsigned long long)r->n, (unsigned long long)n);
    for (uint64_t i = 0; scores && i < n; i++)
        if (scores[i] != scores[i])
            tokenizer_fatal(r->b, "token %llu has no score (NaN)", (unsigned long long)i);
}

// NULL: there are none. Some files have whole numbers.
static const float *read_scores(const Reading *r) {
    static const char key[] = "tokenizer.ggml.scores";
    const GgufValue *v = gguf_find(r->gguf, key);
    const float *scores;
    uint64_t n;
    if (v && v->is_array && v->type == GGUF_I32) {
        const int32_t *whole = gguf_ints(r->gguf, key, &n);
        float *converted = ARENA_ARRAY(r->b->arena, float, n + 1);
        for (uint64_t i = 0; i < n; i++) converted[i] = (float)whole[i];
        scores = converted;
    } else {
        scores = gguf_floats(r->gguf, key, &n);
    }
    check_scores(r, scores, n);
    return scores;
}

// Flags that are in no file: llama.cpp knows some models by their names.
static uint8_t strips(const Reading *r, const GgufString *text, int32_t type) {
    const char *name = "", *architecture = "", *pre = "";
    gguf_string(r->gguf, "general.name", &name),
        gguf_string(r->gguf, "general.architecture", &architecture);
    gguf_string(r->gguf, "tokenizer.ggml.pre", &pre);
    bool xlm = strstr(architecture, "nomic-bert-moe") || strstr(architecture, "jina-bert-v3"),
         jina =
             strstr(pre, "jina-v2-de") || strstr(pre, "jina-v2-es") || strstr(pre, "jina-v2-code"),
         phi = strcasestr(name, "phi-3") || strcasestr(name, "phi3");
    const char *mask = jina || xlm                               ? "<mask>"
                       : strcasestr(name, "modern-bert") && !phi ? "[MASK]"
                                                                 : "";
    if (*mask)
        return text->length == strlen(mask) && !memcmp(text->bytes, mask, text->length)
                   ? BURIN_TOKEN_LSTRIP
                   : 0;
    bool special = type == TYPE_CONTROL || type == TYPE_UNKNOWN || type == TYPE_USER_DEFINED;
    static const char *const keep[] = {"<unk>", "<s>", "<|endoftext|>"};
    for (int i = 0; i < 3; i++)
        special &= text->length != strlen(keep[i]) || memcmp(text->bytes, keep[i], text->length);
    return phi && special ? BURIN_TOKEN_RSTRIP : 0;
}

// Control tokens and unknown are cut out of a text like those that a user defined.
static void read_tokens(Reading *r, bool byte_level) {
    const float *scores = read_scores(r);
    for (uint64_t i = 0; i < r->n; i++) {
        struct BuilderToken *t =
            builder_token(r->b, (int64_t)i, r->texts[i].bytes, r->texts[i].length);
        int32_t type = type_of_token(r, i);
        bool special = type == TYPE_CONTROL || type == TYPE_UNKNOWN;
        t->score = scores ? (double)scores[i] : 0;
        t->added = special || type == TYPE_USER_DEFINED;
        t->in_model = !special && !(byte_level && t->added);
        if (special) t->kind = BURIN_TOKEN_SPECIAL;
        if (t->added) t->kind |= strips(r, &r->texts[i], type);
    }
}

// The token of this key; `absent` where the file has none, unless that is beyond the vocabulary.
static int32_t special(const Reading *r, const char *key, int32_t absent) {
    int64_t id;
    if (!gguf_int(r->gguf, key, &id)) return absent < (int64_t)r->n ? absent : -1;
    if (id == UINT32_MAX) return -1;
    if (id < 0 || (uint64_t)id >= r->n)
        tokenizer_fatal(r->b, "metadata \"%s\" is %lld, but the vocabulary has %llu tokens", key,
                        (long long)id, (unsigned long long)r->n);
    return (int32_t)id;
}

// The token of one of two keys, or of this id; the file must have it.
static int32_t special_of(const Reading *r, const char *key, const char *other, int32_t absent) {
    int64_t id;
    int32_t found = special(r, gguf_int(r->gguf, key, &id) ? key : other, absent);
    if (found < 0) tokenizer_fatal(r->b, "metadata \"%s\" is missing", key);
    return found;
}

static void set_special_tokens(Reading *r, int32_t bos, int32_t eos) {
    TokenizerBuilder *b = r->b;
    bos = special(r, "tokenizer.ggml.bos_token_id", bos);
    b->head.eos = special(r, "tokenizer.ggml.eos_token_id", eos);
    if (bos >= 0 && (r->always_bos || flag(r, "tokenizer.ggml.add_bos_token", r->adds_bos)))
        bytes_append(&b->before, &bos, sizeof bos);
    if (b->head.eos >= 0 && flag(r, "tokenizer.ggml.add_eos_token", r->adds_eos))
        bytes_append(&b->after, &b->head.eos, sizeof b->head.eos);
}

// ----------------------------------------------------------------------------------- SentencePiece
static const char space_mark[] = "\xe2\x96\x81";

static void write_spaces(TokenizerBuilder *b) {
    builder_add_normalizer(
        b, (burin_normalizer){.kind = BURIN_NORMALIZE_REPLACE, .pattern = pattern_literal(b, " ")},
        space_mark);
}

static void fall_back_to_bytes(TokenizerBuilder *b) {
    b->head.flags |= BURIN_BYTE_FALLBACK;
    decoder_replaces(b, space_mark, " ");
    decoder_falls_back(b);
}

static void read_llama(Reading *r) {
    enum { BOS = 1, EOS = 2, UNKNOWN = 0 };
    TokenizerBuilder *b = r->b;
    read_tokens(r, false);
    builder_bytes_from_texts(b);
    builder_merges_from_scores(b);
    if (flag(r, "tokenizer.ggml.add_space_prefix", true)) {
        builder_add_normalizer(b, (burin_normalizer){.kind = BURIN_NORMALIZE_PREPEND}, " ");
        decoder_strips(b, " ", 1, 0);
    }
    write_spaces(b);
    fall_back_to_bytes(b);
    b->head.unknown = special(r, "tokenizer.ggml.unknown_token_id", UNKNOWN);
    r->adds_bos = true;
    set_special_tokens(r, BOS, EOS);
}

static Piece *read_pieces(const Reading *r) {
    const float *scores = read_scores(r);
    Piece *pieces = ARENA_ARRAY(r->b->arena, Piece, r->n);
    for (uint64_t i = 0; i < r->n; i++) {
        int32_t type = type_of_token(r, i);
        pieces[i].text = arena_strndup(r->b->arena, r->texts[i].bytes, r->texts[i].length);
        pieces[i].score = scores && type != PIECE_USER_DEFINED ? scores[i] : 0;
        pieces[i].strips_left = strips(r, &r->texts[i], type) == BURIN_TOKEN_LSTRIP;
        pieces[i].type = type == PIECE_UNUSED ? PIECE_NORMAL : (uint64_t)type;
    }
    return pieces;
}

static void read_t5(Reading *r) {
    enum { NONE = -1, EOS = 1, UNKNOWN = 2 };
    SentencePiece s = {
        .b = r->b, .pieces = read_pieces(r), .n = r->n, .n_own = r->n, .model = MODEL_UNIGRAM};
    const GgufValue *charsmap = gguf_find(r->gguf, "tokenizer.ggml.precompiled_charsmap");
    if (charsmap && charsmap->is_array && (charsmap->type == GGUF_U8 || charsmap->type == GGUF_I8))
        s.charsmap = charsmap->data, s.charsmap_bytes = charsmap->n;
    s.prefix = flag(r, "tokenizer.ggml.add_space_prefix", false);
    s.squeezes = flag(r, "tokenizer.ggml.remove_extra_whitespaces", false);
    s.unknown = special_of(r, "tokenizer.ggml.unknown_token_id", "tokenizer.ggml.unknown_token_id",
                           UNKNOWN);
    build_of_pieces(&s, NULL);
    r->adds_eos = true;
    set_special_tokens(r, NONE, EOS);
}

// ---------------------------------------------------------------------------------- byte-level BPE
// How GGUF names the pre-tokenizers; each pattern cuts the pieces of the one before it.
typedef struct {
    const char *names[20], *patterns[6];
    bool ignore_merges, adds_bos;
} GgufPretokenizer;

#define DIGIT "\\p{N}"
#define SIGNS " ?[^\\s\\p{L}\\p{N}]+"
#define ENDS  "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define LETTERS_BY_CASE(letters, end)                                        \
    "[^\\r\\n\\p{L}\\p{N}]?[" letters "&&[^a-z]]*[" letters "&&[^A-Z]]+" end \
    "|[^\\r\\n\\p{L}\\p{N}]?[" letters "&&[^a-z]]+[" letters "&&[^A-Z]]*" end "|"
#define GROUPED_DIGITS "(?<=\\p{N})(?=(?:\\p{N}{3})*(?!\\p{N}))"
#define FAR_EASTERN    "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff&&[^\\s]]+"
#define AFMOE_SCRIPTS                                                                        \
    "[\u4e00-\u9fff\u3400-\u4dbf\u8c48-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-" \
    "\u2fdf\u0e40-\u0eff\u1780-\u17ff"                                                       \
    "\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+"
#define CONTRACTED     "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define MARKED_LETTERS "[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+" CONTRACTED "?|"
#define HAN                                                                                        \
    "\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ebef\U0002f800-" \
    "\U0002fa1f"
#define WORDS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define SIGN_LETTERS                                                                   \
    "[!\"#$%&'()*+,\\-./"                                                              \
    ":;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| " \
    "?[\\p{P}\\p{S}]+"
#define SPACES(n) "\\s{" n "}(?!\\S)|"
#define CASED_LETTERS                                                                             \
    "[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af" \
    "\u0370-\u0373\u0376-\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-"  \
    "\u03f5"                                                                                      \
    "\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba" \
    "\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45" \
    "\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-"               \
    "\u1fbc\u1fbe\u1fc2-"                                                                         \
    "\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-"              \
    "\u1ffc\u2102\u2107"                                                                          \
    "\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-"   \
    "\u213f"                                                                                      \
    "\u2145-\u2149\u214e\u2183-\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2-\u2cf3\ua640-" \
    "\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-" \
    "\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-"       \
    "\U000104fb"                                                                                  \
    "\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943]+"
#define CJK       "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
#define SENTENCES " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"

static const GgufPretokenizer gguf_pretokenizers[] = {
    {.names = {"gpt-2", "phi-2", "mpt", "olmo", "jais", "roberta-bpe", "jina-es", "jina-de",
               "jina-v1-en", "jina-v2-es", "jina-v2-de", "jina-v2-code", "gigachat", "a.x-4.0",
               "mellum", "modern-bert", "trillion", "granite-docling", "exaone4"},
     .patterns = {GPT2_PATTERN}},
    {.names = {"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b",
               "mellum2"},
     .patterns = {DIGIT, GPT2_PATTERN}},
    {.names = {"default"},
     .patterns = {"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2_PATTERN, "\\p{N}+", "[0-9][0-9][0-9]"}},
    {.names = {"falcon"},
     .patterns = {"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2_PATTERN, "[0-9][0-9][0-9]"}},
    {.names = {"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0",
               "lfm2", "jina-v5-nano"},
     .patterns = {LLAMA3_PATTERN},
     .ignore_merges = true,
     .adds_bos = true},
    {.names = {"dbrx", "smaug-bpe", "chatglm-bpe"}, .patterns = {LLAMA3_PATTERN}},
    {.names = {"glm4", "glm5"}, .patterns = {LLAMA3_PATTERN}, .ignore_merges = true},
    {.names = {"qwen2", "stablelm2", "deepseek-r1-qwen", "hunyuan", "megrez", "kormo", "f2llmv2",
               "solar-open", "grok-2"},
     .patterns = {QWEN2_PATTERN}},
    {.names = {"tekken"},
     .patterns = {LETTERS_BY_CASE("\\p{L}", "") DIGIT "|" SIGNS "[\\r\\n/]*|" ENDS},
     .ignore_merges = true,
     .adds_bos = true},
    {.names = {"gpt-4o", "llama4", "kanana2", "minimax-m2", "talkie"},
     .patterns = {LETTERS_BY_CASE("\\p{L}", CONTRACTED "?") "\\p{N}{1,3}|" SIGNS
                                                            "[\\r\\n/]*|" ENDS}},
    {.names = {"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"},
     .patterns = {"\\p{N}{1,3}", CJK,
                  "[!\"#$%&'()*+,\\-./"
                  ":;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
                  "?[\\p{P}\\p{S}]+[\\r\\n]*|" ENDS}},
    {.names = {"deepseek-coder"},
     .patterns = {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", FAR_EASTERN, DIGIT}},
    {.names = {"bloom", "poro-chat", "gpt3-finnish"}, .patterns = {SENTENCES}},
    {.names = {"viking"}, .patterns = {SENTENCES, DIGIT}},
    {.names = {"deepseek-llm"},
     .patterns = {"[\\r\\n]", "\\s?" CASED_LETTERS,
                  "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3001\u3002]+", "\\s+$",
                  FAR_EASTERN, "\\p{N}+"}},
    {.names = {"spark2_5"},
     .patterns = {"\\p{N}{1,3}", CJK, SIGN_LETTERS "|[\\r\\n]|\\s+(?!\\S)|\\s+", DIGIT}},
    {.names = {"youtu"},
     .patterns = {"[\uac00-\ud7a3\u3131-\u318e]+|["
                  "\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-"
                  "\u303f\ufe30-\ufe4f]+|"
                  "[\u3105-\u312f]+|" CJK,
                  MARKED_LETTERS DIGIT "|" SIGNS "[\\r\\n/]*|" ENDS},
     .ignore_merges = true},
    {.names = {"qwen35"},
     .patterns = {CONTRACTED "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| "
                             "?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" ENDS}},
    {.names = {"chameleon"},
     .patterns = {"<sentinel:[0-9]+>", "IMGIMG[A-I]{1,4}Z", "[\\t\\n]|    |  ", DIGIT,
                  "[\\p{P}!-/:-@\\[-`{-~]", GPT2_PATTERN},
     .adds_bos = true},
    {.names = {"superbpe"}, .patterns = {"\\p{N}+", "(?=([0-9]{3})+(?![0-9]))"}},
    {.names = {"exaone-moe"},
     .patterns = {CONTRACTED
                  "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}|" SIGNS
                  "[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}},
    {.names = {"tiny_aya", "cohere2moe"},
     .patterns = {GROUPED_DIGITS, MARKED_LETTERS "\\p{N}{1,3}|" SIGNS "[\\r\\n/]*|" ENDS}},
    {.names = {"granite-embed-multi-97m"},
     .patterns = {LETTERS_BY_CASE("\\p{L}\\p{M}", CONTRACTED "?") "\\p{N}{1,3}|" SIGNS
                                                                  "[\\r\\n/]*|" ENDS},
     .ignore_merges = true},
    {.names = {"afmoe"},
     .patterns = {GROUPED_DIGITS, AFMOE_SCRIPTS, SIGN_LETTERS "[\\r\\n]*|" ENDS}},
    {.names = {"kimi-k2"},
     .patterns = {"[" HAN "]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}&&[^" HAN "]]+" CONTRACTED
                  "?|\\p{N}{1,3}|" SIGNS "[\\r\\n]*|" ENDS}},
    {.names = {"bailingmoe", "bailingmoe2", "llada-moe"},
     .patterns = {"'(?i:[sdmt]|ll|ve|re)|" WORDS "\\p{N}|" SIGNS
                  "[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}},
    {.names = {"ufakzeka"}, .patterns = {WORDS "\\p{N}|" SIGNS "[\\r\\n]*|" ENDS}},
    {.names = {"laguna"}, .patterns = {"[^\\n]+|[\\n]+", QWEN2_PATTERN}},
    {.names = {"minicpm5"},
     .patterns = {"\\p{N}{1,3}", CONTRACTED "|" WORDS "\\p{N}+|" SIGNS "[\\r\\n]*|" ENDS},
     .ignore_merges = true},
    {.names = {"k2-horizon"},
     .patterns = {CONTRACTED "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}\u200c\u200d]+|\\p{N}{1,3}|" SIGNS
                             "[\\r\\n]*|" ENDS}},
    {.names = {"jais-2"},
     .patterns = {CONTRACTED "|" WORDS "\\p{N}{1,3}|" SIGNS "[\\r\\n]*|\\s*[\\r\\n]+|" SPACES("512")
                      SPACES("256") SPACES("128") SPACES("64") SPACES("32") SPACES("16") SPACES("8")
                          SPACES("4") SPACES("1,2") "\\s{1}"}},
    {.names = {"seed-coder"},
     .patterns = {"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
                  "?[^\\s\\p{L}\\p{N}\\r\\n]+|" ENDS}},
};

static bool has_name(const GgufPretokenizer *p, const char *name) {
    for (size_t i = 0; i < sizeof p->names / sizeof *p->names && p->names[i]; i++)
        if (!strcmp(p->names[i], name)) return true;
    return false;
}

static void read_pretokenizers(Reading *r) {
    const char *name = "default";
    gguf_string(r->gguf, "tokenizer.ggml.pre", &name);
    for (size_t i = 0; i < sizeof gguf_pretokenizers / sizeof *gguf_pretokenizers; i++) {
        const GgufPretokenizer *p = &gguf_pretokenizers[i];
        if (!has_name(p, *name ? name : "default")) continue;
        for (int k = 0; k < 6 && p->patterns[k]; k++) add_split(r->b, p->patterns[k]);
        if (p->ignore_merges) r->b->head.flags |= BURIN_IGNORE_MERGES;
        r->adds_bos = p->adds_bos;
        return;
    }
    tokenizer_fatal(r->b,
                    "the pre-tokenizer \"%s\" of a GGUF is not supported\nhint: give the model's "
                    "tokenizer.json with --tokenizer",
                    name);
}

// Texts of tokens that are cut out of a text before anything else.
static json_t *cut_out(const Reading *r) {
    json_t *texts = json_own(r->b->arena, json_object());
    for (uint64_t i = 0; i < r->n; i++)
        if (r->b->tokens[i].added && !r->b->tokens[i].in_model)
            json_object_setn_new(texts, r->texts[i].bytes, r->texts[i].length, json_true());
    return texts;
}

// Returns true if it is a part or the result of this merge.
static bool has_one_of(const json_t *texts, const char *merge) {
    const char *space = strchr(merge, ' ');
    Text both = {0};
    if (!space) return false;
    size_t left = (size_t)(space - merge), right = strlen(space + 1);
    text_append(&both, merge, left), text_append(&both, space + 1, right);
    bool found = json_object_getn(texts, both.data, left) ||
                 json_object_getn(texts, both.data + left, right) ||
                 json_object_getn(texts, both.data, left + right);
    text_free(&both);
    return found;
}

// Tokens that are cut out of texts take no part in merging.
static void read_merges(Reading *r) {
    TokenizerBuilder *b = r->b;
    uint64_t n;
    const GgufString *merges = gguf_strings(r->gguf, "tokenizer.ggml.merges", &n);
    if (!n) tokenizer_fatal(b, "metadata \"tokenizer.ggml.merges\" is missing");
    Merging m = {b, builder_index(b), 0, 0};
    const json_t *never = cut_out(r);
    for (uint64_t i = 0; i < n; i++) {
        const char *merge = arena_strndup(b->arena, merges[i].bytes, merges[i].length);
        if (!has_one_of(never, merge)) add_written_merge(&m, merge);
    }
}

static bool has_pre(const Reading *r, const char *name) {
    const char *pre = "";
    gguf_string(r->gguf, "tokenizer.ggml.pre", &pre);
    return !strcmp(pre, name);
}

static void read_gemma4(Reading *r) {
    enum { NONE = -1 };
    TokenizerBuilder *b = r->b;
    read_tokens(r, false);
    builder_bytes_from_texts(b);
    read_merges(r);
    write_spaces(b);
    add_split(b, "[^\\n]+|[\\n]+");
    fall_back_to_bytes(b);
    b->head.unknown = special(r, "tokenizer.ggml.unknown_token_id", NONE);
    r->adds_bos = !has_pre(r, "sarvam-moe");
    r->always_bos = r->adds_bos;
    set_special_tokens(r, NONE, NONE);
}

static bool marks_spaces(const Reading *r) {
    return has_pre(r, "gemma4") || has_pre(r, "granite-embed-multi-311m") ||
           has_pre(r, "sarvam-moe");
}

// BPE over characters of words; characters without a token and without bytes, such as spaces, are
// left out of the text.
static void read_whitespace(Reading *r) {
    enum { BOS = 11, EOS = 11 };
    TokenizerBuilder *b = r->b;
    read_tokens(r, false);
    builder_bytes_from_texts(b);
    read_merges(r);
    b->head.flags |= BURIN_BYTE_FALLBACK;
    decoder_falls_back(b);
    if (flag(r, "tokenizer.ggml.normalizer.lowercase", false))
        read_normalizer(b, json_own(b->arena, json_pack("{s:s}", "type", "Lowercase")));
    read_pretokenizer(b, json_own(b->arena, json_pack("{s:s}", "type", "WhitespaceSplit")));
    set_special_tokens(r, BOS, EOS);
}

// A byte without a token is left out of the text.
static void read_gpt2(Reading *r) {
    enum { BOS = 11, EOS = 11 };
    TokenizerBuilder *b = r->b;
    if (marks_spaces(r)) {
        read_gemma4(r);
        return;
    }
    if (has_pre(r, "whitespace")) {
        read_whitespace(r);
        return;
    }
    read_tokens(r, true);
    read_merges(r);
    read_pretokenizers(r);
    add_byte_level(b);
    set_byte_level(b, "");
    set_special_tokens(r, BOS, EOS);
}

// -------------------------------------------------------------------------------------------- RWKV
static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// \t
//  \r \x9f, and any other character after a backslash as itself.
static GgufString without_escapes(const Reading *r, GgufString s) {
    char *bytes = ARENA_ARRAY(r->b->arena, char, s.length + 1);
    uint64_t n = 0;
    for (uint64_t i = 0; i < s.length; i++) {
        char c = s.bytes[i];
        if (c == '\\' && i + 1 < s.length) {
            c = s.bytes[++i];
            bool hex = c == 'x' && i + 2 < s.length && hex_digit(s.bytes[i + 1]) >= 0 &&
                       hex_digit(s.bytes[i + 2]) >= 0;
            c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
            if (hex) c = (char)(hex_digit(s.bytes[i + 1]) << 4 | hex_digit(s.bytes[i + 2])), i += 2;
        }
        bytes[n++] = c;
    }
    return (GgufString){bytes, n};
}

static void read_rwkv(Reading *r) {
    enum { NONE = -1 };
    GgufString *texts = ARENA_ARRAY(r->b->arena, GgufString, r->n);
    for (uint64_t i = 0; i < r->n; i++) texts[i] = without_escapes(r, r->texts[i]);
    r->texts = texts;
    read_tokens(r, false);
    r->b->head.model = BURIN_MODEL_LONGEST;
    r->b->head.unknown = special(r, "tokenizer.ggml.unknown_token_id", NONE);
    set_special_tokens(r, NONE, NONE);
}

// --------------------------------------------------------------------------------------- WordPiece
// "▁word" begins a word, "ing" continues one, "[CLS]" is literal.
static const char *wordpiece_text(const Reading *r, const GgufString *s) {
    static const char begin[] = "\xe2\x96\x81";
    size_t n = sizeof begin - 1;
    bool starts = s->length > n && !memcmp(s->bytes, begin, n),
         whole = s->length && *s->bytes == '[' && s->bytes[s->length - 1] == ']';
    if (starts) return arena_strndup(r->b->arena, s->bytes + n, s->length - n);
    return arena_printf(r->b->arena, "%s%.*s", whole ? "" : "##", (int)s->length, s->bytes);
}

static json_t *flags_object(const char *type, const Reading *r) {
    bool lower = flag(r, "tokenizer.ggml.normalizer.lowercase", true);
    return json_pack("{s:s, s:b, s:b, s:b, s:b}", "type", type, "clean_text", 1,
                     "handle_chinese_chars", 1, "lowercase", lower, "strip_accents",
                     flag(r, "tokenizer.ggml.normalizer.strip_accents", lower));
}

static json_t *wordpieces(const Reading *r, json_t *added) {
    json_t *vocabulary = json_object();
    for (uint64_t i = 0; i < r->n; i++) {
        int32_t type = type_of_token(r, i);
        const char *text = wordpiece_text(r, &r->texts[i]);
        json_object_set_new(vocabulary, text, json_integer((json_int_t)i));
        if (type == TYPE_CONTROL || type == TYPE_UNKNOWN || type == TYPE_USER_DEFINED)
            json_array_append_new(
                added, json_pack("{s:I, s:s, s:b, s:b}", "id", (json_int_t)i, "content", text,
                                 "special", type != TYPE_USER_DEFINED, "normalized", 0));
    }
    return vocabulary;
}

static json_t *text_and_id(const Reading *r, int32_t id) {
    return json_pack("[s, i]", wordpiece_text(r, &r->texts[id]), id);
}

static void read_bert(Reading *r) {
    enum { CLS = 101, SEP = 102, UNKNOWN = 100, LONGEST_WORD = 10000 };
    int32_t cls = special_of(r, "tokenizer.ggml.bos_token_id", "tokenizer.ggml.cls_token_id", CLS),
            sep = special_of(r, "tokenizer.ggml.seperator_token_id",
                             "tokenizer.ggml.separator_token_id", SEP),
            unknown = special_of(r, "tokenizer.ggml.unknown_token_id",
                                 "tokenizer.ggml.unknown_token_id", UNKNOWN);
    json_t *added = json_array(), *vocabulary = wordpieces(r, added);
    json_t *model = json_pack("{s:s, s:s, s:s, s:i, s:o}", "type", "WordPiece", "unk_token",
                              wordpiece_text(r, &r->texts[unknown]), "continuing_subword_prefix",
                              "##", "max_input_chars_per_word", LONGEST_WORD, "vocab", vocabulary);
    json_t *ends = json_pack("{s:s, s:o, s:o}", "type", "BertProcessing", "cls",
                             text_and_id(r, cls), "sep", text_and_id(r, sep));
    json_t *root =
        json_pack("{s:o, s:{s:s}, s:o, s:o, s:o, s:{s:s, s:s}}", "normalizer",
                  flags_object("BertNormalizer", r), "pre_tokenizer", "type", "BertPreTokenizer",
                  "model", model, "added_tokens", added, "post_processor", ends, "decoder", "type",
                  "WordPiece", "prefix", "##");
    read_tokenizer_json(r->b, json_own(r->b->arena, root));
    r->b->head.eos = -1;
}

void read_gguf_vocabulary(TokenizerBuilder *b, const char *path) {
    static const struct {
        const char *model;
        void (*read)(Reading *);
    } models[] = {{"llama", read_llama},   {"gpt2", read_gpt2}, {"whitespace", read_whitespace},
                  {"gemma4", read_gemma4}, {"bert", read_bert}, {"t5", read_t5},
                  {"rwkv", read_rwkv}};
    Reading r = {.b = b, .gguf = gguf_parse(b->arena, map_file(b->arena, path))};
    const char *model;
    if (!gguf_string(r.gguf, "tokenizer.ggml.model", &model))
        tokenizer_fatal(b,
                        "metadata \"tokenizer.ggml.model\" is missing: the file has no vocabulary");
    read_texts(&r);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (!strcmp(models[i].model, model)) {
            models[i].read(&r);
            read_gguf_pair(b, r.gguf, r.n);
            return;
        }
    tokenizer_fatal(b,
                    "the vocabulary is of kind \"%s\", which is not supported, only llama, gpt2, "
                    "whitespace, gemma4, bert, t5 and "
                    "rwkv\nhint: give the model's "
                    "tokenizer.json with --tokenizer",
                    model);
}
