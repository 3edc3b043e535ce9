// The files of dsl/gguf: lines of words, each a pair of names or a property of an architecture.
#include "frontend/checkpoint/gguf/table.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/json.h"
#include "util/text.h"

enum { WORDS = 16, DEPTH = 4 };

typedef struct {
    Arena *arena;
    const char *folder;  // of the tables
    const char *prefix;  // of a layer's names
    GgufTable *table;
    int depth;  // of parts that include parts
} TableReader;

typedef struct {
    Loc loc;  // of the line
    const char *words[WORDS];
    int n;
} TableLine;

static void read_table_file(TableReader *, const char *path, Loc from);

static void pairs_add(Arena *arena, GgufPairs *p, GgufPair pair) {
    bool full = !(p->n & (p->n - 1));  // a power of two, or none
    if (full) {
        GgufPair *more = ARENA_ARRAY(arena, GgufPair, p->n ? 2 * p->n : 1);
        if (p->n) memcpy(more, p->items, (size_t)p->n * sizeof *more);
        p->items = more;
    }
    p->items[p->n++] = pair;
}

// ------------------------------------------------------------------------------------------- lines
// The words after the first: two names.
static GgufPair pair_of(const TableLine *l) {
    if (l->n != 3)
        diag_fatal(l->loc, "\"%s\" wants two words\nhint: %s attn_q self_attn.q_proj", l->words[0],
                   l->words[0]);
    return (GgufPair){l->words[1], l->words[2], NULL};
}

// Two names, and perhaps `if` and what must be there.
static GgufPair conditional_pair_of(const TableLine *l) {
    if (l->n != 5 || strcmp(l->words[3], "if")) return pair_of(l);
    return (GgufPair){l->words[1], l->words[2], l->words[4]};
}

static void read_model(TableReader *r, const TableLine *l) {
    pairs_add(r->arena, &r->table->models, conditional_pair_of(l));
}
static void read_tensor(TableReader *r, const TableLine *l) {
    pairs_add(r->arena, &r->table->tensors, conditional_pair_of(l));
}
static void read_needs(TableReader *r, const TableLine *l) {
    pairs_add(r->arena, &r->table->needed, pair_of(l));
}
static void read_key(TableReader *r, const TableLine *l) {
    pairs_add(r->arena, &r->table->further, pair_of(l));
}
static void read_each(TableReader *r, const TableLine *l) {
    pairs_add(r->arena, &r->table->each, pair_of(l));
}
static void read_rows(TableReader *r, const TableLine *l) {
    pairs_add(r->arena, &r->table->rows, pair_of(l));
}
static void read_flag(TableReader *r, const TableLine *l) {
    pairs_add(r->arena, &r->table->flags, pair_of(l));
}

static void read_layer(TableReader *r, const TableLine *l) {
    GgufPair p = conditional_pair_of(l);
    const char *layer = text_ends_with(r->folder, "/eyes") ? "v.blk.N" : "blk.N";
    p.gguf = arena_printf(r->arena, "%s.%s", layer, p.gguf);
    p.name = arena_printf(r->arena, "%s.%s", r->prefix, p.name);
    pairs_add(r->arena, &r->table->tensors, p);
}

static void read_prefix(TableReader *r, const TableLine *l) {
    if (l->n != 2)
        diag_fatal(l->loc,
                   "\"prefix\" wants what stands in front of a layer's names\nhint: prefix "
                   "transformer.h.N");
    r->prefix = l->words[1];
}

static void read_list(TableReader *r, const TableLine *l) {
    GgufPair p = pair_of(l);
    p.name = arena_printf(r->arena, "%s.%s", r->prefix, p.name);
    pairs_add(r->arena, &r->table->lists, p);
}

static void check_value(const TableLine *l) {
    json_t *value = l->n >= 3 ? json_loads(l->words[2], JSON_DECODE_ANY, NULL) : NULL;
    if (!value)
        diag_fatal(l->loc,
                   "\"%s\" wants a field, and a value of JSON without blanks\nhint: %s "
                   "norm_topk_prob true",
                   l->words[0], l->words[0]);
    json_decref(value);
}

static void read_fixed(TableReader *r, const TableLine *l) {
    check_value(l);
    pairs_add(r->arena, &r->table->fixed, conditional_pair_of(l));
}

static void read_default(TableReader *r, const TableLine *l) {
    check_value(l);
    pairs_add(r->arena, &r->table->defaults, conditional_pair_of(l));
}

static void read_choice(TableReader *r, const TableLine *l) {
    if (l->n < 4)
        diag_fatal(l->loc,
                   "\"choice\" wants a key, a field, and words that numbers from 1 on stand for");
    GgufPair p = {l->words[1], l->words[2], l->words[3]};
    for (int i = 4; i < l->n; i++) p.needs = arena_printf(r->arena, "%s %s", p.needs, l->words[i]);
    pairs_add(r->arena, &r->table->choices, p);
}

static void read_only(TableReader *r, const TableLine *l) {
    unsigned number;
    const char *end = l->n == 3 ? text_number(l->words[2], &number) : NULL;
    if (!end || *end)
        diag_fatal(l->loc, "\"only\" wants a key and a number\nhint: only expert_gating_func 2");
    pairs_add(r->arena, &r->table->only, pair_of(l));
}

static void read_undo(TableReader *r, const TableLine *l) {
    static const char *const names[] = {
        "rotary",  "norms",         "matrices",        "groups",     "query_scale",   "score_scale",
        "stretch", "stretch_tenth", "stretches_tenth", "full_first", "embedding_norm"};
    for (int i = 1; i < l->n; i++) {
        size_t change = 0, n = sizeof names / sizeof *names;
        while (change < n && strcmp(names[change], l->words[i])) change++;
        if (change == n)
            diag_fatal(l->loc, "\"%s\" is nothing that can be undone, only: %s", l->words[i],
                       name_list(names, n));
        r->table->changes |= 1u << change;
    }
}

static void read_include(TableReader *r, const TableLine *l) {
    if (r->depth == DEPTH) diag_fatal(l->loc, "these tables include each other without end");
    r->depth++;
    for (int i = 1; i < l->n; i++)
        read_table_file(r, arena_printf(r->arena, "%s/parts/%s", r->folder, l->words[i]), l->loc);
    r->depth--;
}

static void read_line(TableReader *r, const TableLine *l) {
    static const char *const names[] = {"model", "prefix",  "include", "tensor", "layer", "needs",
                                        "key",   "each",    "flag",    "list",   "rows",  "set",
                                        "undo",  "default", "choice",  "only"};
    static void (*const readers[])(TableReader *, const TableLine *) = {
        read_model, read_prefix,  read_include, read_tensor, read_layer, read_needs,
        read_key,   read_each,    read_flag,    read_list,   read_rows,  read_fixed,
        read_undo,  read_default, read_choice,  read_only};
    size_t n = sizeof names / sizeof *names;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], l->words[0])) {
            readers[i](r, l);
            return;
        }
    const char *near = nearest_name(l->words[0], names, n);
    diag_fatal(l->loc, "no line of a GGUF table begins with \"%s\"\nhint: %s%s%s", l->words[0],
               near ? "did you mean \"" : "", near ? near : name_list(names, n), near ? "\"?" : "");
}

// ------------------------------------------------------------------------------------------- files
static TableLine split_line(Arena *arena, const Source *source, const char *start, size_t length) {
    TableLine l = {.loc = {.source = source,
                           .offset = (uint32_t)(start - source->text),
                           .length = (uint32_t)length}};
    char *text = arena_strndup(arena, start, length), *rest;
    for (char *word = strtok_r(text, " \t\r", &rest); word && *word != '#';
         word = strtok_r(NULL, " \t\r", &rest)) {
        if (l.n == WORDS) diag_fatal(l.loc, "a line of a GGUF table has at most %d words", WORDS);
        l.words[l.n++] = word;
    }
    return l;
}

static void read_table_file(TableReader *r, const char *path, Loc from) {
    struct stat st;
    if (stat(path, &st)) diag_fatal(from, "there is no %s to include", path);
    const Source *source = read_source(r->arena, path);
    for (const char *at = source->text, *end = at + source->size; at < end;) {
        size_t length = strcspn(at, "\n");
        TableLine l = split_line(r->arena, source, at, length);
        if (l.n) read_line(r, &l);
        at += length + 1;
    }
}

static const GgufTable *read_table(Arena *arena, const char *folder, const char *name) {
    TableReader r = {arena, folder, "model.layers.N", ARENA_NEW(arena, GgufTable), 0};
    const char *path = arena_printf(arena, "%s/%s", folder, name);
    read_table_file(&r, path, NO_LOC);
    if (!r.table->models.n || r.table->models.items[r.table->models.n - 1].needs)
        diag_fatal(NO_LOC,
                   "%s says no model that every file of it is\nhint: model llama LlamaForCausalLM",
                   path);
    return r.table;
}

static int is_table(const struct dirent *e) {
    return e->d_name[0] != '.' && strcmp(e->d_name, "parts") && strcmp(e->d_name, "eyes");
}

// Only a name that the folder has is opened: the architecture is a file's word.
const GgufTable *gguf_table(Arena *arena, const char *folder, const char *architecture,
                            const char **known) {
    struct dirent **list = NULL;
    int n = scandir(folder, &list, is_table, alphasort);
    bool found = false;
    *known = "";
    for (int i = 0; i < n; i++) {
        found = found || !strcmp(list[i]->d_name, architecture);
        *known = arena_printf(arena, "%s%s%s", *known, **known ? ", " : "", list[i]->d_name);
        free(list[i]);
    }
    free(list);
    return found ? read_table(arena, folder, architecture) : NULL;
}
