// Where a template stands: a file of Jinja, or what a model was published with.
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/checkpoint/gguf.h"
#include "frontend/template/parser.h"
#include "util/files.h"
#include "util/json.h"

enum { MOST_BYTES = 4 << 20 };

static bool exists(const char *path) {
    struct stat s;
    return !stat(path, &s);
}

const Source *template_source(Arena *arena, const char *name, const char *text, size_t size) {
    Source *source = ARENA_NEW(arena, Source);
    char *to = arena_alloc(arena, size + 1);
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\r' && i + 1 < size && text[i + 1] == '\n') continue;
        to[n++] = text[i] == '\r' ? '\n' : text[i];
    }
    n -= n && to[n - 1] == '\n';
    to[n] = 0;
    *source = (Source){.name = arena_strdup(arena, name), .text = to, .size = n};
    if (n > MOST_BYTES) diag_fatal(loc_file(source), "a template of %zu bytes: at most %d are read", n, MOST_BYTES);
    return source;
}

// A token of tokenizer_config.json: a text, or an object with one.
static const char *token_text(Arena *arena, const json_t *config, const char *key) {
    const json_t *token = json_object_get(config, key);
    if (json_is_object(token)) token = json_object_get(token, "content");
    return json_is_string(token) ? arena_strdup(arena, json_string_value(token)) : NULL;
}

// Of several templates by name the one named "default".
static const json_t *default_template(const json_t *templates) {
    for (size_t i = 0; i < json_array_size(templates); i++) {
        const json_t *item = json_array_get(templates, i);
        const char *name = json_string_value(json_object_get(item, "name"));
        if (name && !strcmp(name, "default")) return json_object_get(item, "template");
    }
    return json_is_object(templates) ? json_object_get(templates, "default") : templates;
}

static bool find_in_json(Arena *arena, const char *path, const json_t *config, TemplateText *out) {
    const json_t *text = default_template(json_object_get(config, "chat_template"));
    if (!json_is_string(text)) return false;
    out->source = template_source(arena, arena_printf(arena, "%s: chat_template", path), json_string_value(text),
                                  json_string_length(text));
    return true;
}

static bool find_in_folder(Arena *arena, const char *folder, TemplateText *out) {
    static const char *const files[] = {"chat_template.json", "tokenizer_config.json"};
    const char *jinja = arena_printf(arena, "%s/chat_template.jinja", folder);
    json_t *config = json_beside(folder, "tokenizer_config.json");
    if (config) json_own(arena, config);
    out->bos = token_text(arena, config, "bos_token"), out->eos = token_text(arena, config, "eos_token");
    if (exists(jinja)) {
        const Source *s = read_source(arena, jinja);
        out->source = template_source(arena, jinja, s->text, s->size);
        return true;
    }
    for (int i = 0; i < 2; i++) {
        json_t *json = json_beside(folder, files[i]);
        if (json && find_in_json(arena, arena_printf(arena, "%s/%s", folder, files[i]), json_own(arena, json), out))
            return true;
    }
    return false;
}

static const char *gguf_token(Arena *arena, const Gguf *g, const char *key) {
    uint64_t n;
    int64_t id;
    const GgufString *texts = gguf_strings(g, "tokenizer.ggml.tokens", &n);
    if (!gguf_int(g, key, &id) || id < 0 || (uint64_t)id >= n) return NULL;
    return arena_strndup(arena, texts[id].bytes, texts[id].length);
}

static bool find_in_gguf(Arena *arena, const char *path, TemplateText *out) {
    const char *text;
    const Gguf *g = gguf_parse(arena, map_file(arena, path));
    out->bos = gguf_token(arena, g, "tokenizer.ggml.bos_token_id"),
    out->eos = gguf_token(arena, g, "tokenizer.ggml.eos_token_id");
    if (!gguf_string(g, "tokenizer.chat_template", &text)) return false;
    out->source = template_source(arena, arena_printf(arena, "%s: tokenizer.chat_template", path), text, strlen(text));
    return true;
}

static bool is_gguf(const char *path) {
    char magic[4];
    uint64_t size;
    int file = open_input(path, &size);
    bool is = read(file, magic, sizeof magic) == sizeof magic && !memcmp(magic, "GGUF", sizeof magic);
    close(file);
    return is;
}

bool template_find(Arena *arena, const char *path, TemplateText *out) {
    struct stat s;
    *out = (TemplateText){0};
    if (stat(path, &s)) diag_fatal(NO_LOC, "there is no %s", path);
    if (S_ISDIR(s.st_mode)) return find_in_folder(arena, path, out);
    if (is_gguf(path)) return find_in_gguf(arena, path, out);
    const Source *file = read_source(arena, path);
    const char *folder = path_folder(arena, path);
    if (text_ends_with(path, ".json")) {
        json_t *beside = json_beside(folder, path_name(path));
        const json_t *config = beside ? json_own(arena, beside) : json_read(arena, file, file->text, file->size);
        out->bos = token_text(arena, config, "bos_token"), out->eos = token_text(arena, config, "eos_token");
        return find_in_json(arena, path, config, out);
    }
    json_t *config = json_beside(folder, "tokenizer_config.json");
    if (config) json_own(arena, config);
    out->bos = token_text(arena, config, "bos_token"), out->eos = token_text(arena, config, "eos_token");
    out->source = template_source(arena, path, file->text, file->size);
    return true;
}

CompiledTemplate template_compile(Arena *arena, const TemplateText *text) {
    CompiledTemplate out = {0};
    TemplateParser *p = ARENA_NEW(arena, TemplateParser);
    *p = (TemplateParser){.arena = arena, .source = text->source};
    if (setjmp(p->stop)) {
        out = (CompiledTemplate){.problem = p->problem, .place = p->place};
    } else {
        words_add(p, &p->words, 0);  // no node is 0
        template_lex(p);
        template_write(p, parse_template(p), text, &out);
    }
    text_free(&p->bytes);
    text_free(&p->scratch);
    return out;
}
