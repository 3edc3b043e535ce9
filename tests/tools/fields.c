// fields TABLE [FOLDER]: compares descriptions with the fields that their references read
// (tests/families/fields.txt): each must be declared, under the same default if both have a
// literal, and each alias must exist. Prints the differences; status 1 if there are any.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/dsl/ast.h"
#include "util/json.h"
#include "util/map.h"
#include "util/text.h"

typedef struct Fields {
    Arena *arena;
    const char *library;
    Map files;
    Map declared;  // Ast by name, of the description and its imports
    Map read;      // names after a dot: x.factor
} Fields;

static void note_reads(Fields *f, const Ast *x) {
    for (; x; x = x->next) {
        if (x->kind == AST_FIELD) map_put(&f->read, x->name, (void *)x);
        const Ast *below[] = {x->a, x->b, x->c, x->list, x->results, x->body, x->other};
        for (size_t i = 0; i < sizeof below / sizeof *below; i++) note_reads(f, below[i]);
    }
}

static void read_file(Fields *f, const char *path) {
    Parser parser;
    if (map_get(&f->files, path)) return;
    map_put(&f->files, path, f);
    if (!dsl_parse_file(&parser, f->arena, read_source(f->arena, path))) exit(1);
    note_reads(f, parser.declarations.first);
    for (const Ast *d = parser.declarations.first; d; d = d->next) {
        if (d->kind == AST_CONFIG || d->kind == AST_ALIAS)
            map_put(&f->declared, d->name, (void *)d);
        if (d->kind == AST_IMPORT && d->name)
            read_file(f, arena_printf(f->arena, "%s/std/%s.burin", f->library, d->name));
    }
}

// Returns true if a literal default and one of the table, in JSON, differ.
static bool differs(const Ast *d, const char *json) {
    json_t *j = json_loads(json, JSON_DECODE_ANY, NULL);
    double n = json_number_value(j);
    bool other = false;
    if (json_is_null(j) && d->kind == AST_FALSE) return json_decref(j), false;
    if (j && d->kind == AST_INT) other = !json_is_number(j) || n != (double)d->integer;
    if (j && d->kind == AST_FLOAT) other = !json_is_number(j) || n != d->number;
    if (j && (d->kind == AST_TRUE || d->kind == AST_FALSE))
        other = !json_is_boolean(j) || json_is_true(j) != (d->kind == AST_TRUE);
    if (j && d->kind == AST_STRING && d->list)
        other = !json_is_string(j) || strcmp(json_string_value(j), d->list->name);
    json_decref(j);
    return other;
}

// The error of the description's use of a field, or NULL.
static const char *fault(const Fields *f, const char *field, const char *standard) {
    static const char alias[] = "alias ";
    const Ast *d = map_get(&f->declared, field);
    const char *dot = strrchr(field, '.');
    if (!d && dot && map_get(&f->read, dot + 1)) return NULL;
    if (!d) return "is not declared";
    if (!strncmp(standard, alias, strlen(alias)))
        return d->kind == AST_ALIAS && !strcmp(d->a->name, standard + strlen(alias))
                   ? NULL
                   : "is another name";
    return d->kind == AST_CONFIG && d->a && differs(d->a, standard) ? "has another default" : NULL;
}

static bool check_line(Fields *f, char *line, const char *folder) {
    char *field = strchr(line, ' '), *standard = field ? strchr(field + 1, ' ') : NULL;
    if (!standard) return fprintf(stderr, "not a line of the table: %s\n", line), false;
    *field++ = *standard++ = 0;
    const char *path = arena_printf(f->arena, "%s/%s.burin", folder, line);
    if (!map_get(&f->files, path)) {
        Map *maps[] = {&f->files, &f->declared, &f->read};
        for (int i = 0; i < 3; i++) map_init(maps[i], f->arena);
        read_file(f, path);
    }
    const char *wrong = fault(f, field, standard);
    if (wrong) printf("%s: %s %s: %s\n", line, field, wrong, standard);
    return !wrong;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: fields TABLE [FOLDER]\n");
        return 2;
    }
    Fields f = {.arena = arena_new(), .library = "dsl"};
    Map *maps[] = {&f.files, &f.declared, &f.read};
    for (int i = 0; i < 3; i++) map_init(maps[i], f.arena);
    char *text = read_text_file(argv[1], NULL), *rest = text;
    int wrong = 0, lines = 0;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line && *line != '#') {
            wrong += !check_line(&f, line, argc > 2 ? argv[2] : "dsl/models");
            lines++;
        }
    free(text);
    arena_free(f.arena);
    return wrong || !lines;
}
