// The descriptions that come with burin: dsl/models/*.burin, by what their `model NAME for "CLASS",
// ...` lines say.
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/dsl.h"
#include "util/text.h"

static int is_description(const struct dirent *e) {
    size_t n = strlen(e->d_name), suffix = strlen(".burin");
    return n > suffix && !strcmp(e->d_name + n - suffix, ".burin");
}

// The text after `# ` on the n-th line, or "".
static const char *comment_line(Arena *arena, const char *text, int n) {
    while (n--) text += strcspn(text, "\n"), text += *text == '\n';
    return strncmp(text, "# ", 2) ? "" : arena_strndup(arena, text + 2, strcspn(text, "\n") - 2);
}

// `model llama for "LlamaForCausalLM", "LlamaModel"`: only this line is read, whatever else the
// file may say.
static void read_model_line(Arena *arena, Description *d, const char *line) {
    size_t length = strcspn(line, "\n"), name = strcspn(line, " \n");
    d->name = arena_strndup(arena, line, name);
    d->classes = ARENA_ARRAY(arena, const char *, length / 2 + 1);
    for (const char *quote = line + name;
         (quote = memchr(quote, '"', (size_t)(line + length - quote)));) {
        size_t n = strcspn(++quote, "\"\n");
        d->classes[d->n_classes++] = arena_strndup(arena, quote, n);
        quote += n + (quote[n] == '"');
    }
}

static Description read_description(Arena *arena, const char *path) {
    static const char start[] = "\nmodel ";
    Description d = {.path = path, .name = ""};
    size_t size;
    char *text = read_text_file(path, &size);
    d.summary = comment_line(arena, text, 0);
    d.paper = comment_line(arena, text, 1);
    const char *model = strstr(text, start);
    if (model) read_model_line(arena, &d, model + sizeof start - 1);
    free(text);
    return d;
}

Descriptions dsl_descriptions(Arena *arena, const char *library) {
    return dsl_descriptions_in(arena, arena_printf(arena, "%s/models", library));
}

Descriptions dsl_descriptions_in(Arena *arena, const char *folder) {
    struct dirent **list = NULL;
    int n = scandir(folder, &list, is_description, alphasort);
    Descriptions all = {ARENA_ARRAY(arena, Description, n < 0 ? 0 : n), n < 0 ? 0 : n};
    for (int i = 0; i < n; i++) {
        all.items[i] =
            read_description(arena, arena_printf(arena, "%s/%s", folder, list[i]->d_name));
        free(list[i]);
    }
    free(list);
    return all;
}

static const Description *by_class(const Descriptions *all, const char *class_name) {
    for (int i = 0; class_name && i < all->n; i++)
        for (int j = 0; j < all->items[i].n_classes; j++)
            if (!strcmp(all->items[i].classes[j], class_name)) return &all->items[i];
    return NULL;
}

// BertForMaskedLM and the like have a head on top of BertModel.
static const Description *by_base_class(Arena *arena, const Descriptions *all,
                                        const char *class_name) {
    const char *head = class_name ? strstr(class_name, "For") : NULL;
    return head ? by_class(all,
                           arena_printf(arena, "%.*sModel", (int)(head - class_name), class_name))
                : NULL;
}

// model_type as spelled in a configuration, without what its spellings differ in: "xlm-roberta",
// "XLMRoberta" are alike.
static const char *bare_name(Arena *arena, const char *name) {
    char *bare = arena_strdup(arena, name), *end = bare;
    for (const char *c = name; *c; c++)
        if (*c != '-' && *c != '_') *end++ = (char)tolower((unsigned char)*c);
    *end = 0;
    return bare;
}

// XLMRoberta of XLMRobertaForMaskedLM, GPT2 of GPT2LMHeadModel.
static const char *family_of_class(Arena *arena, const char *name) {
    static const char *const ends[] = {"For", "LMHead", "MTModel", "Model", "Encoder"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *end = strstr(name, ends[i]);
        if (end) return arena_strndup(arena, name, (size_t)(end - name));
    }
    return name;
}

static bool has_class_of(Arena *arena, const Description *d, const char *bare) {
    for (int j = 0; j < d->n_classes; j++)
        if (!strcmp(bare_name(arena, family_of_class(arena, d->classes[j])), bare)) return true;
    return false;
}

// By its own name, or by the name in one of its classes: "camembert" is CamembertModel's.
static const Description *by_name(Arena *arena, const Descriptions *all, const char *name) {
    const char *bare = name ? bare_name(arena, name) : "";
    for (int i = 0; name && i < all->n; i++)
        if (!strcmp(bare_name(arena, all->items[i].name), bare)) return &all->items[i];
    for (int i = 0; name && i < all->n; i++)
        if (has_class_of(arena, &all->items[i], bare)) return &all->items[i];
    return NULL;
}

// "; near are: olmo, olmo2", by letters in common with a beginning or one or two typing errors; the
// nearest alone at least.
static const char *near_names(Arena *arena, const Descriptions *all, const char *name) {
    enum { PREFIX = 3, MOST = 6 };
    const char **names = ARENA_ARRAY(arena, const char *, all->n), *list = "";
    int listed = 0;
    for (int i = 0; i < all->n; i++) names[i] = all->items[i].name;
    const char *nearest = nearest_name(name, names, (size_t)all->n);
    for (int i = 0; i < all->n && listed < MOST; i++) {
        bool near = names[i] == nearest || !strncmp(names[i], name, PREFIX);
        if (near) list = arena_printf(arena, "%s%s%s", list, listed++ ? ", " : "", names[i]);
    }
    return listed ? arena_printf(arena, "near names: %s; `burin models` lists all", list)
                  : "`burin models` lists them";
}

const char *dsl_find_description(Arena *arena, const char *library, const Checkpoint *c) {
    const char *class_name = checkpoint_class(c), *type = c->architecture;
    if (!class_name && !type)
        diag_fatal(NO_LOC,
                   "%s does not say its architecture (model_type)\nhint: %sgive a .burin "
                   "description and --weights=%s",
                   c->path,
                   c->config ? "" : "config.json, which says it, belongs beside the weights; or ",
                   c->path);
    Descriptions all = dsl_descriptions(arena, library);
    const Description *d = by_class(&all, class_name);
    if (!d) d = by_name(arena, &all, type);
    if (!d) d = by_base_class(arena, &all, class_name);
    if (d) return d->path;
    diag_fatal(NO_LOC,
               "%s is a \"%s\", and there is no description of that\nhint: %s; or write one and "
               "give --weights=%s",
               c->path, type ? type : class_name, near_names(arena, &all, type ? type : class_name),
               c->path);
}
