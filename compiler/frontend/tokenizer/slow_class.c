// A vocabulary beside a tokenizer_config.json, without a tokenizer.json: presented as the one that
// the class of transformers which the configuration names would write. vocab.txt is of BERT and its
// kin, vocab.json with merges.txt of GPT-2 and its kin.
#include <string.h>
#include <unistd.h>

#include "frontend/checkpoint/mapped_file.h"
#include "frontend/tokenizer/compile.h"
#include "util/files.h"
#include "util/json.h"

enum { WORDPIECE, GPT2, ROBERTA, CLIP, QWEN2, WHISPER };
enum { BOS, EOS, UNKNOWN, SEP, PAD, CLS, MASK, SPECIALS };
static const char *const special_keys[SPECIALS] = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

typedef struct SlowClass {
    int kind;
    const char *names[16], *specials[SPECIALS];
} SlowClass;

static const SlowClass classes[] = {
    {WORDPIECE,
     {"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "MobileBertTokenizer",
      "ConvBertTokenizer", "LayoutLMTokenizer", "SqueezeBertTokenizer", "LxmertTokenizer",
      "RetriBertTokenizer", "DPRQuestionEncoderTokenizer", "DPRContextEncoderTokenizer",
      "DPRReaderTokenizer", "RealmTokenizer"},
     {[UNKNOWN] = "[UNK]", [SEP] = "[SEP]", [PAD] = "[PAD]", [CLS] = "[CLS]", [MASK] = "[MASK]"}},
    {WORDPIECE,
     {"MPNetTokenizer"},
     {[BOS] = "<s>",
      [EOS] = "</s>",
      [UNKNOWN] = "[UNK]",
      [SEP] = "</s>",
      [PAD] = "<pad>",
      [CLS] = "<s>",
      [MASK] = "<mask>"}},
    {GPT2,
     {"GPT2Tokenizer", "CodeGenTokenizer"},
     {[BOS] = "<|endoftext|>", [EOS] = "<|endoftext|>", [UNKNOWN] = "<|endoftext|>"}},
    {ROBERTA,
     {"RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer", "MvpTokenizer"},
     {[BOS] = "<s>",
      [EOS] = "</s>",
      [UNKNOWN] = "<unk>",
      [SEP] = "</s>",
      [PAD] = "<pad>",
      [CLS] = "<s>",
      [MASK] = "<mask>"}},
    {CLIP,
     {"CLIPTokenizer"},
     {[BOS] = "<|startoftext|>",
      [EOS] = "<|endoftext|>",
      [UNKNOWN] = "<|endoftext|>",
      [PAD] = "<|endoftext|>"}},
    {QWEN2,
     {"Qwen2Tokenizer"},
     {[EOS] = "<|endoftext|>", [UNKNOWN] = "<|endoftext|>", [PAD] = "<|endoftext|>"}},
    {WHISPER,
     {"WhisperTokenizer"},
     {[BOS] = "<|endoftext|>", [EOS] = "<|endoftext|>", [UNKNOWN] = "<|endoftext|>"}},
};

// Of folders whose tokenizer_config.json names no class.
static const char *const classes_of_models[][2] = {
    {"roberta", "RobertaTokenizer"},
    {"bart", "BartTokenizer"},
    {"longformer", "LongformerTokenizer"},
    {"led", "LEDTokenizer"},
    {"clip", "CLIPTokenizer"},
    {"clip_text_model", "CLIPTokenizer"},
    {"qwen2", "Qwen2Tokenizer"},
    {"qwen3", "Qwen2Tokenizer"},
    {"whisper", "WhisperTokenizer"},
    {"mpnet", "MPNetTokenizer"},
    {"blenderbot", "BlenderbotTokenizer"},
    {"roformer", "RoFormerTokenizer"},
    {"esm", "EsmTokenizer"},
    {"deberta", "DebertaTokenizer"},
};

typedef struct Slow {
    TokenizerBuilder *b;
    const SlowClass *class;
    const json_t *config, *map,
        *added;  // tokenizer_config.json, special_tokens_map.json, added_tokens.json, or NULL
    json_t *vocabulary, *tokens;  // text: id; added tokens as tokenizer.json has them
    json_t *listed, *special;     // texts of these tokens; of special ones
} Slow;

static const char *name_of_class(const Slow *s, const char *usual) {
    json_t *model = json_beside(path_folder(s->b->arena, s->b->source->name), "config.json");
    if (model) json_own(s->b->arena, model);
    const char *name = json_string_value(json_object_get(s->config, "tokenizer_class")),
               *type = json_string_value(json_object_get(model, "model_type"));
    if (!name) name = json_string_value(json_object_get(model, "tokenizer_class"));
    for (size_t i = 0; !name && type && i < sizeof classes_of_models / sizeof *classes_of_models;
         i++)
        if (!strcmp(classes_of_models[i][0], type)) name = classes_of_models[i][1];
    return name ? name : usual;
}

static bool is_class(const char *name, const char *own) {
    size_t n = strlen(own);
    return !strncmp(name, own, n) && (!name[n] || !strcmp(name + n, "Fast"));
}

static void find_class(Slow *s, const char *usual, bool wordpiece) {
    const char *name = name_of_class(s, usual);
    for (size_t i = 0; i < sizeof classes / sizeof *classes && !s->class; i++)
        for (int k = 0; k < 16 && classes[i].names[k]; k++)
            if (is_class(name, classes[i].names[k]) && (classes[i].kind == WORDPIECE) == wordpiece)
                s->class = &classes[i];
    if (is_class(name, "PreTrainedTokenizer")) s->class = wordpiece ? &classes[0] : &classes[2];
    if (!s->class)
        tokenizer_fatal(s->b,
                        "a vocabulary alone does not say how the tokenizer_class \"%s\" cuts texts"
                        "\nhint: save_pretrained of its fast tokenizer writes a tokenizer.json",
                        name);
}

// ------------------------------------------------------------------------------------ added tokens
static const char *text_of_token(const json_t *token) {
    const char *content = json_string_value(json_object_get(token, "content"));
    return content ? content : json_string_value(token);
}

static const char *special_text(const Slow *s, int which) {
    const json_t *own = json_object_get(s->config, special_keys[which]);
    if (!own) own = json_object_get(s->map, special_keys[which]);
    return own ? text_of_token(own) : s->class->specials[which];
}

static json_t *special_texts(const Slow *s) {
    const json_t *more = json_object_get(s->config, "additional_special_tokens"), *token;
    json_t *texts = json_object();
    size_t i;
    for (int which = 0; which < SPECIALS; which++)
        if (special_text(s, which)) json_object_set_new(texts, special_text(s, which), json_true());
    if (!more) more = json_object_get(s->map, "additional_special_tokens");
    json_array_foreach(more, i, token) if (text_of_token(token))
        json_object_set_new(texts, text_of_token(token), json_true());
    return texts;
}

static Slow open_slow(TokenizerBuilder *b, const char *usual, bool wordpiece) {
    Slow s = {.b = b, .tokens = json_array()};
    s.listed = json_own(b->arena, json_object());
    s.config = json_of_folder(b, "tokenizer_config.json");
    s.map = json_of_folder(b, "special_tokens_map.json");
    s.added = json_of_folder(b, "added_tokens.json");
    find_class(&s, usual, wordpiece);
    s.special = json_own(b->arena, special_texts(&s));
    return s;
}

// Also of an added token: its text gets the id that the vocabulary has for it.
static json_int_t id_of(const Slow *s, const char *text) {
    const json_t *id = text ? json_object_get(s->vocabulary, text) : NULL;
    return id ? json_integer_value(id) : -1;
}

static void list_token(Slow *s, json_int_t id, const char *text, const json_t *as, bool special,
                       bool lstrip) {
    if (!text || id < 0 || json_object_get(s->listed, text)) return;
    json_object_set_new(s->listed, text, json_true());
    if (!json_object_get(s->vocabulary, text))
        json_object_set_new(s->vocabulary, text, json_integer(id));
    json_array_append_new(
        s->tokens,
        json_pack("{s:I, s:s, s:b, s:b, s:b, s:b, s:b}", "id", id, "content", text, "special",
                  (int)special, "lstrip", (int)json_flag(s->b, as, "lstrip", lstrip), "rstrip",
                  (int)json_flag(s->b, as, "rstrip", false), "normalized",
                  (int)json_flag(s->b, as, "normalized", !special), "single_word",
                  (int)json_flag(s->b, as, "single_word", false)));
}

static void list_tokens(Slow *s) {
    const char *key;
    json_t *token;
    json_object_foreach((json_t *)json_object_get(s->config, "added_tokens_decoder"), key, token)
        list_token(s, (json_int_t)strtoll(key, NULL, 10), text_of_token(token), token,
                   json_is_true(json_object_get(token, "special")), false);
    json_object_foreach((json_t *)s->added, key, token)
        list_token(s, json_is_integer(token) ? json_integer_value(token) : -1, key, NULL,
                   json_object_get(s->special, key), false);
    for (int which = 0; which < SPECIALS; which++) {
        const char *text = special_text(s, which);
        const char *usual = s->class->specials[which];
        if (text)
            list_token(s, id_of(s, text), text, NULL, true,
                       which == MASK && usual && *usual == '<');
    }
}

// [text, id] of a token that the class puts around a text
static json_t *around(const Slow *s, int which) {
    const char *text = special_text(s, which);
    json_int_t id = id_of(s, text);
    if (id < 0)
        tokenizer_fatal(s->b, "\"%s\" (%s) is not in the vocabulary", special_keys[which],
                        text ? text : "none");
    return json_pack("[s, I]", text, id);
}

// --------------------------------------------------------------------------------------- WordPiece
// A token a line; of equal lines the last counts.
static json_t *read_lines(const TokenizerBuilder *b, const MappedFile *f) {
    json_t *vocabulary = json_object();
    const char *at = (const char *)f->data, *end = at + f->size;
    for (json_int_t id = 0; at < end; id++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        size_t n = (size_t)(stop - at);
        if (n && at[n - 1] == '\r') n--;
        if (id == MAX_TOKENS)
            tokenizer_fatal(b, "the vocabulary has more than %d lines", MAX_TOKENS);
        if (json_object_setn_new(vocabulary, at, n, json_integer(id)))
            tokenizer_fatal(b, "line %lld is no UTF-8", (long long)id + 1);
        at = stop + 1;
    }
    return vocabulary;
}

bool is_word_list(const MappedFile *f, const char *path) {
    const char *name = strrchr(path, '/');
    return !strcmp(name ? name + 1 : path, "vocab.txt") && f->size && !memchr(f->data, 0, f->size);
}

void read_word_list(TokenizerBuilder *b, const MappedFile *f) {
    Slow s = open_slow(b, "BertTokenizer", true);
    if (!json_flag(b, s.config, "do_basic_tokenize", true))
        tokenizer_fatal(
            b, "tokenizer_config.json says \"do_basic_tokenize\": false, which is not supported");
    bool lower = json_flag(b, s.config, "do_lower_case", true),
         mpnet = s.class->specials[BOS] != NULL;
    s.vocabulary = read_lines(b, f);
    list_tokens(&s);
    if (!special_text(&s, UNKNOWN))
        tokenizer_fatal(b, "\"unk_token\" is no text in tokenizer_config.json");
    const json_t *strip = json_object_get(s.config, "strip_accents");
    json_t *normalizer = json_pack(
        "{s:s, s:b, s:b, s:b, s:o}", "type", "BertNormalizer", "clean_text", 1,
        "handle_chinese_chars", (int)json_flag(b, s.config, "tokenize_chinese_chars", true),
        "lowercase", (int)lower, "strip_accents", strip ? json_copy((json_t *)strip) : json_null());
    json_t *model = json_pack("{s:s, s:s, s:s, s:i, s:o}", "type", "WordPiece", "unk_token",
                              special_text(&s, UNKNOWN), "continuing_subword_prefix", "##",
                              "max_input_chars_per_word", 100, "vocab", s.vocabulary);
    json_t *root = json_pack(
        "{s:o, s:{s:s}, s:o, s:o, s:{s:s, s:o, s:o}, s:{s:s, s:s}}", "normalizer", normalizer,
        "pre_tokenizer", "type", "BertPreTokenizer", "model", model, "added_tokens", s.tokens,
        "post_processor", "type", mpnet ? "RobertaProcessing" : "BertProcessing", "cls",
        around(&s, CLS), "sep", around(&s, SEP), "decoder", "type", "WordPiece", "prefix", "##");
    read_tokenizer_json(b, json_own(b->arena, root));
}

// ---------------------------------------------------------------------------------- byte-level BPE
// A line "#version: ...", then a merge a line.
static json_t *read_merges(const TokenizerBuilder *b, const char *path) {
    const MappedFile *f = map_file(b->arena, path);
    const char *at = (const char *)f->data, *end = at + f->size;
    json_t *merges = json_array();
    for (const char *next; at < end; at = next) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        next = stop + 1;
        if (stop > at && stop[-1] == '\r') stop--;
        bool version = !json_array_size(merges) && stop - at >= 8 && !memcmp(at, "#version", 8);
        if (stop == at || version) continue;
        json_t *text = json_stringn(at, (size_t)(stop - at));
        if (!text || memchr(at, 0, (size_t)(stop - at)))
            tokenizer_fatal(b, "merge %zu of %s is no text in UTF-8", json_array_size(merges),
                            path);
        json_array_append_new(merges, text);
    }
    return merges;
}

static json_t *split_of(const char *pattern, bool inverted) {
    return json_pack("{s:s, s:[{s:s, s:{s:s}, s:s, s:b}, {s:s, s:b, s:b}]}", "type", "Sequence",
                     "pretokenizers", "type", "Split", "pattern", "Regex", pattern, "behavior",
                     inverted ? "Removed" : "Isolated", "invert", (int)inverted, "type",
                     "ByteLevel", "add_prefix_space", 0, "use_regex", 0);
}

static json_t *pretokenizer_of(const Slow *s) {
    static const char clip[] = "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";
    if (s->class->kind == QWEN2) return split_of(QWEN2_PATTERN, false);
    if (s->class->kind == CLIP) return split_of(clip, true);
    return json_pack("{s:s, s:b, s:b}", "type", "ByteLevel", "add_prefix_space",
                     (int)json_flag(s->b, s->config, "add_prefix_space", false), "use_regex", 1);
}

static json_t *normalizer_of(const Slow *s) {
    if (s->class->kind == QWEN2) return json_pack("{s:s}", "type", "NFC");
    if (s->class->kind != CLIP) return json_null();
    return json_pack("{s:s, s:[{s:s}, {s:s, s:{s:s}, s:s}, {s:s}]}", "type", "Sequence",
                     "normalizers", "type", "NFC", "type", "Replace", "pattern", "Regex", "\\s+",
                     "content", " ", "type", "Lowercase");
}

// "<|startoftranscript|><|notimestamps|>", a text, "<|endoftext|>"
static json_t *whisper_template(const Slow *s) {
    static const char *const texts[] = {"<|startoftranscript|>", "<|notimestamps|>"};
    json_t *single = json_array(), *specials = json_object();
    for (int i = 0; i < 4; i++) {
        const char *text = i < 2 ? texts[i] : special_text(s, EOS);
        json_int_t id = id_of(s, text);
        if (i == 2)
            json_array_append_new(single,
                                  json_pack("{s:{s:s, s:i}}", "Sequence", "id", "A", "type_id", 0));
        if (i == 2 || id < 0) continue;
        json_array_append_new(
            single, json_pack("{s:{s:s, s:i}}", "SpecialToken", "id", text, "type_id", 0));
        json_object_set_new(
            specials, text,
            json_pack("{s:s, s:[I], s:[s]}", "id", text, "ids", id, "tokens", text));
    }
    return json_pack("{s:s, s:o, s:[], s:o}", "type", "TemplateProcessing", "single", single,
                     "pair", "special_tokens", specials);
}

static json_t *postprocessor_of(const Slow *s) {
    int kind = s->class->kind;
    if (kind == WHISPER) return whisper_template(s);
    if (kind == ROBERTA || kind == CLIP)
        return json_pack("{s:s, s:o, s:o}", "type", "RobertaProcessing", "cls",
                         around(s, kind == CLIP ? BOS : CLS), "sep",
                         around(s, kind == CLIP ? EOS : SEP));
    if (kind == GPT2 && json_flag(s->b, s->config, "add_bos_token", false)) {
        const char *bos = special_text(s, BOS);
        return json_pack(
            "{s:s, s:[{s:{s:s, s:i}}, {s:{s:s, s:i}}], s:[], s:{s:{s:s, s:[o], s:[s]}}}", "type",
            "TemplateProcessing", "single", "SpecialToken", "id", bos, "type_id", 0, "Sequence",
            "id", "A", "type_id", 0, "pair", "special_tokens", bos, "id", bos, "ids",
            json_incref(json_array_get(around(s, BOS), 1)), "tokens", bos);
    }
    return json_null();
}

void read_slow_bpe(TokenizerBuilder *b, const json_t *vocabulary, const char *merges_path) {
    Slow s = open_slow(b, "GPT2Tokenizer", false);
    s.vocabulary = (json_t *)vocabulary;
    list_tokens(&s);
    bool clip = s.class->kind == CLIP;
    json_t *model =
        json_pack("{s:s, s:O, s:o, s:s, s:s*}", "type", "BPE", "vocab", vocabulary, "merges",
                  read_merges(b, merges_path), "end_of_word_suffix", clip ? "</w>" : "",
                  "unk_token", clip ? special_text(&s, UNKNOWN) : NULL);
    json_t *root =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:{s:s}}", "normalizer", normalizer_of(&s),
                  "pre_tokenizer", pretokenizer_of(&s), "model", model, "added_tokens", s.tokens,
                  "post_processor", postprocessor_of(&s), "decoder", "type", "ByteLevel");
    int32_t eos = (int32_t)id_of(&s, special_text(&s, EOS));
    read_tokenizer_json(b, json_own(b->arena, root));
    b->head.eos = eos;
}
