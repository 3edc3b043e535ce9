// tokenizer.json of Hugging Face's tokenizers: the model, the added tokens, what is put around a text, and the decoder.
// Whatever is not understood is refused by name.
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

// --------------------------------------------------------------------------------------------------------------------- model
void read_vocabulary(TokenizerBuilder *b, const json_t *vocabulary) {
    const char *text;
    const json_t *id;
    if (!json_is_object(vocabulary)) tokenizer_fatal(b, "the model's \"vocab\" must be an object of texts and ids");
    json_object_foreach((json_t *)vocabulary, text, id) {
        if (!json_is_integer(id)) tokenizer_fatal(b, "the id of token \"%s\" must be a whole number", text);
        struct BuilderToken *t = builder_token(b, json_integer_value(id), text, strlen(text));
        if (t->in_model) tokenizer_fatal(b, "token \"%s\" has the id of another token", text);
        t->in_model = true;
    }
}

static void add_merge(Merging *m, const char *left, size_t n_left, const char *right, size_t n_right) {
    char *both = arena_alloc(m->b->arena, n_left + n_right + 1);
    size_t inside = n_right < m->prefix ? n_right : m->prefix;  // what the right one has in front because it is inside a word
    memcpy(both, left, n_left);
    memcpy(both + n_left, right + inside, n_right - inside);
    int32_t a = index_find(m->index, left, n_left), z = index_find(m->index, right, n_right);
    int32_t result = index_find(m->index, both, n_left + n_right - inside);
    if (a < 0 || z < 0 || result < 0)
        tokenizer_fatal(m->b, "merge %u, \"%.*s\" and \"%.*s\": %s is not in the vocabulary", m->rank, (int)n_left, left,
                        (int)n_right, right,
                        a < 0   ? "the first"
                        : z < 0 ? "the second"
                                : "the result");
    burin_merge merge = {(uint32_t)a, (uint32_t)z, (uint32_t)result, m->rank++};
    bytes_append(&m->b->merges, &merge, sizeof merge);
}

void add_written_merge(Merging *m, const char *text) {
    const char *space = text ? strchr(text, ' ') : NULL;
    if (!space || strchr(space + 1, ' ')) tokenizer_fatal(m->b, "merge %u must be two tokens with a space between", m->rank);
    add_merge(m, text, (size_t)(space - text), space + 1, strlen(space + 1));
}

static void read_merges(TokenizerBuilder *b, const json_t *merges, const char *prefix) {
    Merging m = {b, builder_index(b), 0, strlen(prefix)};
    if (!json_is_array(merges)) tokenizer_fatal(b, "the model's \"merges\" must be a list");
    for (size_t i = 0; i < json_array_size(merges); i++) {
        const json_t *entry = json_array_get(merges, i);
        const char *left = json_string_value(json_array_get(entry, 0)), *right = json_string_value(json_array_get(entry, 1));
        if (json_is_array(entry) && left && right)
            add_merge(&m, left, strlen(left), right, strlen(right));
        else
            add_written_merge(&m, json_string_value(entry));
    }
}

static void set_unknown(TokenizerBuilder *b, const json_t *model) {
    const json_t *text = json_object_get(model, "unk_token");
    if (!present(text)) return;
    const char *unknown = json_text(b, model, "unk_token");
    b->head.unknown = index_find(builder_index(b), unknown, strlen(unknown));
    if (b->head.unknown < 0) tokenizer_fatal(b, "the unknown token \"%s\" is not in the vocabulary", unknown);
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
    if (*prefix && (*suffix || b->head.flags & BURIN_BYTE_LEVEL))
        tokenizer_fatal(b, "a continuing_subword_prefix beside an end_of_word_suffix or ByteLevel is not supported");
    b->affix = *suffix ? suffix : prefix;
    if (*suffix) b->head.flags |= BURIN_DECODE_SUFFIX | BURIN_AFFIX_BEHIND;
    if (b->head.flags & BURIN_BYTE_LEVEL) set_byte_level(b, suffix);
}

static void read_wordpiece(TokenizerBuilder *b, const json_t *model) {
    const json_t *most = json_object_get(model, "max_input_chars_per_word");
    b->head.model = BURIN_MODEL_WORDPIECE;
    b->affix = text_or_empty(b, model, "continuing_subword_prefix");
    b->head.max_word_characters = 100;
    if (present(most)) {
        if (!json_is_integer(most) || json_integer_value(most) < 1 || json_integer_value(most) > 10000)
            tokenizer_fatal(b, "\"max_input_chars_per_word\" must be from 1 to 10000");
        b->head.max_word_characters = (uint32_t)json_integer_value(most);
    }
}

static void read_unigram(TokenizerBuilder *b, const json_t *model) {
    const json_t *vocabulary = json_object_get(model, "vocab"), *unknown = json_object_get(model, "unk_id");
    b->head.model = BURIN_MODEL_UNIGRAM;
    if (!json_array_size(vocabulary)) tokenizer_fatal(b, "the model's \"vocab\" must be a list of texts and scores");
    for (size_t i = 0; i < json_array_size(vocabulary); i++) {
        const json_t *entry = json_array_get(vocabulary, i), *score = json_array_get(entry, 1);
        const char *text = json_string_value(json_array_get(entry, 0));
        if (!text || !json_is_number(score)) tokenizer_fatal(b, "entry %zu of the vocabulary must be [text, score]", i);
        struct BuilderToken *t = builder_token(b, (int64_t)i, text, strlen(text));
        t->in_model = true, t->score = json_number_value(score);
    }
    if (present(unknown) &&
        (!json_is_integer(unknown) || json_integer_value(unknown) < 0 || json_integer_value(unknown) >= b->n_tokens))
        tokenizer_fatal(b, "\"unk_id\" must be the id of a token");
    if (present(unknown)) b->head.unknown = (int32_t)json_integer_value(unknown);
    if (json_flag(b, model, "byte_fallback", false)) {
        b->head.flags |= BURIN_BYTE_FALLBACK;
        builder_bytes_from_texts(b);
    }
    b->head.flags |= BURIN_FUSE_UNKNOWN;
}

// Files of before 2021 do not name the model: its fields do.
static const char *implied_type(const json_t *model) {
    if (json_is_array(json_object_get(model, "vocab"))) return "Unigram";
    if (json_object_get(model, "merges")) return "BPE";
    return json_object_get(model, "max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

static void read_model(TokenizerBuilder *b, const json_t *model) {
    const char *type = json_string_value(json_object_get(model, "type"));
    const json_t *vocabulary = json_object_get(model, "vocab");
    if (!json_is_object(model)) tokenizer_fatal(b, "\"model\" is missing\nhint: is this a tokenizer.json?");
    if (!type) type = implied_type(model);
    if (!strcmp(type, "Unigram")) {
        read_unigram(b, model);
        return;
    }
    bool bpe = !strcmp(type, "BPE"), pieces = !strcmp(type, "WordPiece"), words = !strcmp(type, "WordLevel");
    if (!bpe && !pieces && !words)
        tokenizer_fatal(b, "model type \"%s\" is not supported, only BPE, WordPiece, Unigram and WordLevel", type);
    if (!bpe && b->head.flags & BURIN_BYTE_LEVEL)
        tokenizer_fatal(b, "ByteLevel with a model of type \"%s\" is not supported", type);
    read_vocabulary(b, vocabulary);
    set_unknown(b, model);
    if (bpe)
        read_bpe(b, model);
    else if (pieces)
        read_wordpiece(b, model);
    else
        b->head.model = BURIN_MODEL_WORDLEVEL;
}

// -------------------------------------------------------------------------------------------------------------- added tokens
static bool is_text(const struct BuilderToken *t, const char *text, size_t length) {
    return t->length == length && !memcmp(t->text, text, length);
}

static bool is_taken(const TokenizerBuilder *b, json_int_t id, const char *text) {
    const char *bytes;
    size_t n;
    if (id < 0 || id >= b->n_tokens || b->tokens[id].kind == BURIN_TOKEN_ABSENT) return false;
    if (is_text(&b->tokens[id], text, strlen(text))) return false;
    bool byte_level = b->head.flags & BURIN_BYTE_LEVEL && bytes_of_characters(b->arena, text, strlen(text), &bytes, &n);
    return !byte_level || !is_text(&b->tokens[id], bytes, n);
}

static void read_added(TokenizerBuilder *b, const json_t *entry) {
    const json_t *id = json_object_get(entry, "id");
    const char *text = json_text(b, entry, "content");
    if (!json_is_integer(id)) tokenizer_fatal(b, "the added token \"%s\" has no id", text);
    if (is_taken(b, json_integer_value(id), text))
        tokenizer_fatal(b, "the added token \"%s\" has the id of another token", text);
    struct BuilderToken *t = builder_token(b, json_integer_value(id), text, strlen(text));
    t->added = true;
    t->added_normalized = json_flag(b, entry, "normalized", false);
    t->kind = json_flag(b, entry, "special", false) ? BURIN_TOKEN_SPECIAL : BURIN_TOKEN_NORMAL;
    if (t->kind == BURIN_TOKEN_SPECIAL) t->in_model = false;  // no text becomes it by way of the model
    if (json_flag(b, entry, "lstrip", false)) t->kind |= BURIN_TOKEN_LSTRIP;
    if (json_flag(b, entry, "rstrip", false)) t->kind |= BURIN_TOKEN_RSTRIP;
    if (json_flag(b, entry, "single_word", false)) t->kind |= BURIN_TOKEN_SINGLE;
}

// ------------------------------------------------------------------------------------------------------------ post-processor
static int32_t token_of(const TokenizerBuilder *b, const char *text) {
    for (int32_t id = 0; id < b->n_tokens; id++)
        if (b->tokens[id].text && strlen(text) == b->tokens[id].length && !memcmp(b->tokens[id].text, text, strlen(text)))
            return id;
    tokenizer_fatal(b, "the post-processor names \"%s\", which is no token", text);
}

static void read_template_item(TokenizerBuilder *b, const json_t *item, bool *seen) {
    const json_t *special = json_object_get(item, "SpecialToken"), *sequence = json_object_get(item, "Sequence");
    if (sequence) {
        if (*seen) tokenizer_fatal(b, "the post-processor's template names the text twice");
        *seen = true;
    } else {
        int32_t id = token_of(b, json_text(b, special, "id"));
        bytes_append(*seen ? &b->after : &b->before, &id, sizeof id);
    }
}

static void read_template(TokenizerBuilder *b, const json_t *processor) {
    const json_t *single = json_object_get(processor, "single");
    bool seen = false;
    if (!json_is_array(single)) tokenizer_fatal(b, "the post-processor's \"single\" must be a list");
    for (size_t i = 0; i < json_array_size(single); i++) read_template_item(b, json_array_get(single, i), &seen);
}

// {"cls": ["[CLS]", 101], "sep": ["[SEP]", 102]}
static void read_cls_and_sep(TokenizerBuilder *b, const json_t *processor) {
    const char *cls = json_string_value(json_array_get(json_object_get(processor, "cls"), 0));
    const char *sep = json_string_value(json_array_get(json_object_get(processor, "sep"), 0));
    if (!cls || !sep) tokenizer_fatal(b, "the post-processor must have \"cls\" and \"sep\", each [text, id]");
    int32_t before = token_of(b, cls), after = token_of(b, sep);
    bytes_append(&b->before, &before, sizeof before);
    bytes_append(&b->after, &after, sizeof after);
}

static void read_postprocessor(TokenizerBuilder *b, const json_t *processor) {
    if (!present(processor)) return;
    const char *type = type_of(b, processor, "post-processor");
    const json_t *list = json_object_get(processor, "processors");
    if (!strcmp(type, "Sequence")) {
        for (size_t i = 0; i < json_array_size(list); i++) read_postprocessor(b, json_array_get(list, i));
    } else if (!strcmp(type, "TemplateProcessing")) {
        read_template(b, processor);
    } else if (!strcmp(type, "RobertaProcessing") || !strcmp(type, "BertProcessing")) {
        read_cls_and_sep(b, processor);
    } else if (strcmp(type, "ByteLevel")) {  // which only moves offsets
        tokenizer_fatal(b, "post-processor \"%s\" is not supported", type);
    }
}

// ------------------------------------------------------------------------------------------------------------------- decoder
static void read_strip(TokenizerBuilder *b, const json_t *decoder) {
    json_int_t start = json_integer_value(json_object_get(decoder, "start")),
               stop = json_integer_value(json_object_get(decoder, "stop"));
    if (strcmp(json_text(b, decoder, "content"), " ") || start > 1 || stop)
        tokenizer_fatal(b, "decoder Strip removes more than one leading space, which is not supported");
    if (start) b->head.flags |= BURIN_DECODE_STRIP | (b->fused ? 0 : BURIN_DECODE_STRIP_EACH);
}

static void read_replace(TokenizerBuilder *b, const json_t *decoder) {
    const char *from = json_string_value(json_object_get(json_object_get(decoder, "pattern"), "String"));
    if (!from || strcmp(from, "\xe2\x96\x81") || strcmp(json_text(b, decoder, "content"), " "))
        tokenizer_fatal(b, "decoder Replace is supported only from U+2581 to a space");
    b->head.flags |= BURIN_DECODE_METASPACE;
}

static void read_metaspace(TokenizerBuilder *b, const json_t *decoder) {
    const char *scheme = json_string_value(json_object_get(decoder, "prepend_scheme"));
    if (strcmp(json_text(b, decoder, "replacement"), "\xe2\x96\x81"))
        tokenizer_fatal(b, "decoder Metaspace is supported only with U+2581");
    b->head.flags |= BURIN_DECODE_METASPACE;
    if (scheme ? strcmp(scheme, "never") != 0 : json_flag(b, decoder, "add_prefix_space", true))
        b->head.flags |= BURIN_DECODE_FIRST;
}

static void read_decoder(TokenizerBuilder *b, const json_t *decoder) {
    if (!present(decoder)) {
        b->head.flags &= ~(uint32_t)BURIN_DECODE_SUFFIX;
        b->head.flags |= BURIN_DECODE_SPACES;
        return;
    }
    const char *type = type_of(b, decoder, "decoder");
    const json_t *list = json_object_get(decoder, "decoders");
    if (!strcmp(type, "Sequence")) {
        for (size_t i = 0; i < json_array_size(list); i++) read_decoder(b, json_array_get(list, i));
    } else if (!strcmp(type, "Strip")) {
        read_strip(b, decoder);
    } else if (!strcmp(type, "Replace")) {
        read_replace(b, decoder);
    } else if (!strcmp(type, "Metaspace")) {
        read_metaspace(b, decoder);
    } else if (!strcmp(type, "WordPiece")) {
        b->head.flags |= BURIN_DECODE_WORDPIECE | (json_flag(b, decoder, "cleanup", true) ? BURIN_DECODE_CLEANUP : 0);
    } else if (!strcmp(type, "ByteLevel")) {
        if (!(b->head.flags & BURIN_BYTE_LEVEL))
            tokenizer_fatal(b, "decoder ByteLevel without a ByteLevel pre-tokenizer is not supported");
    } else if (!strcmp(type, "Fuse")) {
        b->fused = true;
    } else if (strcmp(type, "ByteFallback") && strcmp(type, "BPEDecoder")) {  // done by the model's flags
        tokenizer_fatal(b, "decoder \"%s\" is not supported", type);
    }
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
        read_gpt2_vocabulary(b, root, merges_beside(b));
        return;
    }
    const json_t *added = json_object_get(root, "added_tokens");
    read_normalizer(b, json_object_get(root, "normalizer"));
    read_pretokenizer(b, json_object_get(root, "pre_tokenizer"));
    read_model(b, json_object_get(root, "model"));
    for (size_t i = 0; i < json_array_size(added); i++) read_added(b, json_array_get(added, i));
    read_postprocessor(b, json_object_get(root, "post_processor"));
    read_decoder(b, json_object_get(root, "decoder"));
}
