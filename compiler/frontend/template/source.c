// The location of a template: a Jinja file, or a file of the published model.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/checkpoint/gguf/gguf.h"
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
    if (n > MOST_BYTES)
        diag_fatal(loc_file(source), "a template of %zu bytes: at most %d are read", n, MOST_BYTES);
    return source;
}

// ---- special tokens ----
// A token: a text, or an object with one.
static const char *token_text(Arena *arena, const json_t *token) {
    if (json_is_object(token)) token = json_object_get(token, "content");
    return json_is_string(token) ? arena_strdup(arena, json_string_value(token)) : NULL;
}

// A variable of the template; the first one of a name counts.
static void add_token(Arena *arena, TemplateText *out, const char *name, const char *text) {
    bool bos = !strcmp(name, "bos_token"), known = false;
    if (!text) return;
    if (bos || !strcmp(name, "eos_token")) {
        const char **to = bos ? &out->bos : &out->eos;
        if (!*to) *to = text;
        return;
    }
    for (int i = 0; i < out->n_tokens; i++) known |= !strcmp(out->tokens[i].name, name);
    if (known) return;
    struct TemplateToken *more = ARENA_ARRAY(arena, struct TemplateToken, out->n_tokens + 1);
    for (int i = 0; i < out->n_tokens; i++) more[i] = out->tokens[i];
    more[out->n_tokens++] = (struct TemplateToken){arena_strdup(arena, name), text};
    out->tokens = more;
}

// All "..._token" of an object, or of one with tokens of the model's own all that it names.
static void add_tokens(Arena *arena, TemplateText *out, const json_t *from, bool own) {
    const char *name;
    json_t *token;
    json_object_foreach((json_t *)(uintptr_t)from, name, token) {
        if (own || text_ends_with(name, "_token"))
            add_token(arena, out, name, token_text(arena, token));
    }
}

// As transformers reads them: special_tokens_map.json counts where tokenizer_config.json has no
// added_tokens_decoder.
static void find_tokens(Arena *arena, const char *folder, const json_t *config, TemplateText *out) {
    static const char *const own[] = {"extra_special_tokens", "model_specific_special_tokens"};
    json_t *map = json_object_get(config, "added_tokens_decoder")
                      ? NULL
                      : json_beside(folder, "special_tokens_map.json");
    add_tokens(arena, out, config, false);
    for (int i = 0; i < 2; i++) add_tokens(arena, out, json_object_get(config, own[i]), true);
    if (!map) return;
    add_tokens(arena, out, json_own(arena, map), false);
    add_tokens(arena, out, json_object_get(map, own[0]), true);
}

// ---- templates by name ----
// NULL: no such name
typedef const char *NamedTemplate(const void *from, const char *name, size_t *bytes);

static const char *json_template(const void *from, const char *name, size_t *bytes) {
    const json_t *found = json_object_get(from, name), *item;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)from, i, item) {
        const char *own = json_string_value(json_object_get(item, "name"));
        if (own && !strcmp(own, name))
            found = json_object_get(item, "template");  // the last one of a name counts
    }
    *bytes = json_string_length(found);
    return json_string_value(found);
}

// Selects "default", and "tool_use" for conversations with tools. Returns false without both.
static bool take_named(Arena *arena, const char *place, NamedTemplate *find, const void *from,
                       TemplateText *out) {
    static const char none[] =
        "{{ raise_exception('This model has several chat templates, and none called \"default\".') "
        "}}";
    size_t n, n_tools;
    const char *text = find(from, "default", &n), *tools = find(from, "tool_use", &n_tools);
    if (tools)
        out->tool_use =
            template_source(arena, arena_printf(arena, "%s.tool_use", place), tools, n_tools);
    if (!text && tools) text = none, n = sizeof none - 1;
    if (text) out->source = template_source(arena, place, text, n);
    if (!text)
        diag_warning(
            NO_LOC,
            "%s: several templates, and none called \"default\" or \"tool_use\": none is used",
            place);
    return text;
}

static bool find_in_json(Arena *arena, const char *path, const json_t *config, TemplateText *out) {
    const json_t *text = json_object_get(config, "chat_template");
    const char *place = arena_printf(arena, "%s: chat_template", path);
    if (json_is_array(text) || json_is_object(text))
        return take_named(arena, place, json_template, text, out);
    if (!json_is_string(text)) return false;
    out->source = template_source(arena, place, json_string_value(text), json_string_length(text));
    return true;
}

typedef struct TemplateFiles {
    Arena *arena;
    const char *folder;
} TemplateFiles;

static const char *file_template(const void *from, const char *name, size_t *bytes) {
    const TemplateFiles *f = from;
    const char *other =
        arena_printf(f->arena, "%s/additional_chat_templates/%s.jinja", f->folder, name);
    const char *jinja = arena_printf(f->arena, "%s/chat_template.jinja", f->folder);
    const char *path = exists(other) ? other : !strcmp(name, "default") ? jinja : NULL;
    if (!path || !exists(path)) return NULL;
    const Source *s = read_source(f->arena, path);
    *bytes = s->size;
    return s->text;
}

static bool find_in_folder(Arena *arena, const char *folder, TemplateText *out) {
    static const char *const files[] = {"chat_template.json", "tokenizer_config.json"};
    const char *jinja = arena_printf(arena, "%s/chat_template.jinja", folder);
    json_t *config = json_beside(folder, "tokenizer_config.json");
    find_tokens(arena, folder, config ? json_own(arena, config) : NULL, out);
    if (exists(jinja) ||
        exists(arena_printf(arena, "%s/additional_chat_templates/tool_use.jinja", folder)))
        return take_named(arena, jinja, file_template, &(TemplateFiles){arena, folder}, out);
    for (int i = 0; i < 2; i++) {
        json_t *json = json_beside(folder, files[i]);
        if (json && find_in_json(arena, arena_printf(arena, "%s/%s", folder, files[i]),
                                 json_own(arena, json), out))
            return true;
    }
    return false;
}

// ---- GGUF ----
static const char *gguf_token(Arena *arena, const Gguf *g, const char *key) {
    uint64_t n;
    int64_t id;
    const GgufString *texts = gguf_strings(g, "tokenizer.ggml.tokens", &n);
    if (!gguf_int(g, key, &id) || id < 0 || (uint64_t)id >= n) return NULL;
    return arena_strndup(arena, texts[id].bytes, texts[id].length);
}

static const char *gguf_template(const void *from, const char *name, size_t *bytes) {
    char key[64];
    const char *text = NULL;
    bool is_default = !strcmp(name, "default");
    snprintf(key, sizeof key, "tokenizer.chat_template%s%s", is_default ? "" : ".",
             is_default ? "" : name);
    if (!gguf_string(from, key, &text)) return NULL;
    *bytes = strlen(text);
    return text;
}

static bool find_in_gguf(Arena *arena, const char *path, TemplateText *out) {
    static const struct {
        const char *variable, *key;
    } tokens[] = {{"bos_token", "bos"},       {"eos_token", "eos"},     {"unk_token", "unknown"},
                  {"sep_token", "seperator"}, {"pad_token", "padding"}, {"cls_token", "cls"},
                  {"mask_token", "mask"}};
    const Gguf *g = gguf_parse(arena, map_file(arena, path));
    const char *text;
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        add_token(
            arena, out, tokens[i].variable,
            gguf_token(arena, g, arena_printf(arena, "tokenizer.ggml.%s_token_id", tokens[i].key)));
    if (!gguf_string(g, "tokenizer.chat_template", &text) &&
        !gguf_string(g, "tokenizer.chat_template.tool_use", &text))
        return false;
    return take_named(arena, arena_printf(arena, "%s: tokenizer.chat_template", path),
                      gguf_template, g, out);
}

static bool is_gguf(const char *path) {
    char magic[4];
    uint64_t size;
    int file = open_input(path, &size);
    bool is =
        read(file, magic, sizeof magic) == sizeof magic && !memcmp(magic, "GGUF", sizeof magic);
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
        const json_t *config =
            beside ? json_own(arena, beside) : json_read(arena, file, file->text, file->size);
        find_tokens(arena, folder, config, out);
        return find_in_json(arena, path, config, out);
    }
    json_t *config = json_beside(folder, "tokenizer_config.json");
    find_tokens(arena, folder, config ? json_own(arena, config) : NULL, out);
    out->source = template_source(arena, path, file->text, file->size);
    return true;
}

static uint32_t parse_source(TemplateParser *p, const Source *source) {
    p->source = source;
    p->n_tokens = p->at = 0;
    p->blocks.n = 0;
    template_lex(p);
    uint32_t root = parse_template(p);
    template_place_nodes(p);
    return root;
}

// {% if tools is not none %} tool_use {% else %} other {% endif %}, as transformers chooses.
static uint32_t choose_by_tools(TemplateParser *p, uint32_t tool_use, uint32_t other) {
    Loc start = loc_file(p->source);
    uint32_t tools = NODE(p, BURIN_T_NAME, start, string_number(p, "tools", 5));
    uint32_t absent = NODE(p, BURIN_T_TEST, start, string_number(p, "none", 4), tools, 0, 0);
    uint32_t choice =
        NODE(p, BURIN_T_IF, start, NODE(p, BURIN_T_NOT, start, absent), tool_use, other);
    template_place_nodes(p);
    return choice;
}

CompiledTemplate template_compile(Arena *arena, const TemplateText *text) {
    CompiledTemplate out = {0};
    TemplateParser *p = ARENA_NEW(arena, TemplateParser);
    *p = (TemplateParser){.arena = arena, .source = text->source};
    if (setjmp(p->stop)) {
        out = (CompiledTemplate){.problem = p->problem, .place = p->place};
    } else {
        words_add(p, &p->words, 0);  // no node is 0
        uint32_t root = parse_source(p, text->source);
        if (text->tool_use) root = choose_by_tools(p, parse_source(p, text->tool_use), root);
        template_write(p, root, text, &out);
    }
    text_free(&p->bytes);
    text_free(&p->scratch);
    return out;
}
