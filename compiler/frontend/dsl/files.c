// The description's file and its imports: `import rope` is std/rope.burin of the library, `import
// "x.burin"` a file in the same folder.
//
// A file sees its own declarations and those of the files it imports, not further; its own
// declarations win.
#include "util/files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/dsl/elaborate.h"

// Files of the library are called std/... and models/..., wherever it is installed: names go into
// the emitted code.
static const char *source_name(Elaborator *e, const char *path) {
    const char *library = e->options->library;
    size_t n = library ? strlen(library) : 0;
    bool is_ours = n && !strncmp(path, library, n) && path[n] == '/';
    return is_ours ? arena_strdup(e->arena, path + n + 1) : arena_strdup(e->arena, path);
}

// Strings of declarations are literal: no value is known yet for braces.
static const char *plain_text(const Ast *string) {
    if (!string->list) return "";
    return string->list->next || string->list->kind != AST_TEXT ? NULL : string->list->name;
}

static const char *import_path(Elaborator *e, const File *f, const Ast *import) {
    if (!import->a)
        return arena_printf(e->arena, "%s/std/%s.burin",
                            e->options->library ? e->options->library : "dsl", import->name);
    const char *text = plain_text(import->a);
    if (!text || !*text) {
        report(e, import->loc, "an import needs a plain path: import \"blocks.burin\"");
        return NULL;
    }
    return *text == '/' ? text
                        : arena_printf(e->arena, "%s/%s", path_folder(e->arena, f->path), text);
}

// The name of a file of dsl/std that is like this one, or NULL
static const char *near_block_file(Elaborator *e, const char *path, const char *name) {
    enum { MOST = 64 };
    static const char ending[] = ".burin";
    const char *names[MOST];
    size_t n = 0;
    DIR *d = opendir(path_folder(e->arena, path));
    for (struct dirent *entry; d && n < MOST && (entry = readdir(d));)
        if (text_ends_with(entry->d_name, ending))
            names[n++] =
                arena_strndup(e->arena, entry->d_name, strlen(entry->d_name) - (sizeof ending - 1));
    if (d) closedir(d);
    return nearest_name(name, names, n);
}

static void add_import(Elaborator *e, File *f, const Ast *import) {
    const char *path = import_path(e, f, import);
    if (!path) return;
    if (access(path, R_OK)) {
        const char *near = import->a ? NULL : near_block_file(e, path, import->name);
        report(e, import->loc, "there is no %s to import%-s%s%-s", path,
               near ? "\nhint: did you mean " : "", near ? near : "",
               near ? "?"
               : import->a
                   ? ""
                   : "\nhint: a name is looked for in dsl/std, a path in quotes beside this file");
        return;
    }
    File *imported = file_load(e, path, import->loc);
    if (!imported) return;
    for (const Ast *d = imported->declarations; d; d = d->next) {
        if (!d->name || d->kind == AST_MODEL || d->kind == AST_IMPORT) continue;
        const Declaration *own = map_get(&f->names, d->name);
        bool hidden = own && d->kind == AST_BLOCK && own->ast->kind != AST_BLOCK &&
                      own->ast->kind != AST_GRAPH;
        if (!own || hidden)
            map_put(hidden ? &f->blocks : &f->names, d->name, map_get(&imported->names, d->name));
    }
}

static void declare(Elaborator *e, File *f, const Ast *ast) {
    const Declaration *before = map_get(&f->names, ast->name);
    if (before) {
        report(e, ast->loc, "\"%s\" is declared twice\nnote: first at %s", ast->name,
               loc_text(before->ast->loc));
        return;
    }
    Declaration *d = ARENA_NEW(e->arena, Declaration);
    *d = (Declaration){.ast = ast, .file = f};
    map_put(&f->names, ast->name, d);
}

static void check_alias(Elaborator *e, const File *f, const Ast *alias) {
    const Declaration *d = map_get(&f->names, alias->a->name);
    if (d && d->ast->kind == AST_CONFIG) return;
    report(e, alias->a->loc,
           "\"%s\" is no parameter that \"%s\" could be an alias of\nhint: alias hidden_size = "
           "n_embd, "
           "where config n_embd is declared",
           alias->a->name, alias->name);
}

File *file_load(Elaborator *e, const char *path, Loc imported_at) {
    File *f = map_get(&e->files, path);
    if (f && f->is_open)
        report(e, imported_at, "this import goes in a circle: %s is being read already",
               f->source->name);
    if (f) return f->is_open ? NULL : f;
    f = ARENA_NEW(e->arena, File);
    Source *source = read_source(e->arena, path);
    source->name = source_name(e, path);
    f->source = source, f->path = path, f->is_open = true;
    if (!e->main) e->main = f;
    map_init(&f->names, e->arena);
    map_init(&f->blocks, e->arena);
    map_put(&e->files, path, f);
    Parser parser;
    if (!dsl_parse_file(&parser, e->arena, f->source)) e->errors++;
    f->declarations = parser.declarations.first;
    for (const Ast *d = f->declarations; d; d = d->next)
        if (d->kind != AST_MODEL && d->kind != AST_IMPORT) declare(e, f, d);
    for (const Ast *d = f->declarations; d; d = d->next)
        if (d->kind == AST_IMPORT)
            add_import(e, f, d);
        else if (d->kind == AST_ALIAS)
            check_alias(e, f, d);
    f->is_open = false;
    return f;
}

Declaration *file_find(const File *f, const char *name) { return map_get(&f->names, name); }

// A call means a block, whatever value has the same name.
Declaration *file_find_block(const File *f, const char *name) {
    Declaration *d = file_find(f, name);
    return d && d->ast->kind == AST_BLOCK ? d : map_get(&f->blocks, name);
}
