// What AutoTokenizer of transformers 5 makes of a tokenizer.json and the files beside it: a class
// with steps of its own builds them anew (class_rules.def), every class adds the tokens that
// tokenizer_config.json, special_tokens_map.json and added_tokens.json name. The result is a
// tokenizer.json, which tokenizer_json.c compiles.
//
//     {"normalizer": {"type": "BertNormalizer", "lowercase": true}, ...}    of a BertTokenizer with "do_lower_case": false
//     {"normalizer": {"type": "BertNormalizer", "lowercase": false}, ...}
#include <stdlib.h>
#include <string.h>

#include "frontend/tokenizer/compile.h"
#include "frontend/tokenizer/sentencepiece.h"
#include "util/json.h"
#include "util/text.h"

enum { BOS, EOS, UNKNOWN, SEP, PAD, CLS, MASK, SPECIALS };
static const char *const special_names[SPECIALS] = {"bos", "eos", "unk", "sep",
                                                    "pad", "cls", "mask"};

typedef struct ClassRule {
    const char *names, *model, *fields, *normalizer, *pretokenizer, *decoder, *around;
    const char *
        specials[SPECIALS];  // texts, NULL: none; a space first: it takes the white space before it
    const char *more;  // tokens with spaces between, or NULL; ^ first: before those of the files;
                       // "*": <extra_id_0> ...;
                       // "!": special tokens are found by their texts alone
} ClassRule;

#define CLASS(...) {__VA_ARGS__},
#define ARRAY(...) {__VA_ARGS__}
static const ClassRule rules[] = {
#include "frontend/tokenizer/class_rules.def"
};
#undef CLASS

// Model types of config.json and the class that AutoTokenizer takes for them; "" is the file as it
// is.
static const char *const classes_of_types[][2] = {
#include "frontend/tokenizer/class_types.def"
};

// Model types whose tokenizer_class is wrong in many folders: AutoTokenizer takes its own.
static const char distrusted_types[] =
    " arctic camembertv2-base chatlm cohere_asr ernie4_5 ernie4_5_moe fuyu h2ovl_chat hyperclovax "
    "hyperclovax_vision_v2 "
    "hyperclovax_vlm internlm2 internlm3 iquestcoder jamba llava llava_next minicpm3 minicpmv "
    "minimax_m2 modernbert "
    "modernbert-decoder molmo molmo2 nemotron nvfp4 opencua openvla paddleocr_vl phi3 phi3_v "
    "phimoe qwen2 qwen3_5 qwen3_5_moe "
    "qwen3_5_moe_text qwen4_exp siglip2 smolvlm step3_vl vipllava ";

typedef struct Reading {
    TokenizerBuilder *b;
    const json_t *file, *config, *map, *added,
        *model;               // tokenizer.json; its folder's files, or NULL; config.json
    const ClassRule *rule;    // NULL: the file's own steps
    json_t *tokens, *places;  // added tokens as tokenizer.json has them; text: place among them
    json_t *ids;              // text: id of tokens that the vocabulary lacks
    json_int_t next_id;
} Reading;

// --------------------------------------------------------------------------------------- the class
// Returns true if the list of words, with spaces between, has the word.
static bool has_word(const char *list, const char *word, size_t n) {
    for (const char *at = list; (at = strstr(at, word)); at++)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
    return false;
}

static const char *class_of_type(const char *type) {
    for (size_t i = 0; type && i < sizeof classes_of_types / sizeof *classes_of_types; i++)
        if (has_word(classes_of_types[i][1], type, strlen(type))) return classes_of_types[i][0];
    return NULL;
}

static const char *without_fast(Arena *arena, const char *name) {
    size_t n = name ? strlen(name) : 0;
    return n > 4 && !strcmp(name + n - 4, "Fast") ? arena_strndup(arena, name, n - 4) : name;
}

static bool splits_bytes(const json_t *file) {
    char *text = json_dumps(file, 0);
    bool found = text && strstr(text, "\"ByteLevel\"");
    free(text);
    return found;
}

// Returns the name of the class that AutoTokenizer takes, or "" for the file as it is.
static const char *class_name(const Reading *r) {
    Arena *arena = r->b->arena;
    const char *type = json_string_value(json_object_get(r->model, "model_type")),
               *usual = class_of_type(type),
               *named = json_string_value(json_object_get(r->config, "tokenizer_class"));
    bool distrusted = type && has_word(distrusted_types, type, strlen(type));
    if (!named) named = json_string_value(json_object_get(r->model, "tokenizer_class"));
    named = without_fast(arena, named);
    if (!named) return usual ? usual : "";
    if (!strcmp(named, "LlamaTokenizer") && !distrusted && splits_bytes(r->file)) return "";
    if (!usual || !strcmp(usual, named)) return named;
    if (!*usual) return "";
    return distrusted ? usual : strcmp(named, "PreTrainedTokenizer") ? named : "";
}

static const char *model_kind(const json_t *file) {
    const json_t *model = json_object_get(file, "model");
    const char *kind = json_string_value(json_object_get(model, "type"));
    return kind ? kind : json_is_array(json_object_get(model, "vocab")) ? "Unigram" : "";
}

static const ClassRule *find_rule(const Reading *r) {
    const char *name = class_name(r), *kind = model_kind(r->file);
    for (size_t i = 0; *name && i < sizeof rules / sizeof *rules; i++)
        if (has_word(rules[i].names, name, strlen(name)) && !strcmp(rules[i].model, kind))
            return &rules[i];
    return NULL;
}

// --------------------------------------------------------------------------------------- templates
static void expand(const Reading *, Text *, const char **at, bool wanted);

// "key=usual" up to a mark: the key's value, or its usual one as a text.
static const json_t *read_key(const Reading *r, const char **at, char stop, const char **usual) {
    const char *equals = strchr(*at, '='), *end = strchr(equals, stop);
    const json_t *value =
        json_object_get(r->config, arena_strndup(r->b->arena, *at, (size_t)(equals - *at)));
    *usual = arena_strndup(r->b->arena, equals + 1, (size_t)(end - equals - 1));
    *at = end + 1;
    return value && !json_is_null(value) ? value : NULL;
}

static void expand_value(const Reading *r, Text *out, const char **at, bool wanted) {
    const char *usual;
    const json_t *value = read_key(r, at, '\4', &usual);
    const char *text = json_string_value(value)
                           ? json_string_value(value)
                           : json_string_value(json_object_get(value, "content"));
    char *dump = value && !text ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (wanted && text)
        dump = json_dumps(json_own(r->b->arena, json_string(text)), JSON_ENCODE_ANY);
    if (wanted && text) dump[strlen(dump) - 1] = 0;
    const char *shown = dump ? dump + (text != NULL) : usual;
    if (wanted) text_append(out, shown, strlen(shown));
    free(dump);
}

static void expand_condition(const Reading *r, Text *out, const char **at, bool wanted) {
    const char *usual;
    const json_t *value = read_key(r, at, '\2', &usual);
    bool holds = value ? json_is_true(value) : !strcmp(usual, "true");
    expand(r, out, at, wanted && holds);
    expand(r, out, at, wanted && !holds);
}

// The step of the file's normalizer that has a charsmap, or NULL.
static const json_t *charsmap_step(const json_t *normalizer) {
    const json_t *list = json_object_get(normalizer, "normalizers");
    if (json_string_length(json_object_get(normalizer, "precompiled_charsmap"))) return normalizer;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (charsmap_step(json_array_get(list, i))) return charsmap_step(json_array_get(list, i));
    return NULL;
}

static void expand_charsmap(const Reading *r, Text *out, const char **at, bool wanted) {
    const json_t *step = charsmap_step(json_object_get(r->file, "normalizer"));
    char *dump = step ? json_dumps(step, 0) : NULL;
    expand(r, out, at, wanted && step);
    if (wanted && dump) text_append(out, dump, strlen(dump));
    expand(r, out, at, wanted && step);
    expand(r, out, at, wanted && !step);
    free(dump);
}

// Copies a template up to the mark that ends this part, which is passed.
static void expand(const Reading *r, Text *out, const char **at, bool wanted) {
    while (**at && **at != '\2' && **at != '\3' && **at != '\4') {
        char c = *(*at)++;
        if (c == '\1')
            expand_condition(r, out, at, wanted);
        else if (c == '\5')
            expand_value(r, out, at, wanted);
        else if (c == '\6')
            expand_charsmap(r, out, at, wanted);
        else if (wanted)
            text_append(out, c == '\'' ? "\"" : &c, 1);
    }
    if (**at) ++*at;
}

static const char *expanded(const Reading *r, const char *template) {
    Text out = {0};
    expand(r, &out, &template, true);
    const char *text = arena_strndup(r->b->arena, out.data ? out.data : "", out.length);
    text_free(&out);
    return text;
}

static json_t *expanded_json(const Reading *r, const char *template) {
    json_error_t error;
    json_t *step = json_loads(expanded(r, template), JSON_DECODE_ANY, &error);
    if (!step)
        tokenizer_fatal(
            r->b,
            "tokenizer_config.json has a value of a kind that its tokenizer_class does not take");
    return step;
}

// ------------------------------------------------------------------------------------ added tokens
static const char *text_of(const json_t *token) {
    const char *content = json_string_value(json_object_get(token, "content"));
    return content ? content : json_string_value(token);
}

static json_int_t vocabulary_size(const json_t *vocabulary) {
    return (json_int_t)(json_is_array(vocabulary) ? json_array_size(vocabulary)
                                                  : json_object_size(vocabulary));
}

// The id of a token of the model or of an added one; -1: none.
static json_int_t id_of(const Reading *r, const char *text) {
    const json_t *known = text ? json_object_get(r->ids, text) : NULL;
    return known ? json_integer_value(known) : -1;
}

static void list_vocabulary(Reading *r) {
    const json_t *vocabulary = json_object_get(json_object_get(r->file, "model"), "vocab");
    r->ids = json_own(r->b->arena,
                      json_is_object(vocabulary) ? json_copy((json_t *)vocabulary) : json_object());
    for (size_t i = 0; i < json_array_size(vocabulary); i++) {
        const char *text = json_string_value(json_array_get(json_array_get(vocabulary, i), 0));
        if (text) json_object_set_new(r->ids, text, json_integer((json_int_t)i));
    }
    r->next_id = vocabulary_size(vocabulary);
}

static bool flag_of(const Reading *r, const json_t *token, const char *key, bool usual) {
    return json_is_object(token) ? json_flag(r->b, token, key, usual) : usual;
}

// Adds a token, or changes how an added one is found; `special` is the default. Special tokens stay
// special.
static void add_token(Reading *r, const json_t *token, bool special) {
    const char *text = text_of(token);
    const json_t *place = text ? json_object_get(r->places, text) : NULL;
    json_t *before = place ? json_array_get(r->tokens, (size_t)json_integer_value(place)) : NULL;
    if (!text || !*text) return;
    special =
        flag_of(r, token, "special", special) || json_is_true(json_object_get(before, "special"));
    if (id_of(r, text) < 0) json_object_set_new(r->ids, text, json_integer(r->next_id++));
    json_t *entry =
        json_pack("{s:I, s:s, s:b, s:b, s:b, s:b, s:b}", "id", id_of(r, text), "content", text,
                  "special", (int)special, "lstrip", (int)flag_of(r, token, "lstrip", false),
                  "rstrip", (int)flag_of(r, token, "rstrip", false), "normalized",
                  (int)flag_of(r, token, "normalized", !special), "single_word",
                  (int)flag_of(r, token, "single_word", false));
    if (before) {
        json_object_update(before, entry);
        json_decref(entry);
        return;
    }
    json_object_set_new(r->places, text, json_integer((json_int_t)json_array_size(r->tokens)));
    json_array_append_new(r->tokens, entry);
}

static void add_once(Reading *r, const json_t *token, bool special) {
    const char *text = text_of(token);
    if (text && !json_object_get(r->places, text)) add_token(r, token, special);
}

// Adds a token that no file names. One beyond the model's embedding is left out: no text of a user
// has it.
static void add_usual(Reading *r, const json_t *token) {
    const char *text = text_of(token);
    bool beyond = r->b->vocab_size && r->next_id >= r->b->vocab_size;
    if (text && !(beyond && id_of(r, text) < 0)) add_once(r, token, true);
}

static int by_number(const void *a, const void *b) {
    long long x = strtoll(*(const char *const *)a, NULL, 10),
              y = strtoll(*(const char *const *)b, NULL, 10);
    return (x > y) - (x < y);
}

// "added_tokens_decoder": {"32000": {"content": "<pad>", ...}}, in order of the numbers.
static void add_decoder(Reading *r, const json_t *decoder) {
    const char **keys = ARENA_ARRAY(r->b->arena, const char *, json_object_size(decoder) + 1), *key;
    size_t n = 0;
    json_t *token;
    json_object_foreach((json_t *)decoder, key, token) keys[n++] = key;
    qsort(keys, n, sizeof *keys, by_number);
    for (size_t i = 0; i < n; i++) add_token(r, json_object_get(decoder, keys[i]), false);
}

static const json_t *special_value(const Reading *r, const char *key) {
    const json_t *legacy =
        json_object_get(r->config, "added_tokens_decoder") ? NULL : json_object_get(r->map, key);
    return legacy ? legacy : json_object_get(r->config, key);
}

static const json_t *named_special(const Reading *r, int which) {
    char key[16];
    snprintf(key, sizeof key, "%s_token", special_names[which]);
    return special_value(r, key);
}

// The token of a name ("bos"), or NULL: the configuration's, or the class's own.
static const json_t *special_token(const Reading *r, int which) {
    const json_t *token = named_special(r, which);
    const char *usual = r->rule ? r->rule->specials[which] : NULL;
    if (token) return json_is_null(token) ? NULL : token;
    if (!usual) return NULL;
    bool takes_spaces = *usual == ' ';
    return json_own(r->b->arena, takes_spaces ? json_pack("{s:s, s:b, s:b}", "content", usual + 1,
                                                          "lstrip", 1, "normalized", 0)
                                              : json_string(usual));
}

static const json_t *more_special_tokens(const Reading *r) {
    const json_t *tokens = special_value(r, "extra_special_tokens");
    bool any = json_is_object(tokens) ? json_object_size(tokens) : json_array_size(tokens);
    return any ? tokens : special_value(r, "additional_special_tokens");
}

static bool is_special_name(const char *key) {
    for (int i = 0; i < SPECIALS; i++)
        if (!strncmp(key, special_names[i], strlen(special_names[i])) &&
            !strcmp(key + strlen(special_names[i]), "_token"))
            return true;
    return false;
}

// "a b c": tokens of the class's own.
static void add_words(Reading *r, const char *at) {
    while (*at) {
        size_t length = strcspn(at, " ");
        add_usual(r, json_own(r->b->arena, json_stringn(at, length)));
        at += length + (at[length] == ' ');
    }
}

// Names of their own: "image_token": "<image>".
static void add_named(Reading *r) {
    const json_t *more = more_special_tokens(r);
    const char *key;
    json_t *token;
    for (int which = 0; which < SPECIALS; which++)
        if (named_special(r, which))
            add_once(r, special_token(r, which), true);
        else
            add_usual(r, special_token(r, which));
    if (r->rule && r->rule->more && *r->rule->more == '^') add_words(r, r->rule->more + 1);
    json_object_foreach((json_t *)r->config, key, token) {
        size_t n = strlen(key);
        if (n > 6 && !strcmp(key + n - 6, "_token") && !is_special_name(key) && text_of(token))
            add_once(r, token, true);
    }
    if (json_is_object(more))
        json_object_foreach((json_t *)more, key, token) add_once(r, token, true);
    for (size_t i = 0; i < json_array_size(more); i++) add_once(r, json_array_get(more, i), true);
    const json_t *padding = json_object_get(json_object_get(r->file, "padding"), "pad_token");
    if (!special_token(r, PAD) && !special_value(r, "pad_token")) add_once(r, padding, true);
}

static void add_extra_ids(Reading *r) {
    const json_t *count = json_object_get(r->config, "extra_ids");
    json_int_t n = json_is_integer(count) ? json_integer_value(count) : 100;
    if (n < 0 || n > MAX_TOKENS)
        tokenizer_fatal(r->b, "\"extra_ids\" must be a number from 0 to %d", MAX_TOKENS);
    for (json_int_t i = 0; i < n; i++)
        add_usual(r, json_own(r->b->arena, json_sprintf("<extra_id_%lld>", (long long)i)));
}

// Special tokens as their texts alone: without the files' settings of surrounding white space.
static void add_plain_special(Reading *r) {
    for (int which = 0; which < SPECIALS; which++) {
        const char *text = text_of(special_token(r, which));
        if (text) add_token(r, json_own(r->b->arena, json_string(text)), true);
    }
}

// Languages are added unless the files name other tokens.
static void add_more(Reading *r) {
    const char *more = r->rule && r->rule->more ? r->rule->more : "";
    bool languages = *more && r->rule->around && strstr(r->rule->around, "lang");
    if (*more == '*') add_extra_ids(r);
    if (*more == '!') add_plain_special(r);
    bool words = *more && !strchr("*!^", *more);
    if (words && !(languages && json_is_array(more_special_tokens(r)))) add_words(r, more);
}

static bool is_named_special(const Reading *r, const char *text) {
    const json_t *more = more_special_tokens(r);
    for (int which = 0; which < SPECIALS; which++) {
        const char *own = text_of(special_token(r, which));
        if (own && !strcmp(own, text)) return true;
    }
    for (size_t i = 0; i < json_array_size(more); i++)
        if (text_of(json_array_get(more, i)) && !strcmp(text_of(json_array_get(more, i)), text))
            return true;
    return false;
}

// {"<x>": 32000}, in the order of the file.
static void add_listed(Reading *r) {
    const char *key;
    json_t *id;
    json_object_foreach((json_t *)r->added, key, id) {
        bool special = is_named_special(r, key);
        add_token(r,
                  json_own(r->b->arena, json_pack("{s:s, s:b, s:b}", "content", key, "special",
                                                  (int)special, "normalized", (int)!special)),
                  special);
    }
}

static void add_tokens(Reading *r) {
    const json_t *decoder = json_object_get(r->config, "added_tokens_decoder"),
                 *own = json_object_get(r->file, "added_tokens");
    for (size_t i = 0; i < json_array_size(own) && (!r->rule || !decoder); i++)
        add_token(r, json_array_get(own, i), false);
    if (decoder)
        add_decoder(r, decoder);
    else
        add_listed(r);
    add_named(r);
    add_more(r);
}

// ---------------------------------------------------------------------------------- post-processor
// A token by its name in a post-processor of the table.
static const json_t *token_around(const Reading *r, const char *name, size_t n) {
    static const char *const of_speech[][2] = {{"start", "<|startoftranscript|>"},
                                               {"plain", "<|notimestamps|>"}};
    for (int which = 0; which < SPECIALS; which++)
        if (strlen(special_names[which]) == n && !strncmp(special_names[which], name, n))
            return special_token(r, which);
    for (size_t i = 0; i < sizeof of_speech / sizeof *of_speech; i++)
        if (strlen(of_speech[i][0]) == n && !strncmp(of_speech[i][0], name, n))
            return id_of(r, of_speech[i][1]) < 0
                       ? special_token(r, UNKNOWN)
                       : json_own(r->b->arena, json_string(of_speech[i][1]));
    const json_t *language = json_object_get(r->config, "src_lang");
    const char *usual =
        strstr(r->rule->more ? r->rule->more : "", "eng_Latn") ? "eng_Latn" : "en_XX";
    return language && !json_is_null(language) ? language
                                               : json_own(r->b->arena, json_string(usual));
}

// "cls A sep:1" to a list of a TemplateProcessing.
static json_t *template_of(const Reading *r, const char *words, size_t length, json_t *specials) {
    json_t *list = json_array();
    for (const char *at = words, *end = words + length; at < end;) {
        size_t n = strcspn(at, " |"), name = strcspn(at, ": |");
        int type = name < n ? at[name + 1] - '0' : 0;
        const char *text =
            n == 0 || *at == 'A' || *at == 'B' ? NULL : text_of(token_around(r, at, name));
        if (n && text && id_of(r, text) < 0)
            tokenizer_fatal(r->b, "\"%s\", which its class puts around a text, is no token", text);
        if (text)
            json_object_set_new(specials, text,
                                json_pack("{s:s, s:[I], s:[s]}", "id", text, "ids", id_of(r, text),
                                          "tokens", text));
        if (text)
            json_array_append_new(
                list, json_pack("{s:{s:s, s:i}}", "SpecialToken", "id", text, "type_id", type));
        if (n && (*at == 'A' || *at == 'B'))
            json_array_append_new(list, json_pack("{s:{s:s%, s:i}}", "Sequence", "id", at,
                                                  (size_t)1, "type_id", type));
        at += n + 1;
    }
    return list;
}

static json_t *processor_of(const Reading *r, const char *around) {
    const char *bar = strchr(around, '|');
    json_t *specials = json_object(),
           *single = template_of(r, around, (size_t)(bar - around), specials),
           *pair = template_of(r, bar + 2, strlen(bar + 2), specials);
    return json_pack("{s:s, s:o, s:o, s:o}", "type", "TemplateProcessing", "single", single, "pair",
                     pair, "special_tokens", specials);
}

// Classes that add BOS and EOS where tokenizer_config.json wants them, whatever the file's
// post-processor does.
static bool has_ends(const Reading *r) {
    static const char names[] =
        "LlamaTokenizer CodeLlamaTokenizer GemmaTokenizer CohereTokenizer GPTNeoXTokenizer";
    const char *name =
        without_fast(r->b->arena, json_string_value(json_object_get(r->config, "tokenizer_class")));
    return name && has_word(names, name, strlen(name));
}

// Returns true if the post-processor puts this token before the text, or after it.
static bool puts_token(const json_t *processor, const char *text, bool after) {
    const json_t *list = json_object_get(processor, "processors"),
                 *single = json_object_get(processor, "single"),
                 *pair = json_object_get(processor, after ? "sep" : "cls");
    bool seen = false;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (puts_token(json_array_get(list, i), text, after)) return true;
    for (size_t i = 0; i < json_array_size(single); i++) {
        const char *special = json_string_value(
            json_object_get(json_object_get(json_array_get(single, i), "SpecialToken"), "id"));
        if (special && seen == after && !strcmp(special, text)) return true;
        seen |= !special;
    }
    const char *own = json_string_value(json_array_get(pair, 0));
    return own && !strcmp(own, text);
}

static bool lacks_end(const Reading *r, const char *key, int which) {
    const char *text = text_of(special_token(r, which));
    return json_is_true(json_object_get(r->config, key)) && text &&
           !puts_token(json_object_get(r->file, "post_processor"), text, which == EOS);
}

// Returns true for a folder that transformers 5 reads without the ends of a text that
// tokenizer_config.json asks for. Earlier ones add them, and keep the steps of the file.
static bool is_of_four(const Reading *r) {
    return has_ends(r) &&
           (lacks_end(r, "add_bos_token", BOS) || lacks_end(r, "add_eos_token", EOS));
}

static json_t *processor_with_ends(const Reading *r) {
    bool bos = json_is_true(json_object_get(r->config, "add_bos_token")) && special_token(r, BOS),
         eos = json_is_true(json_object_get(r->config, "add_eos_token")) && special_token(r, EOS);
    return processor_of(r, bos && eos ? "bos A eos | bos A eos bos:1 B:1 eos:1"
                           : bos      ? "bos A | bos A bos:1 B:1"
                                      : "A eos | A eos B:1 eos:1");
}

// A file without a post-processor adds nothing.
static json_t *processor(const Reading *r) {
    json_t *own = json_object_get(r->file, "post_processor");
    if (is_of_four(r)) return processor_with_ends(r);
    if (!r->rule || !r->rule->around || !json_is_object(own))
        return own ? json_incref(own) : json_null();
    return processor_of(r, expanded(r, r->rule->around));
}

// ---------------------------------------------------------------------------------------- the file
static void set_step(const Reading *r, json_t *root, const char *key, const char *template) {
    if (template) json_object_set_new(root, key, expanded_json(r, template));
}

// Returns true if the class builds another step than the file has.
static bool replaces(const Reading *r, const char *key, const char *template) {
    const json_t *own = json_object_get(r->file, key);
    json_t *step = template ? expanded_json(r, template) : NULL;
    bool other = step && !json_equal(step, own) && !(json_is_null(step) && !own);
    json_decref(step);
    return other;
}

// For -v, where versions of transformers read this folder differently; NULL: they do not.
static const char *note_of(const Reading *r) {
    if (is_of_four(r))
        return "tokenizer_config.json adds tokens around a text, as transformers 4 does; "
               "transformers 5 leaves them out";
    if (!r->rule) return NULL;
    bool other = replaces(r, "normalizer", r->rule->normalizer) ||
                 replaces(r, "pre_tokenizer", r->rule->pretokenizer);
    return other ? arena_printf(r->b->arena,
                                "its class builds steps of its own in place of those of "
                                "tokenizer.json, as transformers 5 does (%s)",
                                class_name(r))
                 : NULL;
}

static json_t *model_of(const Reading *r) {
    json_t *model = json_copy(json_object_get(r->file, "model"));
    json_t *fields = r->rule->fields ? expanded_json(r, r->rule->fields) : json_object();
    json_object_update(model, fields);
    json_decref(fields);
    return model;
}

// Returns true for a list of a model's inputs without token_type_ids: both texts of a pair are of
// one type.
static bool leaves_types_out(const Reading *r) {
    const json_t *names = json_object_get(r->config, "model_input_names");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (name && !strcmp(name, "token_type_ids")) return false;
    }
    return json_array_size(names) > 0;
}

const json_t *read_as_class(TokenizerBuilder *b, const json_t *file) {
    Reading r = {.b = b, .file = file, .config = json_of_folder(b, "tokenizer_config.json")};
    r.model = json_of_folder(b, "config.json");
    if (!r.config && !r.model) return file;
    if (!json_is_object(json_object_get(json_object_get(file, "model"), "vocab")) &&
        !json_is_array(json_object_get(json_object_get(file, "model"), "vocab")))
        return file;
    r.map = json_of_folder(b, "special_tokens_map.json"),
    r.added = json_of_folder(b, "added_tokens.json");
    r.rule = find_rule(&r);
    r.tokens = json_array(), r.places = json_own(b->arena, json_object());
    json_t *root = json_own(b->arena, json_copy((json_t *)file));
    list_vocabulary(&r);
    add_tokens(&r);
    json_object_set_new(root, "added_tokens", r.tokens);
    json_object_set_new(root, "post_processor", processor(&r));
    json_object_del(root, "truncation"), json_object_del(root, "padding");
    b->has_no_types = leaves_types_out(&r);
    if (json_flag(b, r.config, "split_special_tokens", false))
        b->head.flags |= BURIN_SPLITS_SPECIAL;
    b->note = note_of(&r);
    if (!r.rule || is_of_four(&r)) return root;
    set_step(&r, root, "normalizer", r.rule->normalizer);
    set_step(&r, root, "pre_tokenizer", r.rule->pretokenizer);
    set_step(&r, root, "decoder", r.rule->decoder);
    json_object_set_new(root, "model", model_of(&r));
    return root;
}
