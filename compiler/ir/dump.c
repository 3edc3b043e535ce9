#include "ir/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/internal.h"
#include "ir/tokenizer.h"
#include "sound/speech.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/mapping.h"

enum { PADDING = 16 };

static const char MAGIC[8] = "burinCST";

typedef struct {
    uint64_t hash, bytes;
} Record;

struct ConstantFile {
    Arena *arena;
    const char *path;
    FILE *out;  // NULL: reading
    // 16 hexadecimal digits -> Record (writing: a copy; reading: in the mapped file, followed by
    // the data)
    Map by_hash;
};

static const char *hash_key(Arena *arena, uint64_t hash) {
    return arena_printf(arena, "%016llx", (unsigned long long)hash);
}

static ConstantFile *constants_new(Arena *arena, const char *path) {
    ConstantFile *f = ARENA_NEW(arena, ConstantFile);
    f->arena = arena;
    f->path = arena_strdup(arena, path);
    map_init(&f->by_hash, arena);
    return f;
}

// Creates it empty, in place of an older file.
static ConstantFile *constants_create(Arena *arena, const char *path) {
    ConstantFile *f = constants_new(arena, path);
    int fd = create_output(path, O_WRONLY);
    f->out = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!f->out || fwrite(MAGIC, sizeof MAGIC, 1, f->out) != 1 ||
        fwrite(MAGIC, sizeof MAGIC, 1, f->out) != 1)
        diag_fatal(NO_LOC, "cannot write %s: %s", path, strerror(errno));
    return f;
}

static void constants_add(ConstantFile *f, uint64_t hash, const void *data, uint64_t bytes) {
    static const char zeros[PADDING];
    const char *key = hash_key(f->arena, hash);
    if (map_get(&f->by_hash, key)) return;
    Record *r = ARENA_NEW(f->arena, Record);
    *r = (Record){hash, bytes};
    map_put(&f->by_hash, key, r);
    bool ok = fwrite(r, sizeof *r, 1, f->out) == 1 && fwrite(data, 1, bytes, f->out) == bytes;
    size_t padding = (size_t)(-bytes % PADDING);
    if (!ok || fwrite(zeros, 1, padding, f->out) != padding)
        diag_fatal(NO_LOC, "cannot write %s: %s", f->path, strerror(errno));
}

void constants_close(ConstantFile *f) {
    if (!f) return;
    if (f->out && fclose(f->out))
        diag_fatal(NO_LOC, "cannot write %s: %s", f->path, strerror(errno));
    f->out = NULL;
}

ConstantFile *constants_open(Arena *arena, const char *path) {
    ConstantFile *f = constants_new(arena, path);
    uint64_t size, at = 2 * sizeof MAGIC;
    const char *data = mapping_open(path, &size);
    if (size < at || memcmp(data, MAGIC, sizeof MAGIC))
        diag_fatal(NO_LOC, "%s is not a file of constants", path);
    while (at < size) {
        const Record *r = (const Record *)(data + at);
        uint64_t left = size - at;
        if (left < sizeof *r || r->bytes > left - sizeof *r)
            diag_fatal(NO_LOC, "%s is truncated at byte %" PRIu64, path, at);
        map_put(&f->by_hash, hash_key(arena, r->hash), (void *)(uintptr_t)r);
        at += sizeof *r + (size_t)(r->bytes + -r->bytes % PADDING);
    }
    return f;
}

const void *constants_find(const ConstantFile *f, uint64_t hash, uint64_t bytes) {
    char key[20];
    snprintf(key, sizeof key, "%016llx", (unsigned long long)hash);
    const Record *r = map_get(&f->by_hash, key);
    if (!r || r->bytes != bytes) return NULL;
    uint64_t found = hash_bytes(r + 1, bytes, 0);
    if ((found ? found : 1) != hash)
        diag_fatal(NO_LOC, "%s was altered: the data of constant %s has another hash", f->path,
                   key);
    return r + 1;
}

// ----------------------------------------------------------------------------------------- modules
static void add_constants(ConstantFile *f, const Graph *g) {
    EACH_NODE(n, g) {
        if (n->value && n->value->data && !tensor_is_inline(n->value))
            constants_add(f, constant_hash(n), n->value->data, n->value->bytes);
        for (const Attr *a = n->attrs; a; a = a->next) {
            if (a->kind == ATTR_GRAPH) add_constants(f, a->graph);
            if (a->kind == ATTR_TENSOR && !tensor_is_inline(a->tensor))
                constants_add(f, tensor_hash(a->tensor), a->tensor->data, a->tensor->bytes);
        }
    }
}

static void put_tokens(json_t *head, const char *key, const int32_t *tokens, int n) {
    json_t *list = n ? json_array() : NULL;
    for (int i = 0; i < n; i++) json_array_append_new(list, json_integer(tokens[i]));
    if (n) json_object_set_new(head, key, list);
}

// Sequences, each after its length, to lists.
static void put_words(json_t *head, const Module *m) {
    json_t *words = m->n_bad_words ? json_array() : NULL;
    for (int i = 0; i < m->n_bad_words; i += 1 + m->bad_words[i]) {
        json_t *word = json_object();
        put_tokens(word, "word", m->bad_words + i + 1, m->bad_words[i]);
        json_array_append(words, json_object_get(word, "word"));
        json_decref(word);
    }
    if (words) json_object_set_new(head, "bad_words", words);
}

static void put_count(json_t *head, const char *key, int64_t count) {
    if (count) json_object_set_new(head, key, json_integer(count));
}

static void put_limits(json_t *head, const Module *m) {
    put_tokens(head, "suppress", m->suppress, m->n_suppress);
    put_tokens(head, "begin_suppress", m->begin_suppress, m->n_begin_suppress);
    put_words(head, m);
    put_tokens(head, "forced_end", m->forced_end, m->n_forced_end);
    put_count(head, "no_repeat", m->no_repeat);
    put_count(head, "encoder_no_repeat", m->encoder_no_repeat);
    put_count(head, "min_length", m->min_length);
    put_count(head, "min_new_tokens", m->min_new_tokens);
    if (m->repetition_penalty > 0)
        json_object_set_new(head, "repetition_penalty", json_real(m->repetition_penalty));
}

static void put_speech(json_t *head, const burin_speech *s) {
#define PUT_FIELD(name) json_object_set_new(speech, #name, json_integer(s->name));
    json_t *speech = json_object();
    BURIN_SPEECH_FIELDS(PUT_FIELD)
    put_tokens(speech, "languages", s->languages, s->n_languages);
    json_object_set_new(head, "speech", speech);
}

// The configuration, as JSON in a comment on the first line.
static void print_head(Text *t, const Module *m, ConstantFile *f) {
    json_t *head = json_object(), *eos = json_array();
    for (int i = 0; i < m->n_eos; i++) json_array_append_new(eos, json_integer(m->eos[i]));
    json_object_set_new(head, "module", json_string(m->name));
    json_object_set_new(head, "description", json_string(m->description ? m->description : ""));
    json_object_set_new(head, "graphs", json_integer(m->n_graphs));
    json_object_set_new(head, "context", json_integer(m->context));
    json_object_set_new(head, "bos", json_integer(m->bos));
    json_object_set_new(head, "eos", eos);
    put_tokens(head, "start", m->start, m->n_start);
    put_limits(head, m);
    put_count(head, "max_length", m->max_length);
    if (m->speech) put_speech(head, m->speech);
    if (m->tokenizer) {
        const Tokenizer *k = m->tokenizer;
        uint64_t hash = hash_bytes(k->blob, k->bytes, 0);
        constants_add(f, hash ? hash : 1, k->blob, k->bytes);
        json_t *tokenizer = json_pack(
            "{s:s, s:I, s:i, s:i, s:i}", "hash", hash_key(f->arena, hash ? hash : 1), "bytes",
            (json_int_t)k->bytes, "vocab_size", k->vocab_size, "bos", k->bos, "eos", k->eos);
        json_object_set_new(head, "tokenizer", tokenizer);
    }
    char *text = json_dumps(head, JSON_COMPACT);
    text_add(t, "// %s\n", text);
    free(text);
    json_decref(head);
}

void module_dump(const Module *m, const char *dir, int number, const char *name,
                 ConstantFile **constants) {
    char path[4096];
    if (!*constants) {
        if (mkdir(dir, 0777) && errno != EEXIST)
            diag_fatal(NO_LOC, "cannot create the folder %s: %s", dir, strerror(errno));
        snprintf(path, sizeof path, "%s/constants", dir);
        *constants = constants_create(m->arena, path);
    }
    Text t = {0};
    print_head(&t, m, *constants);
    for (int i = 0; i < m->n_graphs; i++) add_constants(*constants, m->graphs[i]);
    module_print(&t, m);
    fflush((*constants)->out);
    snprintf(path, sizeof path, "%s/%02d-%s.ir", dir, number, name);
    write_file(path, t.data, t.length);
    text_free(&t);
}

static bool needs_constants(const Graph *g) {
    EACH_NODE(n, g) {
        if (n->value && !tensor_is_inline(n->value)) return true;
        for (const Attr *a = n->attrs; a; a = a->next)
            if ((a->kind == ATTR_GRAPH && needs_constants(a->graph)) ||
                (a->kind == ATTR_TENSOR && !tensor_is_inline(a->tensor)))
                return true;
    }
    return false;
}

static const char *constants_path(Arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? arena_printf(arena, "%.*s/constants", (int)(slash - path), path) : "constants";
}

void module_save(const Module *m, const char *path) {
    Text t = {0};
    bool needed = m->tokenizer != NULL;
    for (int i = 0; i < m->n_graphs; i++) needed |= needs_constants(m->graphs[i]);
    ConstantFile *constants =
        needed ? constants_create(m->arena, constants_path(m->arena, path)) : NULL;
    print_head(&t, m, constants);
    for (int i = 0; i < m->n_graphs && constants; i++) add_constants(constants, m->graphs[i]);
    module_print(&t, m);
    constants_close(constants);
    write_file(path, t.data, t.length);
    text_free(&t);
}

// ---------------------------------------------------------------- the head: JSON in the first line
typedef struct Head {
    const json_t *json;  // NULL: not from a dump
    const Source *source;
} Head;

_Noreturn static void refuse_head(const Head *h, const char *what, const char *why) {
    Loc line = {.source = h->source, .length = (uint32_t)strcspn(h->source->text, "\n")};
    diag_fatal(line, "%s %s\nhint: dump the model again", what, why);
}

static void read_head(Head *h, Arena *arena) {
    json_error_t error;
    const char *text = h->source->text;
    if (strncmp(text, "// {", 4)) return;
    json_t *head = json_loadb(text + 3, strcspn(text + 3, "\n"), 0, &error);
    if (!head) refuse_head(h, "the head of the dump is not valid JSON:", error.text);
    h->json = json_own(arena, head);
}

static const char *head_text(const json_t *object, const char *key, const char *absent) {
    const char *s = json_string_value(json_object_get(object, key));
    return s && *s ? s : absent;
}

static bool is_token(const json_t *v, int64_t least) {
    return json_is_integer(v) && json_integer_value(v) >= least &&
           json_integer_value(v) <= INT32_MAX;
}

// A number that is not below the value that means absence.
static int32_t head_int(const Head *h, const char *key, int32_t absent) {
    const json_t *v = json_object_get(h->json, key);
    if (v && !is_token(v, absent))
        refuse_head(h, key,
                    absent ? "must be a token id, or -1" : "must be a whole number, 0 or more");
    return v ? (int32_t)json_integer_value(v) : absent;
}

static int32_t *tokens_of_list(const Head *h, Arena *arena, const char *key, const json_t *list,
                               int *n) {
    int32_t *tokens = ARENA_ARRAY(arena, int32_t, json_array_size(list) + 1);
    for (*n = 0; (size_t)*n < json_array_size(list); ++*n) {
        const json_t *v = json_array_get(list, (size_t)*n);
        if (!is_token(v, 0)) refuse_head(h, key, "must be a list of token ids");
        tokens[*n] = (int32_t)json_integer_value(v);
    }
    return tokens;
}

static int32_t *head_tokens(const Head *h, Arena *arena, const char *key, int *n) {
    return tokens_of_list(h, arena, key, json_object_get(h->json, key), n);
}

static void read_words(const Head *h, Module *m) {
    const json_t *words = json_object_get(h->json, "bad_words");
    size_t room = 0;
    for (size_t i = 0; i < json_array_size(words); i++)
        room += 1 + json_array_size(json_array_get(words, i));
    m->bad_words = ARENA_ARRAY(m->arena, int32_t, room + 1);
    for (size_t i = 0; i < json_array_size(words); i++) {
        int n, *length = &m->bad_words[m->n_bad_words++];
        const int32_t *word =
            tokens_of_list(h, m->arena, "bad_words", json_array_get(words, i), &n);
        memcpy(&m->bad_words[m->n_bad_words], word, (size_t)n * sizeof *word);
        m->n_bad_words += *length = n;
    }
}

static void read_limits(const Head *h, Module *m) {
    int n_forced;
    m->suppress = head_tokens(h, m->arena, "suppress", &m->n_suppress);
    m->begin_suppress = head_tokens(h, m->arena, "begin_suppress", &m->n_begin_suppress);
    read_words(h, m);
    const int32_t *forced = head_tokens(h, m->arena, "forced_end", &n_forced);
    if (n_forced) m->forced_end[0] = *forced, m->n_forced_end = 1;
    m->no_repeat = head_int(h, "no_repeat", 0),
    m->encoder_no_repeat = head_int(h, "encoder_no_repeat", 0);
    m->min_length = head_int(h, "min_length", 0),
    m->min_new_tokens = head_int(h, "min_new_tokens", 0);
    m->repetition_penalty = json_number_value(json_object_get(h->json, "repetition_penalty"));
}

static const burin_speech *read_speech(const Head *h, Arena *arena) {
#define READ_FIELD(name) speech->name = head_int(&own, #name, -1);
    Head own = {.json = json_object_get(h->json, "speech"), .source = h->source};
    if (!own.json) return NULL;
    burin_speech *speech = ARENA_NEW(arena, burin_speech);
    BURIN_SPEECH_FIELDS(READ_FIELD)
    speech->languages = head_tokens(&own, arena, "languages", &speech->n_languages);
    return speech;
}

// It names files and C functions.
static const char *head_name(const Head *h) {
    const char *name = head_text(h->json, "module", "module");
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] ||
        (*name >= '0' && *name <= '9'))
        refuse_head(h, "module", "must be a name of small letters, digits and _");
    return name;
}

static Tokenizer *load_tokenizer(Arena *arena, const Head *h, const ConstantFile *constants) {
    const json_t *k = json_object_get(h->json, "tokenizer");
    if (!k || !constants) return NULL;
    Tokenizer *t = ARENA_NEW(arena, Tokenizer);
    Head own = {.json = k, .source = h->source};
    t->bytes = (size_t)json_integer_value(json_object_get(k, "bytes"));
    t->blob = constants_find(constants, strtoull(head_text(k, "hash", ""), NULL, 16), t->bytes);
    t->vocab_size = head_int(&own, "vocab_size", 0);
    t->bos = head_int(&own, "bos", -1);
    t->eos = head_int(&own, "eos", -1);
    if (!t->blob)
        diag_fatal(NO_LOC, "%s has not the tokenizer that the dump names", constants->path);
    return t;
}

// A dump that was cut between two graphs is whole otherwise.
static void check_graphs(const Module *m, const Source *source, int graphs) {
    if (graphs && graphs != m->n_graphs)
        diag_fatal(loc_file(source),
                   "the head of the dump names %d graphs, it has %d\nhint: dump the model again",
                   graphs, m->n_graphs);
}

// How many graphs it names, or 0.
static int load_head(Module *m, const Source *source, const ConstantFile *constants) {
    Head h = {.source = source};
    int n_eos;
    read_head(&h, m->arena);
    m->name = arena_strdup(m->arena, head_name(&h));
    m->description = arena_strdup(m->arena, head_text(h.json, "description", source->name));
    m->context = head_int(&h, "context", 0);
    m->bos = head_int(&h, "bos", -1);
    const int32_t *eos = head_tokens(&h, m->arena, "eos", &n_eos);
    for (int i = 0; i < n_eos && i < BURIN_MOST_EOS; i++) m->eos[m->n_eos++] = eos[i];
    m->start = head_tokens(&h, m->arena, "start", &m->n_start);
    m->max_length = head_int(&h, "max_length", 0);
    read_limits(&h, m);
    m->speech = read_speech(&h, m->arena);
    m->tokenizer = load_tokenizer(m->arena, &h, constants);
    return head_int(&h, "graphs", 0);
}

static ConstantFile *constants_beside(Arena *arena, const char *path) {
    const char *beside = arena_printf(arena, "%s/constants", path_folder(arena, path));
    return access(beside, R_OK) ? NULL : constants_open(arena, beside);
}

static void require_data(const Graph *g, const Source *source) {
    EACH_NODE(n, g)
        if (n->op == OP_constant && !n->value)
            diag_fatal(
                loc_file(source),
                "the data of %%%s is not here\nhint: keep the file \"constants\" beside the dump",
                n->name);
}

Module *module_load(Arena *arena, const char *path) {
    Module *m = ARENA_NEW(arena, Module);
    const Source *source = read_source(arena, path);
    m->arena = arena;
    if (memchr(source->text, 0, source->size))
        diag_fatal(loc_file(source), "this is not the text of a graph");
    ConstantFile *constants = constants_beside(arena, path);
    int graphs = load_head(m, source, constants);
    size_t offset = 0;
    do {
        Graph *g = graph_parse_at(source, &offset, constants),
              **graphs = ARENA_ARRAY(arena, Graph *, m->n_graphs + 1);
        if (!g) diag_stop();
        graph_give(g, arena);
        require_data(g, source);
        if (!graph_verify(g, "reading")) diag_stop();
        if (m->n_graphs) memcpy(graphs, m->graphs, (size_t)m->n_graphs * sizeof *graphs);
        m->graphs = graphs;
        m->graphs[m->n_graphs++] = g;
    } while (source->text[offset]);
    check_graphs(m, source, graphs);
    return m;
}
