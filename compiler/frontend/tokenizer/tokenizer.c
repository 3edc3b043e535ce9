// Recognises a tokenizer by its content and has it compiled.
#include <string.h>
#include <unistd.h>

#include "frontend/checkpoint/mapped_file.h"
#include "frontend/tokenizer/compile.h"
#include "util/files.h"
#include "util/json.h"

const char *json_text(const TokenizerBuilder *b, const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    if (!text) tokenizer_fatal(b, "\"%s\" must be a string", key);
    return text;
}

bool json_flag(const TokenizerBuilder *b, const json_t *object, const char *key, bool absent) {
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value)) return absent;
    if (!json_is_boolean(value)) tokenizer_fatal(b, "\"%s\" must be true or false", key);
    return json_is_true(value);
}

const json_t *json_of_folder(const TokenizerBuilder *b, const char *name) {
    const char *folder = path_folder(b->arena, b->source->name);
    json_t *found = json_beside(folder, name);
    if (found) json_own(b->arena, found);
    if (!json_is_object(found) && access(arena_printf(b->arena, "%s/%s", folder, name), F_OK) == 0)
        tokenizer_fatal(
            b, "%s beside it is no JSON object\nhint: a truncated download? Take the file anew",
            name);
    return found;
}

// jansson supports no U+0000 in keys, and a vocabulary may have one: a noncharacter replaces it.
static const char NUL_ESCAPE[] = "\\u0000", NUL_STANDS[] = "\\uDBFF\\uDFFF",
                  NUL_BYTES[] = "\xf4\x8f\xbf\xbf";

static bool is_nul_escape(const char *at, const char *end) {
    return end - at >= 6 && !memcmp(at, NUL_ESCAPE, 6);
}

static const char *replace_nul(TokenizerBuilder *b, const char *text, size_t *size) {
    const char *end = text + *size, *from = text;
    Bytes out = {.arena = b->arena};
    for (const char *at = text; (at = memchr(at, '\\', (size_t)(end - at))) && end - at >= 2;
         at += 2) {
        if (!is_nul_escape(at, end)) continue;
        bytes_append(&out, from, (size_t)(at - from));
        bytes_append(&out, NUL_STANDS, strlen(NUL_STANDS));
        from = at + 6;
    }
    if (from == text) return text;
    bytes_append(&out, from, (size_t)(end - from));
    b->has_nul = true;
    *size = out.length;
    return out.data;
}

const char *vocabulary_text(const TokenizerBuilder *b, const char *text, size_t *length) {
    const char *from = text;
    Bytes out = {.arena = b->arena};
    *length = strlen(text);
    if (!b->has_nul || !strstr(text, NUL_BYTES)) return text;
    for (const char *at; (at = strstr(from, NUL_BYTES)); from = at + 4) {
        bytes_append(&out, from, (size_t)(at - from));
        bytes_append(&out, "", 1);
    }
    bytes_append(&out, from, strlen(from));
    *length = out.length;
    return out.data;
}

static const json_t *read_json(TokenizerBuilder *b, const MappedFile *f) {
    Source *source = ARENA_NEW(b->arena, Source);
    *source = (Source){f->source.name, (const char *)f->data, f->size};
    size_t size = source->size;
    const char *text = replace_nul(b, source->text, &size);
    if (b->has_nul) source->text = text, source->size = size;
    return json_read(b->arena, source, text, size);
}

Tokenizer *tokenizer_load(Arena *arena, const char *path, int vocab_size) {
    TokenizerBuilder b;
    builder_init(&b, arena, path);
    b.vocab_size = vocab_size;
    const MappedFile *f = map_file(arena, path);
    if (f->size > 4 && !memcmp(f->data, "GGUF", 4)) {
        read_gguf_vocabulary(&b, path);
    } else if (is_sentencepiece(f)) {
        read_sentencepiece(&b, f);
    } else if (is_word_list(f, path)) {
        read_word_list(&b, f);
    } else if (is_tiktoken(f)) {
        read_tiktoken(&b, f);
    } else if (file_is_json(f)) {
        b.is_json = true;
        const json_t *root = read_json(&b, f);
        if (is_tekken(root))
            read_tekken(&b, root);
        else
            read_tokenizer_json(&b, read_as_class(&b, root));
    } else {
        read_llama2c_vocabulary(&b, path, vocab_size);
    }
    if (vocab_size && b.n_tokens - b.n_unnumbered > vocab_size)
        tokenizer_fatal(
            &b,
            "the tokenizer has %d tokens, the model only %d\nhint: is this the model's tokenizer?",
            b.n_tokens - b.n_unnumbered, vocab_size);
    return tokenizer_build(&b);
}
