// Vocabularies of bytes in the order of their merging: tiktoken's files (a line "base64 rank" a
// token) and Mistral's tekken.json. Every way to cut a token in two tokens is a merge, ranked as
// the token; the tokenizer_config.json of tiktoken's folder has the pattern that cuts texts and the
// special tokens.
#include <string.h>

#include "frontend/checkpoint/mapped_file.h"
#include "frontend/tokenizer/compile.h"
#include "util/json.h"

typedef struct Ranked {
    TokenizerBuilder *b;
    json_t *vocabulary, *added;
    int64_t n;      // ranks
    int64_t first;  // the id of rank 0
} Ranked;

static int digit_of(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

// Bytes of n digits of base64, padded or not; -1: it is none.
static int64_t read_base64(const char *text, size_t n, uint8_t *bytes) {
    uint32_t bits = 0;
    int64_t length = 0;
    int have = 0;
    while (n && text[n - 1] == '=') n--;
    for (size_t i = 0; i < n; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0) return -1;
        bits = bits << 6 | (uint32_t)digit, have += 6;
        if (have >= 8) bytes[length++] = (uint8_t)(bits >> (have -= 8));
    }
    return length;
}

// GPT-2's encoding of bytes: printable ones of Latin-1 as themselves, all others from U+0100 on.
static void append_character(Bytes *out, uint8_t byte) {
    static uint16_t written[256];
    for (int i = 0, others = 0; !written[255] && i < 256; i++) {
        bool printable = (i > 32 && i < 127) || (i > 160 && i != 173);
        written[i] = (uint16_t)(printable ? i : 256 + others++);
    }
    uint16_t code = written[byte];
    char text[2] = {(char)(0xc0 | code >> 6), (char)(0x80 | (code & 0x3f))};
    if (code < 0x80) *text = (char)code;
    bytes_append(out, text, code < 0x80 ? 1 : 2);
}

static void add_ranked(Ranked *r, int64_t rank, const char *base64, size_t n) {
    if (rank >= MAX_TOKENS || n > 2 * MAX_TOKEN_BYTES)
        tokenizer_fatal(
            r->b, "token %lld is beyond any vocabulary: at most %d tokens of %d bytes are read",
            (long long)rank, MAX_TOKENS, MAX_TOKEN_BYTES);
    uint8_t *bytes = ARENA_ARRAY(r->b->arena, uint8_t, n + 1);
    int64_t length = read_base64(base64, n, bytes);
    Bytes out = {.arena = r->b->arena};
    if (length <= 0 || rank != r->n)
        tokenizer_fatal(r->b, "token %lld is damaged: expected base64, and ranks in order",
                        (long long)r->n);
    for (int64_t i = 0; i < length; i++) append_character(&out, bytes[i]);
    if (json_object_getn(r->vocabulary, out.data, out.length))
        tokenizer_fatal(r->b, "token %lld is in the file twice", (long long)rank);
    json_object_setn_new(r->vocabulary, out.data, out.length, json_integer(r->first + rank));
    r->n++;
}

// Also in the vocabulary, which has its id.
static void add_special(Ranked *r, int64_t id, const char *text, bool special) {
    if (json_object_get(r->vocabulary, text))
        tokenizer_fatal(r->b, "the special token \"%s\" is in the file twice", text);
    json_object_set_new(r->vocabulary, text, json_integer(id));
    json_array_append_new(r->added,
                          json_pack("{s:I, s:s, s:b, s:b}", "id", (json_int_t)id, "content", text,
                                    "special", (int)special, "normalized", 0));
}

static void build_of_ranks(Ranked *r, const char *pattern, const char *normalizer) {
    json_t *model = json_pack("{s:s, s:o, s:[], s:b}", "type", "BPE", "vocab", r->vocabulary,
                              "merges", "ignore_merges", 1);
    json_t *cut =
        json_pack("{s:s, s:[{s:s, s:{s:s}, s:s}, {s:s, s:b, s:b}]}", "type", "Sequence",
                  "pretokenizers", "type", "Split", "pattern", "Regex", pattern, "behavior",
                  "Isolated", "type", "ByteLevel", "add_prefix_space", 0, "use_regex", 0);
    json_t *root = json_pack("{s:o, s:o, s:o, s:o, s:{s:s}}", "normalizer",
                             normalizer ? json_pack("{s:s}", "type", normalizer) : json_null(),
                             "pre_tokenizer", cut, "model", model, "added_tokens", r->added,
                             "decoder", "type", "ByteLevel");
    read_tokenizer_json(r->b, json_own(r->b->arena, root));
    for (int64_t i = 0; i < r->n; i++) r->b->tokens[r->first + i].score = (double)-i;
    builder_merges_from_scores(r->b);
}

// ---------------------------------------------------------------------------------------- tiktoken
bool is_tiktoken(const MappedFile *f) {
    const char *text = (const char *)f->data,
               *newline = memchr(text, '\n', f->size < 4096 ? f->size : 4096);
    const char *space = newline ? memchr(text, ' ', (size_t)(newline - text)) : NULL;
    if (!space || space == text || newline - space < 2) return false;
    for (const char *at = text; at < space; at++)
        if (digit_of(*at) < 0 && *at != '=') return false;
    for (const char *at = space + 1; at < newline; at++)
        if ((*at < '0' || *at > '9') && *at != '\r') return false;
    return true;
}

// A whole number up to the end of the line; -1: it is none.
static int64_t rank_of(const char *at, const char *end) {
    int64_t rank = 0;
    if (at < end && end[-1] == '\r') end--;
    if (at == end) return -1;
    for (; at < end && rank >= 0; at++)
        rank = *at < '0' || *at > '9' || rank > 1 << 28 ? -1 : 10 * rank + *at - '0';
    return rank;
}

static void read_ranks(Ranked *r, const MappedFile *f) {
    const char *at = (const char *)f->data, *end = at + f->size;
    for (const char *next; at < end; at = next) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        const char *space = memchr(at, ' ', (size_t)(stop - at));
        next = stop + 1;
        if (at == stop) continue;
        if (!space) space = stop;
        add_ranked(r, rank_of(space + (space < stop), stop), at, (size_t)(space - at));
    }
}

#define HAN "\\p{Han}"
static const char kimi_pattern[] =
    "[" HAN "]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^" HAN
    "]]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^" HAN
    "]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&["
    "^" HAN "]]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^" HAN
    "]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

static const struct Ranks {
    const char *class, *pattern, *normalizer;
} ranks[] = {{"QWenTokenizer", QWEN2_PATTERN, "NFC"},
             {"PreTrainedTokenizer", LLAMA3_PATTERN, NULL},
             {"TikTokenTokenizer", kimi_pattern, NULL}};

static void add_qwen_tokens(Ranked *r) {
    static const char *const texts[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
    for (int i = 0; i < 208; i++)
        add_special(r, r->n + i,
                    i < 3 ? texts[i] : arena_printf(r->b->arena, "<|extra_%d|>", i - 3), true);
}

void read_tiktoken(TokenizerBuilder *b, const MappedFile *f) {
    const json_t *config = json_of_folder(b, "tokenizer_config.json"),
                 *listed = json_object_get(config, "added_tokens_decoder"), *token;
    const char *name = json_string_value(json_object_get(config, "tokenizer_class")), *id;
    Ranked r = {b, json_object(), json_array(), 0, 0};
    const struct Ranks *known = NULL;
    for (size_t i = 0; name && i < sizeof ranks / sizeof *ranks; i++)
        if (!strncmp(name, ranks[i].class, strlen(ranks[i].class))) known = &ranks[i];
    if (!name)
        tokenizer_fatal(b,
                        "tiktoken's file does not say how texts are cut, and there is no "
                        "tokenizer_class in a tokenizer_config.json"
                        " beside it\nhint: give the model's tokenizer.json with --tokenizer");
    if (!known)
        tokenizer_fatal(b,
                        "tiktoken's file does not say how texts are cut, and the tokenizer_class "
                        "\"%s\" is not known\nhint: give the "
                        "model's tokenizer.json with --tokenizer",
                        name);
    read_ranks(&r, f);
    json_object_foreach((json_t *)listed, id, token) {
        const char *text = json_string_value(json_object_get(token, "content"));
        if (text)
            add_special(&r, strtoll(id, NULL, 10), text,
                        json_is_true(json_object_get(token, "special")));
    }
    if (known == ranks && !json_object_size(listed)) add_qwen_tokens(&r);
    build_of_ranks(&r, known->pattern, known->normalizer);
    const char *end = json_string_value(json_object_get(config, "eos_token"));
    if (known == ranks && !end) end = "<|endoftext|>";
    for (int32_t i = (int32_t)r.n; end && i < b->n_tokens; i++)
        if (b->tokens[i].text && b->tokens[i].length == strlen(end) &&
            !memcmp(b->tokens[i].text, end, b->tokens[i].length))
            b->head.eos = i;
}

// ------------------------------------------------------------------------------------------ tekken
bool is_tekken(const json_t *root) {
    return json_is_array(json_object_get(root, "vocab")) &&
           json_string_value(json_object_get(json_object_get(root, "config"), "pattern"));
}

static int64_t tekken_number(const TokenizerBuilder *b, const json_t *config, const char *key) {
    const json_t *number = json_object_get(config, key);
    int64_t value = json_integer_value(number);
    if (!json_is_integer(number) || value < 0 || value > 1 << 22)
        tokenizer_fatal(b, "\"%s\" must be a number of tokens", key);
    return value;
}

// Ids below default_num_special_tokens are special, rank 0 comes after them; ranks beyond
// default_vocab_size are left out.
void read_tekken(TokenizerBuilder *b, const json_t *root) {
    enum { BOS = 1, EOS = 2, FIRST_RANK, MOST_SPECIALS = 1 << 16 };
    static const char *const first[] = {"<unk>",
                                        "<s>",
                                        "</s>",
                                        "[INST]",
                                        "[/INST]",
                                        "[AVAILABLE_TOOLS]",
                                        "[/AVAILABLE_TOOLS]",
                                        "[TOOL_RESULTS]",
                                        "[/TOOL_RESULTS]",
                                        "[TOOL_CALLS]",
                                        "[IMG]",
                                        "<pad>",
                                        "[IMG_BREAK]",
                                        "[IMG_END]",
                                        "[PREFIX]",
                                        "[MIDDLE]",
                                        "[SUFFIX]",
                                        "[SYSTEM_PROMPT]",
                                        "[/SYSTEM_PROMPT]",
                                        "[TOOL_CONTENT]"};
    const json_t *config = json_object_get(root, "config"),
                 *own = json_object_get(root, "special_tokens");
    int64_t specials = tekken_number(b, config, "default_num_special_tokens"),
            size = tekken_number(b, config, "default_vocab_size");
    if (specials < FIRST_RANK || specials > MOST_SPECIALS)
        tokenizer_fatal(b, "\"default_num_special_tokens\" is %lld, expected %d to %d",
                        (long long)specials, FIRST_RANK, MOST_SPECIALS);
    Ranked r = {b, json_object(), json_array(), 0, specials};
    size_t i;
    json_t *token;
    json_array_foreach(json_object_get(root, "vocab"), i, token) {
        if (specials + (int64_t)i >= size) break;
        const char *bytes = json_text(b, token, "token_bytes");
        add_ranked(&r, tekken_number(b, token, "rank"), bytes, strlen(bytes));
    }
    for (int64_t id = 0; id < specials; id++) {
        const char *text =
            json_string_value(json_object_get(json_array_get(own, (size_t)id), "token_str"));
        if (!text && !json_array_size(own) && id < (int64_t)(sizeof first / sizeof *first))
            text = first[id];
        add_special(&r, id, text ? text : arena_printf(b->arena, "<SPECIAL_%lld>", (long long)id),
                    true);
    }
    build_of_ranks(&r, json_string_value(json_object_get(config, "pattern")), NULL);
    b->head.bos = BOS, b->head.eos = EOS;
    bytes_append(&b->before, &(int32_t){BOS}, sizeof(int32_t));
}
