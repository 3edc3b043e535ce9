// tokenizer.json of Hugging Face's tokenizers: the model, the added tokens, the tokens around a
// text, and the decoder. Unknown settings are refused by name.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/tokenizer/compile.h"
#include "util/files.h"

static const char *type_of(const TokenizerBuilder *b, const json_t *object, const char *part) {
    const char *type = json_string_value(json_object_get(object, "type"));
    if (!type) tokenizer_fatal(b, "the %s has no type", part);
    return type;
}

static bool present(const json_t *value) { return value && !json_is_null(value); }

// ------------------------------------------------------------------------------------------- model
void read_vocabulary(TokenizerBuilder *b, const json_t *vocabulary) {
    const char *text;
    const json_t *id;
    if (!json_is_object(vocabulary))
        tokenizer_fatal(b, "the model's \"vocab\" must be an object of texts and ids");
    json_object_foreach((json_t *)vocabulary, text, id) {
        if (!json_is_integer(id))
            tokenizer_fatal(b, "the id of token \"%s\" must be a whole number", text);
        size_t n;
        const char *bytes = vocabulary_text(b, text, &n);
        struct BuilderToken *t = builder_token(b, json_integer_value(id), bytes, n);
        if (t->in_model) tokenizer_fatal(b, "token \"%s\" has the id of another token", text);
        t->in_model = true;
    }
}

static void add_merge(Merging *m, const char *written_left, const char *written_right) {
    size_t n_left, n_right;
    const char *left = vocabulary_text(m->b, written_left, &n_left),
               *right = vocabulary_text(m->b, written_right, &n_right);
    char *both = arena_alloc(m->b->arena, n_left + n_right + 1);
    // prefix of the right part, which is inside a word
    size_t inside = n_right < m->prefix ? n_right : m->prefix;
    memcpy(both, left, n_left);
    memcpy(both + n_left, right + inside, n_right - inside);
    int32_t a = index_find(m->index, left, n_left), z = index_find(m->index, right, n_right);
    int32_t result = index_find(m->index, both, n_left + n_right - inside);
    if (a < 0 || z < 0 || result < 0)
        tokenizer_fatal(m->b, "merge %u, \"%.*s\" and \"%.*s\": %s is not in the vocabulary",
                        m->rank, (int)n_left, left, (int)n_right, right,
                        a < 0   ? "the first"
                        : z < 0 ? "the second"
                                : "the result");
    burin_merge merge = {(uint32_t)a, (uint32_t)z, (uint32_t)result, m->rank++};
    bytes_append(&m->b->merges, &merge, sizeof merge);
}

void add_written_merge(Merging *m, const char *text) {
    const char *space = text ? strchr(text, ' ') : NULL;
    if (!space || strchr(space + 1, ' '))
        tokenizer_fatal(m->b, "merge %u must be two tokens with a space between", m->rank);
    add_merge(m, arena_strndup(m->b->arena, text, (size_t)(space - text)), space + 1);
}

static void read_merges(TokenizerBuilder *b, const json_t *merges, const char *prefix) {
    Merging m = {b, builder_index(b), 0, strlen(prefix)};
    if (!json_is_array(merges)) tokenizer_fatal(b, "the model's \"merges\" must be a list");
    for (size_t i = 0; i < json_array_size(merges); i++) {
        const json_t *entry = json_array_get(merges, i);
        const char *left = json_string_value(json_array_get(entry, 0)),
                   *right = json_string_value(json_array_get(entry, 1));
        if (json_is_array(entry) && left && right)
            add_merge(&m, left, right);
        else
            add_written_merge(&m, json_string_value(entry));
    }
}

static void set_unknown(TokenizerBuilder *b, const json_t *model) {
    const json_t *text = json_object_get(model, "unk_token");
    if (!present(text)) return;
    const char *unknown = json_text(b, model, "unk_token");
    b->head.unknown = index_find(builder_index(b), unknown, strlen(unknown));
    if (b->head.unknown < 0)
        tokenizer_fatal(b, "the unknown token \"%s\" is not in the vocabulary", unknown);
}

static const char *text_or_empty(const TokenizerBuilder *b, const json_t *object, const char *key) {
    return present(json_object_get(object, key)) ? json_text(b, object, key) : "";
}

static void read_bpe(TokenizerBuilder *b, const json_t *model) {
    const json_t *dropout = json_object_get(model, "dropout");
    b->head.model = BURIN_MODEL_BPE;
    if (present(dropout) && json_number_value(dropout) != 0)
        tokenizer_fatal(b, "BPE with dropout is random, and so not supported");
    const char *prefix = text_or_empty(b, model, "continuing_subword_prefix");
    read_merges(b, json_object_get(model, "merges"), prefix);
    if (json_flag(b, model, "byte_fallback", false)) {
        b->head.flags |= BURIN_BYTE_FALLBACK;
        builder_bytes_from_texts(b);
    }
    if (json_flag(b, model, "ignore_merges", false)) b->head.flags |= BURIN_IGNORE_MERGES;
    if (json_flag(b, model, "fuse_unk", false)) b->head.flags |= BURIN_FUSE_UNKNOWN;
    const char *suffix = text_or_empty(b, model, "end_of_word_suffix");
    if (strlen(suffix) > BURIN_MAX_AFFIX || strlen(prefix) > BURIN_MAX_AFFIX)
        tokenizer_fatal(b, "the affix of a word's parts is longer than %d bytes", BURIN_MAX_AFFIX);
    if (*prefix && *suffix)
        tokenizer_fatal(
            b, "a continuing_subword_prefix beside an end_of_word_suffix is not supported");
    b->affix = *suffix ? suffix : prefix;
    if (*suffix) b->head.flags |= BURIN_AFFIX_BEHIND;
    if (b->head.flags & BURIN_BYTE_LEVEL) set_byte_level(b, suffix);
}

static void read_wordpiece(TokenizerBuilder *b, const json_t *model) {
    const json_t *most = json_object_get(model, "max_input_chars_per_word");
    b->head.model = BURIN_MODEL_WORDPIECE;
    b->affix = text_or_empty(b, model, "continuing_subword_prefix");
    b->head.max_word_characters = 100;
    if (present(most)) {
        if (!json_is_integer(most) || json_integer_value(most) < 1 ||
            json_integer_value(most) > 10000)
            tokenizer_fatal(b, "\"max_input_chars_per_word\" must be from 1 to 10000");
        b->head.max_word_characters = (uint32_t)json_integer_value(most);
    }
}

// The number that Rust's serde_json reads: the digits as an integer, times or divided by a power of
// ten, so sums of scores that are equal in the file differ as they do there.
static double serde_number(double x) {
    char text[40], *e;
    int precision = 14;
    do snprintf(text, sizeof text, "%.*e", precision, fabs(x));
    while (strtod(text, NULL) != fabs(x) && ++precision < 17);
    e = strchr(text, 'e');
    int exponent = atoi(e + 1) - precision;
    memmove(text + 1, text + 2, (size_t)precision);
    for (text[precision + 1] = 0; precision && text[precision] == '0'; precision--)
        text[precision] = 0, exponent++;
    double digits = (double)strtoull(text, NULL, 10), power;
    snprintf(text, sizeof text, "1e%d", abs(exponent));
    power = strtod(text, NULL);
    return copysign(exponent < 0 ? digits / power : digits * power, x);
}

// Of equal texts one is found.
static void drop_equals(TokenizerBuilder *b) {
    const TokenIndex *x = builder_index(b);
    for (int32_t id = 0; id < b->n_tokens; id++)
        b->tokens[id].in_model &= index_find(x, b->tokens[id].text, b->tokens[id].length) == id;
}

static void read_unigram(TokenizerBuilder *b, const json_t *model) {
    const json_t *vocabulary = json_object_get(model, "vocab"),
                 *unknown = json_object_get(model, "unk_id");
    b->head.model = BURIN_MODEL_UNIGRAM;
    if (!json_array_size(vocabulary))
        tokenizer_fatal(b, "the model's \"vocab\" must be a list of texts and scores");
    for (size_t i = 0; i < json_array_size(vocabulary); i++) {
        const json_t *entry = json_array_get(vocabulary, i), *score = json_array_get(entry, 1);
        const char *text = json_string_value(json_array_get(entry, 0));
        if (!text || !json_is_number(score))
            tokenizer_fatal(b, "entry %zu of the vocabulary must be [text, score]", i);
        size_t n;
        const char *bytes = vocabulary_text(b, text, &n);
        struct BuilderToken *t = builder_token(b, (int64_t)i, bytes, n);
        t->in_model = true, t->score = json_number_value(score);
        if (b->is_json) t->score = serde_number(t->score);
    }
    drop_equals(b);
    if (present(unknown) && (!json_is_integer(unknown) || json_integer_value(unknown) < 0 ||
                             json_integer_value(unknown) >= b->n_tokens))
        tokenizer_fatal(b, "\"unk_id\" must be the id of a token");
    if (present(unknown)) b->head.unknown = (int32_t)json_integer_value(unknown);
    if (json_flag(b, model, "byte_fallback", false)) {
        b->head.flags |= BURIN_BYTE_FALLBACK;
        builder_bytes_from_texts(b);
    }
    b->head.flags |= BURIN_FUSE_UNKNOWN;
}

// Files of before 2021 do not name the model: its fields do.
static const char *model_type(const json_t *model) {
    const char *type = json_string_value(json_object_get(model, "type"));
    if (type) return type;
    if (json_is_array(json_object_get(model, "vocab"))) return "Unigram";
    if (json_object_get(model, "merges")) return "BPE";
    return json_object_get(model, "max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

// Steps of a type in a part of the file.
static int count_type(const json_t *part, const char *type) {
    const char *own = json_string_value(json_object_get(part, "type"));
    const char *const lists[] = {"normalizers", "pretokenizers"};
    int n = own && !strcmp(own, type);
    for (int k = 0; k < 2; k++) {
        const json_t *list = json_object_get(part, lists[k]);
        for (size_t i = 0; i < json_array_size(list); i++)
            n += count_type(json_array_get(list, i), type);
    }
    return n;
}

static const json_t *last_step(const json_t *part, const char *list) {
    const json_t *steps = json_object_get(part, list);
    return json_array_size(steps)
               ? last_step(json_array_get(steps, json_array_size(steps) - 1), list)
               : part;
}

// Returns true if an added token depends on its neighbours in normalized text.
static bool sees_spaces(const json_t *root) {
    static const char *const flags[] = {"lstrip", "rstrip", "single_word"};
    const json_t *added = json_object_get(root, "added_tokens");
    bool any = false;
    for (size_t i = 0; i < json_array_size(added); i++) {
        const json_t *token = json_array_get(added, i);
        for (int k = 0; k < 3 && json_is_true(json_object_get(token, "normalized")); k++)
            any |= json_is_true(json_object_get(token, flags[k]));
    }
    return any;
}

// A BPE vocabulary is kept in bytes if ByteLevel is the last step that changes a text; otherwise
// the model sees the characters that encode bytes.
static bool keeps_bytes(const json_t *root) {
    const json_t *model = json_object_get(root, "model"),
                 *normalizer = json_object_get(root, "normalizer"),
                 *pre = json_object_get(root, "pre_tokenizer"),
                 *prefix = json_object_get(model, "continuing_subword_prefix");
    int in_normalizer = count_type(normalizer, "ByteLevel"), in_pre = count_type(pre, "ByteLevel");
    bool changes = count_type(pre, "Metaspace");
    if (strcmp(model_type(model), "BPE") || json_is_true(json_object_get(model, "byte_fallback")))
        return false;
    if (json_string_length(prefix) || in_normalizer + in_pre != 1) return false;
    if (in_normalizer)
        return !changes && !sees_spaces(root) &&
               count_type(last_step(normalizer, "normalizers"), "ByteLevel");
    return !changes || count_type(last_step(pre, "pretokenizers"), "ByteLevel");
}

static void read_model(TokenizerBuilder *b, const json_t *model) {
    const json_t *vocabulary = json_object_get(model, "vocab");
    if (!json_is_object(model))
        tokenizer_fatal(b, "\"model\" is missing\nhint: is this a tokenizer.json?");
    const char *type = model_type(model);
    if (!strcmp(type, "Unigram")) {
        read_unigram(b, model);
        return;
    }
    bool bpe = !strcmp(type, "BPE"), pieces = !strcmp(type, "WordPiece"),
         words = !strcmp(type, "WordLevel");
    if (!bpe && !pieces && !words)
        tokenizer_fatal(
            b, "model type \"%s\" is not supported, only BPE, WordPiece, Unigram and WordLevel",
            type);
    read_vocabulary(b, vocabulary);
    set_unknown(b, model);
    if (bpe)
        read_bpe(b, model);
    else if (pieces)
        read_wordpiece(b, model);
    else
        b->head.model = BURIN_MODEL_WORDLEVEL;
}

// ------------------------------------------------------------------------------------ added tokens
static bool is_text(const struct BuilderToken *t, const char *text, size_t length) {
    return t->length == length && !memcmp(t->text, text, length);
}

static bool is_taken(const TokenizerBuilder *b, json_int_t id, const char *written) {
    const char *bytes;
    size_t n, length;
    const char *text = vocabulary_text(b, written, &length);
    if (id < 0 || id >= b->n_tokens || b->tokens[id].kind == BURIN_TOKEN_ABSENT) return false;
    if (is_text(&b->tokens[id], text, length)) return false;
    bool byte_level =
        b->head.flags & BURIN_BYTE_LEVEL && bytes_of_characters(b->arena, text, length, &bytes, &n);
    return !byte_level || !is_text(&b->tokens[id], bytes, n);
}

// Hugging Face's library gives an added token the id that its text has already, or else the next
// one, ignoring the file's id.
typedef struct AddedIds {
    TokenIndex *model;
    json_t *seen;  // text to id
    json_int_t next;
} AddedIds;

static json_int_t added_id(AddedIds *a, const json_t *vocabulary, const char *text) {
    const json_t *known = json_object_get(a->seen, text), *own = json_object_get(vocabulary, text);
    json_int_t id = json_is_array(vocabulary) ? index_find(a->model, text, strlen(text))
                    : own                     ? json_integer_value(own)
                                              : -1;
    if (known) id = json_integer_value(known);
    if (id < 0) id = a->next++;
    json_object_set_new(a->seen, text, json_integer(id));
    return id;
}

static void read_added(TokenizerBuilder *b, const json_t *entry, json_int_t id) {
    const char *text = json_text(b, entry, "content");
    if (is_taken(b, id, text))
        tokenizer_fatal(b, "the added token \"%s\" has the id of another token", text);
    size_t n;
    const char *bytes = vocabulary_text(b, text, &n);
    struct BuilderToken *t = builder_token(b, id, bytes, n);
    if (t->in_bytes) t->in_bytes = t->in_model = false;
    t->added = true;
    t->added_normalized = json_flag(b, entry, "normalized", false);
    t->kind = json_flag(b, entry, "special", false) ? BURIN_TOKEN_SPECIAL : BURIN_TOKEN_NORMAL;
    t->order = b->n_added++ + (t->kind == BURIN_TOKEN_SPECIAL ? 0 : INT32_MAX / 2);
    if (json_flag(b, entry, "lstrip", false)) t->kind |= BURIN_TOKEN_LSTRIP;
    if (json_flag(b, entry, "rstrip", false)) t->kind |= BURIN_TOKEN_RSTRIP;
    if (json_flag(b, entry, "single_word", false)) t->kind |= BURIN_TOKEN_SINGLE;
}

static void read_all_added(TokenizerBuilder *b, const json_t *root) {
    const json_t *vocabulary = json_object_get(json_object_get(root, "model"), "vocab"),
                 *added = json_object_get(root, "added_tokens");
    AddedIds ids = {builder_index(b), json_object(), 0};
    ids.next = (json_int_t)(json_is_array(vocabulary) ? json_array_size(vocabulary)
                                                      : json_object_size(vocabulary));
    for (size_t i = 0; i < json_array_size(added); i++) {
        const json_t *entry = json_array_get(added, i);
        const char *text = json_text(b, entry, "content");
        if (!json_is_integer(json_object_get(entry, "id")))
            tokenizer_fatal(b, "the added token \"%s\" has no id", text);
        if (*text) read_added(b, entry, added_id(&ids, vocabulary, text));
    }
    json_decref(ids.seen);
}

static bool is_special(const struct BuilderToken *t) {
    return (t->kind & BURIN_TOKEN_KIND) == BURIN_TOKEN_SPECIAL;
}

// Another token with the text of a special one is as special.
static void mark_equals(TokenizerBuilder *b) {
    const TokenIndex *x = builder_index(b);
    for (int32_t id = 0; id < b->n_tokens; id++) {
        struct BuilderToken *t = &b->tokens[id];
        int32_t other = t->kind == BURIN_TOKEN_ABSENT ? -1 : index_find(x, t->text, t->length);
        if (other < 0 || other == id) continue;
        if (is_special(t))
            b->tokens[other].kind = BURIN_TOKEN_SPECIAL;
        else if (is_special(&b->tokens[other]))
            t->kind = BURIN_TOKEN_SPECIAL;
    }
}

// ---------------------------------------------------------------------------------- post-processor
// The tokens that a post-processor adds before and after its input.
typedef struct Around {
    Bytes before, after;  // int32_t
    bool seen;            // the text
} Around;

static void put_id(const TokenizerBuilder *b, Bytes *ids, const json_t *id) {
    json_int_t value = json_is_integer(id) ? json_integer_value(id) : -1;
    if (value < 0 || value >= b->n_tokens || b->tokens[value].kind == BURIN_TOKEN_ABSENT)
        tokenizer_fatal(b, "the post-processor names the id %lld, which no token has",
                        (long long)value);
    bytes_append(ids, &(int32_t){(int32_t)value}, sizeof(int32_t));
}

static void read_template_item(const TokenizerBuilder *b, const json_t *specials,
                               const json_t *item, Around *a) {
    const json_t *special = json_object_get(item, "SpecialToken"),
                 *sequence = json_object_get(item, "Sequence");
    if (sequence) {
        if (a->seen) tokenizer_fatal(b, "the post-processor's template names the text twice");
        a->seen = true;
        return;
    }
    const char *name = json_text(b, special, "id");
    const json_t *ids = json_object_get(json_object_get(specials, name), "ids");
    if (!json_array_size(ids))
        tokenizer_fatal(b, "the post-processor's \"special_tokens\" do not say what \"%s\" is",
                        name);
    for (size_t i = 0; i < json_array_size(ids); i++)
        put_id(b, a->seen ? &a->after : &a->before, json_array_get(ids, i));
}

static void read_template(const TokenizerBuilder *b, const json_t *processor, Around *a) {
    const json_t *single = json_object_get(processor, "single"),
                 *specials = json_object_get(processor, "special_tokens");
    if (!json_is_array(single))
        tokenizer_fatal(b, "the post-processor's \"single\" must be a list");
    for (size_t i = 0; i < json_array_size(single); i++)
        read_template_item(b, specials, json_array_get(single, i), a);
    if (!a->seen) tokenizer_fatal(b, "the post-processor's template does not name the text");
}

static void put_pair_item(TokenizerBuilder *b, int32_t id, int32_t type) {
    bytes_append(&b->pair, &(burin_pair_item){id, b->has_no_types ? 0 : type},
                 sizeof(burin_pair_item));
}

// The ids of a template's special token, or one of the two texts.
static void read_pair_item(TokenizerBuilder *b, const json_t *specials, const json_t *item) {
    const json_t *special = json_object_get(item, "SpecialToken"),
                 *sequence = json_object_get(item, "Sequence");
    const json_t *what = sequence ? sequence : special,
                 *ids = json_object_get(json_object_get(specials, json_text(b, what, "id")), "ids");
    int32_t type = (int32_t)json_integer_value(json_object_get(what, "type_id"));
    Bytes list = {.arena = b->arena};
    if (sequence) {
        put_pair_item(
            b, strcmp(json_text(b, sequence, "id"), "B") ? BURIN_PAIR_FIRST : BURIN_PAIR_SECOND,
            type);
        return;
    }
    for (size_t i = 0; i < json_array_size(ids); i++) put_id(b, &list, json_array_get(ids, i));
    for (size_t i = 0; i < list.length / sizeof(int32_t); i++)
        put_pair_item(b, ((int32_t *)list.data)[i], type);
}

// Two texts; a template without both of them has no pairs.
static void read_pair(TokenizerBuilder *b, const json_t *processor) {
    const json_t *pair = json_object_get(processor, "pair"),
                 *specials = json_object_get(processor, "special_tokens");
    int texts = 0;
    for (size_t i = 0; i < json_array_size(pair); i++)
        texts += json_object_get(json_array_get(pair, i), "Sequence") != NULL;
    b->pair.length = 0;
    for (size_t i = 0; i < json_array_size(pair) && texts == 2; i++)
        read_pair_item(b, specials, json_array_get(pair, i));
}

// [CLS] A [SEP] B [SEP] with types 0 0 0 1 1; RoBERTa's has two [SEP] in the middle, and all types
// are 0.
static void put_pair(TokenizerBuilder *b, const Around *a, bool roberta) {
    int32_t cls = *(int32_t *)a->before.data, sep = *(int32_t *)a->after.data;
    b->pair.length = 0;
    put_pair_item(b, cls, 0), put_pair_item(b, BURIN_PAIR_FIRST, 0), put_pair_item(b, sep, 0);
    if (roberta) put_pair_item(b, sep, 0);
    put_pair_item(b, BURIN_PAIR_SECOND, !roberta), put_pair_item(b, sep, !roberta);
}

// {"cls": ["[CLS]", 101], "sep": ["[SEP]", 102]}
static void read_cls_and_sep(const TokenizerBuilder *b, const json_t *processor, Around *a) {
    const json_t *cls = json_object_get(processor, "cls"), *sep = json_object_get(processor, "sep");
    if (json_array_size(cls) != 2 || json_array_size(sep) != 2)
        tokenizer_fatal(b, "the post-processor must have \"cls\" and \"sep\", each [text, id]");
    put_id(b, &a->before, json_array_get(cls, 1));
    put_id(b, &a->after, json_array_get(sep, 1));
}

// A processor of a sequence is given what those before it have made.
static void put_around(TokenizerBuilder *b, Around *a) {
    bytes_append(&a->before, b->before.data, b->before.length);
    b->before = a->before;
    bytes_append(&b->after, a->after.data, a->after.length);
}

// A template's tokens stay apart from the text, and the next processor would take each part for a
// text.
static void check_pieces(const TokenizerBuilder *b, const char *type, size_t pieces) {
    if (pieces > 1)
        tokenizer_fatal(
            b, "post-processor \"%s\" behind a template that adds tokens is not supported", type);
}

// Returns how many pieces the text has then; 0: no processor has seen it.
static size_t read_processor(TokenizerBuilder *b, const json_t *processor, size_t pieces) {
    const char *type = type_of(b, processor, "post-processor");
    const json_t *list = json_object_get(processor, "processors");
    Around a = {.before = {.arena = b->arena}, .after = {.arena = b->arena}};
    if (!strcmp(type, "Sequence")) {
        for (size_t i = 0; i < json_array_size(list); i++)
            pieces = read_processor(b, json_array_get(list, i), pieces);
        return pieces;
    }
    if (!strcmp(type, "ByteLevel")) return pieces;  // it only moves offsets
    check_pieces(b, type, pieces);
    size_t made = 1;
    if (!strcmp(type, "TemplateProcessing")) {
        read_template(b, processor, &a);
        read_pair(b, processor);
        made = json_array_size(json_object_get(processor, "single"));
    } else if (!strcmp(type, "RobertaProcessing") || !strcmp(type, "BertProcessing")) {
        read_cls_and_sep(b, processor, &a);
        put_pair(b, &a, *type == 'R');
    } else {
        tokenizer_fatal(b, "post-processor \"%s\" is not supported", type);
    }
    put_around(b, &a);
    if (pieces) b->pair.length = 0;
    return made;
}

static void read_postprocessor(TokenizerBuilder *b, const json_t *processor) {
    if (present(processor)) read_processor(b, processor, 0);
}

// -------------------------------------------------------------------------- truncation and padding
static uint32_t read_count(const TokenizerBuilder *b, const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > INT32_MAX)
        tokenizer_fatal(b, "\"%s\" must be a whole number from 0 up", key);
    return (uint32_t)json_integer_value(value);
}

static bool is_left(const TokenizerBuilder *b, const json_t *object) {
    if (!present(json_object_get(object, "direction"))) return false;
    const char *direction = json_text(b, object, "direction");
    if (strcmp(direction, "Left") && strcmp(direction, "Right"))
        tokenizer_fatal(b, "the direction \"%s\" is neither Left nor Right", direction);
    return !strcmp(direction, "Left");
}

// Tokens around a text count, and stay.
static void read_truncation(TokenizerBuilder *b, const json_t *truncation) {
    if (!present(truncation)) return;
    const char *strategy = text_or_empty(b, truncation, "strategy");
    if (!strcmp(strategy, "OnlySecond"))
        tokenizer_fatal(
            b, "truncation \"OnlySecond\" cuts the second of two texts, which is not supported");
    b->head.flags |= BURIN_TRUNCATES | (is_left(b, truncation) ? BURIN_TRUNCATES_LEFT : 0);
    b->head.most_ids = read_count(b, truncation, "max_length");
}

static void read_padding(TokenizerBuilder *b, const json_t *padding) {
    if (!present(padding)) return;
    const json_t *fixed = json_object_get(json_object_get(padding, "strategy"), "Fixed");
    b->head.flags |= BURIN_PADS | (is_left(b, padding) ? BURIN_PADS_LEFT : 0);
    if (fixed && !(b->head.pad_to = read_count(b, json_object_get(padding, "strategy"), "Fixed")))
        b->head.flags &= ~(uint32_t)BURIN_PADS;
    if (present(json_object_get(padding, "pad_to_multiple_of")))
        b->head.pad_multiple = read_count(b, padding, "pad_to_multiple_of");
    b->head.pad_id = (int32_t)read_count(b, padding, "pad_id");
}

// GPT-2's vocab.json is the vocabulary alone.
static bool is_vocabulary(const json_t *root) {
    const json_t *first = json_object_iter_value(json_object_iter((json_t *)root));
    return first && json_is_integer(first);
}

static const char *merges_beside(const TokenizerBuilder *b) {
    static const char *const usual[] = {"merges.txt", "vocab.bpe"};
    const char *folder = path_folder(b->arena, b->source->name);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        const char *path = arena_printf(b->arena, "%s/%s", folder, usual[i]);
        if (access(path, F_OK) == 0) return path;
    }
    tokenizer_fatal(b, "this is a vocabulary alone: merges.txt is missing beside it");
}

void read_tokenizer_json(TokenizerBuilder *b, const json_t *root) {
    if (is_vocabulary(root)) {
        read_slow_bpe(b, root, merges_beside(b));
        return;
    }
    b->writes_bytes = !keeps_bytes(root);
    read_normalizer(b, json_object_get(root, "normalizer"));
    read_pretokenizer(b, json_object_get(root, "pre_tokenizer"));
    read_model(b, json_object_get(root, "model"));
    read_all_added(b, root);
    mark_equals(b);
    read_postprocessor(b, json_object_get(root, "post_processor"));
    read_decoder(b, json_object_get(root, "decoder"));
    read_truncation(b, json_object_get(root, "truncation"));
    read_padding(b, json_object_get(root, "padding"));
}
