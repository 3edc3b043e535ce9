#include "driver/editor.h"

#include <string.h>
#include <unistd.h>

#include "driver/cache.h"
#include "driver/compiler.h"
#include "driver/options.h"
#include "util/files.h"
#include "util/text.h"

// Programs for this machine's own glibc: other C libraries have no libedit here, and MPI's programs are started by mpirun.
static bool may_have(const Build *b) {
    const Toolchain *t = &b->tools;
    return b->kind == OUTPUT_PROGRAM && t->native && !machine_has_musl(t->machine) && !b->options->sysroot && !t->mpi;
}

// The static library, or NULL.
static const char *library_of(const Build *b) {
    static const char *const folders[] = {"/usr/local/lib", "/usr/lib64", "/usr/lib"};
    const char *file = arena_printf(b->arena, "/usr/lib/%s/libedit.a", b->tools.machine->triple);
    if (access("/usr/include/histedit.h", R_OK) && access("/usr/local/include/histedit.h", R_OK)) return NULL;
    for (int i = -1; i < (int)(sizeof folders / sizeof *folders); i++) {
        if (i >= 0) file = arena_printf(b->arena, "%s/libedit.a", folders[i]);
        if (!access(file, R_OK)) return file;
    }
    return NULL;
}

static bool links(const Build *b, const char *folder, const char *source, const char *libraries) {
    CommandLine line = {.arena = b->arena};
    command_add(&line, b->tools.clang);
    toolchain_place(&b->tools, &line);
    command_add_words(&line, "-static -o");
    command_addf(&line, "%s/probe", folder);
    command_add(&line, source);
    command_add_words(&line, libraries);
    return process_succeeds(&line, arena_printf(b->arena, "%s/probe.log", folder), b->options->verbose);
}

// The words that link it, or NULL: distributions build it over different libraries.
static const char *libraries_of(const Build *b) {
    static const char *const lists[] = {"-ledit -ltinfo -lbsd -lmd", "-ledit -ltinfo", "-ledit -lncursesw", "-ledit -lncurses"},
                             text[] =
                                 "#include <histedit.h>\n#include <stdio.h>\n"
                                 "int main(void) { return !el_init(\"\", stdin, stdout, stderr); }\n";
    const char *found = NULL;
    if (!library_of(b)) return NULL;
    const char *folder = work_folder(b->arena), *source = arena_printf(b->arena, "%s/probe.c", folder);
    write_file(source, text, strlen(text));
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !found; i++)
        if (links(b, folder, source, lists[i])) found = lists[i];
    remove_tree(folder);
    diag_keep(folder);
    return found;
}

static bool is_asked_for(const Build *b) { return b->options->line_editor && !strcmp(b->options->line_editor, "libedit"); }

void editor_check(const Build *b, const char *output) {
    if (!is_asked_for(b)) return;
    if (b->kind != OUTPUT_PROGRAM) usage_error("-o %s: --line-editor=libedit makes a program", output);
    if (!may_have(b))
        usage_error(
            "--line-editor=libedit: programs for %s%s are built without\n  hint: leave it out: lines are read as the terminal "
            "gives them; rlwrap ./program --chat edits them",
            b->tools.machine->triple,
            b->options->sysroot ? " by --sysroot"
            : b->tools.mpi      ? " by --with=mpi"
                                : "");
    if (libraries_of(b)) return;
    const char *install = system_install_command(b->arena);
    diag_fatal(NO_LOC, "--line-editor=libedit: there is no static libedit with its headers here\nhint: %s",
               install && !strncmp(install, "apt", strlen("apt"))
                   ? "apt-get install libedit-dev"
                   : "install what has histedit.h and libedit.a, or leave it out");
}

void editor_choose(Build *b) {
    const char *kind = b->options->line_editor;
    if (b->talks && may_have(b) && (!kind || strcmp(kind, "none"))) b->tools.editor = libraries_of(b);
}

uint64_t editor_key(const Build *b, uint64_t hash) {
    bool none = b->options->line_editor && !strcmp(b->options->line_editor, "none");
    return hash_text(none || !may_have(b) ? NULL : library_of(b), hash);
}
