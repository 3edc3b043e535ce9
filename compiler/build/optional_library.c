#include "build/optional_library.h"

#include <string.h>
#include <unistd.h>

#include "toolchain/cache.h"
#include "toolchain/compiler.h"
#include "util/files.h"
#include "util/text.h"

// Programs for this machine's own glibc: other C libraries have no such libraries here, and MPI's
// programs are started by mpirun.
static bool may_have(const Build *b) {
    const Toolchain *t = &b->tools;
    return b->kind == OUTPUT_PROGRAM && t->native && !machine_has_musl(t->machine) &&
           !b->options->sysroot && !t->mpi;
}

static bool has_header(const Build *b, const OptionalLibrary *l) {
    static const char *const folders[] = {"/usr/include", "/usr/local/include"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!access(arena_printf(b->arena, "%s/%s", folders[i], l->header), R_OK)) return true;
    return false;
}

const char *optional_library_path(const Build *b, const OptionalLibrary *l) {
    static const char *const folders[] = {"/usr/local/lib", "/usr/lib64", "/usr/lib"};
    const char *file =
        arena_printf(b->arena, "/usr/lib/%s/%s", b->tools.machine->triple, l->archive);
    if (!may_have(b) || !has_header(b, l)) return NULL;
    for (int i = -1; i < (int)(sizeof folders / sizeof *folders); i++) {
        if (i >= 0) file = arena_printf(b->arena, "%s/%s", folders[i], l->archive);
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
    return process_succeeds(&line, arena_printf(b->arena, "%s/probe.log", folder),
                            b->options->verbose);
}

const char *optional_library_words(const Build *b, const OptionalLibrary *l) {
    const char *found = NULL;
    if (!optional_library_path(b, l)) return NULL;
    const char *folder = work_folder(b->arena),
               *source = arena_printf(b->arena, "%s/probe.c", folder);
    write_file(source, l->probe, strlen(l->probe));
    for (int i = 0; l->lists[i] && !found; i++)
        if (links(b, folder, source, l->lists[i])) found = l->lists[i];
    remove_tree(folder);
    diag_keep(folder);
    return found;
}

void optional_library_check(const Build *b, const OptionalLibrary *l, const char *output) {
    if (b->kind != OUTPUT_PROGRAM) usage_error("-o %s: %s makes a program", output, l->option);
    if (!may_have(b))
        usage_error("%s: programs for %s%s are built without\n  hint: %s", l->option,
                    b->tools.machine->triple,
                    b->options->sysroot ? " by --sysroot"
                    : b->tools.mpi      ? " by --with=mpi"
                                        : "",
                    l->without);
    if (optional_library_words(b, l)) return;
    const char *install = system_install_command(b->arena);
    diag_fatal(NO_LOC, "%s: there is no static %s with its headers here\nhint: %s", l->option,
               l->name,
               install && !strncmp(install, "apt", strlen("apt"))
                   ? arena_printf(b->arena, "apt-get install %s", l->package)
                   : arena_printf(b->arena, "install what has %s and %s, or leave it out",
                                  l->header, l->archive));
}
