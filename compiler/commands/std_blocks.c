// burin help std: the blocks of dsl/std, each with its signature, the comment before it, and a line
// of dsl/models that uses it.
//
//     rope (import rope)
//       rope(x: [H, T, D], theta, scaling = null, longest = null)
//           Rotary embedding of queries or keys.
//           q = rope(q, rope_theta, rope_scaling, max_position_embeddings)
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "toolchain/toolchain.h"
#include "util/text.h"

enum { STD_INDENT = 4, STD_COLUMNS = 80 };

static int is_description(const struct dirent *e) {
    return *e->d_name != '.' && text_ends_with(e->d_name, ".burin");
}

// Calls `each` for the text of every description in a folder, by name.
static void read_descriptions(Arena *arena, const char *folder,
                              void (*each)(void *context, const char *name, const char *text),
                              void *context) {
    struct dirent **list;
    int n = scandir(folder, &list, is_description, alphasort);
    for (int i = 0; i < n; i++) {
        char *text = read_text_file(arena_printf(arena, "%s/%s", folder, list[i]->d_name), NULL);
        each(context, list[i]->d_name, text);
        free(text), free(list[i]);
    }
    if (n >= 0) free(list);
}

static void add_model(void *all, const char *name, const char *text) {
    (void)name;
    text_add((Text *)all, "%s\n", text);
}

static bool is_name_byte(char c) { return isalnum((unsigned char)c) || c == '_'; }

// The shortest line of `models` that calls the block, or NULL
static const char *find_use(const char *models, const char *name, int *length) {
    const char *best = NULL;
    size_t n = strlen(name);
    for (const char *at = models; (at = strstr(at, name)); at += n) {
        const char *line = at, *end = at + strcspn(at, "\n");
        while (line > models && line[-1] != '\n') line--;
        while (*line == ' ') line++;
        bool call = at[n] == '(' && (at == models || !is_name_byte(at[-1])) && *line != '#' &&
                    *line != ':' && *line != '?' && strncmp(line, "block ", strlen("block "));
        if (call && (!best || end - line < *length)) best = line, *length = (int)(end - line);
    }
    return best;
}

// Words of a comment's first sentence, wrapped.
static void print_sentence(const char *from, const char *end) {
    int column = 0;
    while (from < end) {
        while (from < end && (*from == ' ' || *from == '#' || *from == '\n')) from++;
        int n = (int)strcspn(from, " \n");
        if (from + n > end) n = (int)(end - from);
        if (!n) break;
        if (column && column + 1 + n > STD_COLUMNS) column = 0, printf("\n");
        if (!column)
            column = printf("%*s%.*s", 2 * STD_INDENT, "", n, from);
        else
            column += printf(" %.*s", n, from);
        from += n;
        if (from[-1] == '.' && (n < 2 || from[-2] != '.')) break;
    }
    printf("\n");
}

// The comment that ends on the line before `block`; empty: there is none.
static const char *comment_before(const char *text, const char *block) {
    const char *first = block;
    while (first > text) {
        const char *line = first - 1;
        while (line > text && line[-1] != '\n') line--;
        if (*line != '#') break;
        first = line;
    }
    return first;
}

static void print_block(const char *text, const char *block, const char *models) {
    const char *name = block + strlen("block "), *end = name + strcspn(name, "\n");
    int use_length = 0, length = (int)strcspn(name, "(");
    const char *brace = end;
    while (brace > name && *brace != '{') brace--;
    if (memchr(name, '{', (size_t)(end - name)) && end[-1] == '}')  // a body on the same line
        brace = memchr(name, '{', (size_t)(end - name));
    if (brace > name) end = brace;
    while (end > name && end[-1] == ' ') end--;
    char word[128];
    snprintf(word, sizeof word, "%.*s", length, name);
    const char *comment = comment_before(text, block), *use = find_use(models, word, &use_length);
    printf("%*s%.*s\n", STD_INDENT, "", (int)(end - name), name);
    if (comment < block) print_sentence(comment, block);
    if (use) printf("%*s%.*s\n", 2 * STD_INDENT, "", use_length, use);
}

static void print_blocks(void *models, const char *name, const char *text) {
    bool any = false;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, "block ", strlen("block "))) continue;
        if (!any) printf("\nimport %.*s\n", (int)(strlen(name) - strlen(".burin")), name);
        any = true;
        print_block(text, line, ((const Text *)models)->data);
    }
}

void list_std(Arena *arena) {
    const char *dsl = arena_printf(arena, "%s/dsl", burin_home(arena));
    Text models = {0};
    read_descriptions(arena, arena_printf(arena, "%s/models", dsl), add_model, &models);
    if (!models.data) text_add(&models, "\n");
    read_descriptions(arena, arena_printf(arena, "%s/std", dsl), print_blocks, &models);
    text_free(&models);
}
