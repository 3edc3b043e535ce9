// Recognises a tokenizer by its content and has it compiled.
#include <string.h>

#include "frontend/checkpoint/mapped_file.h"
#include "frontend/json.h"
#include "frontend/tokenizer/compile.h"

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

static const json_t *read_json(TokenizerBuilder *b, const MappedFile *f) {
    Source *source = ARENA_NEW(b->arena, Source);
    *source = (Source){f->source.name, (const char *)f->data, f->size};
    return json_read(b->arena, source, source->text, source->size);
}

Tokenizer *tokenizer_load(Arena *arena, const char *path, int vocab_size) {
    TokenizerBuilder b;
    builder_init(&b, arena, path);
    const MappedFile *f = map_file(arena, path);
    if (f->size > 4 && !memcmp(f->data, "GGUF", 4)) {
        read_gguf_vocabulary(&b, path);
    } else if (file_is_json(f)) {
        read_tokenizer_json(&b, read_json(&b, f));
    } else {
        read_llama2c_vocabulary(&b, path, vocab_size);
    }
    if (vocab_size && b.n_tokens > vocab_size)
        tokenizer_fatal(&b, "the tokenizer has %d tokens, the model only %d\nhint: is this the model's tokenizer?", b.n_tokens,
                        vocab_size);
    return tokenizer_build(&b);
}
