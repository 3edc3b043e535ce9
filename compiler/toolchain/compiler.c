// Which clang compiles: $BURIN_CC, or the first on PATH that can, by names from clang-19, which
// burin is tested with, to clang. Any other than clang-19 is tried once, on the headers that
// emitted code includes; that it can is kept in the cache.
#include "toolchain/compiler.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "toolchain/cache.h"
#include "util/diag.h"
#include "util/files.h"
#include "util/text.h"

static const char *const names[] = {TESTED_COMPILER, "clang-20", "clang-21", "clang-18",
                                    "clang-17",      "clang-16", "clang"};
enum { N_NAMES = sizeof names / sizeof *names };

// ---------------------------------------------------------------------------------------- packages
// The value of NAME=value in a text of lines, without quotes; "" when there is none.
static const char *field(Arena *arena, const char *text, const char *name) {
    size_t n = strlen(name);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, name, n) || line[n] != '=') continue;
        const char *value = line + n + 1;
        value += *value == '"';
        return arena_strndup(arena, value, strcspn(value, "\"\n"));
    }
    return "";
}

static bool has_word(const char *words, const char *word) {
    size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' ')) return true;
    return false;
}

const char *install_command(Arena *arena, const char *os_release) {
    static const struct {
        const char *id, *command;
    } systems[] = {{"debian", "apt-get install"},  {"ubuntu", "apt-get install"},
                   {"fedora", "dnf install"},      {"rhel", "dnf install"},
                   {"centos", "dnf install"},      {"arch", "pacman -S"},
                   {"alpine", "apk add"},          {"suse", "zypper install"},
                   {"opensuse", "zypper install"}, {"void", "xbps-install"},
                   {"gentoo", "emerge"},           {"nixos", "nix-shell -p"},
                   {"macos", "brew install"}};
    const char *ids = arena_printf(arena, "%s %s", field(arena, os_release, "ID"),
                                   field(arena, os_release, "ID_LIKE"));
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (has_word(ids, systems[i].id)) return systems[i].command;
    return NULL;
}

const char *system_install_command(Arena *arena) {
    static const char *const files[] = {"/etc/os-release", "/usr/lib/os-release"};
    for (int i = 0; i < 2; i++) {
        if (access(files[i], R_OK)) continue;
        char *text = read_text_file(files[i], NULL);
        const char *command = install_command(arena, text);
        free(text);
        return command;
    }
    return NULL;
}

static bool has_apt(const char *command) { return command && !strncmp(command, "apt", 3); }

const char *clang_hint(Arena *arena) {
    const char *command = system_install_command(arena);
    if (!command) return "install clang 16 or later, or name one in BURIN_CC";
    return arena_printf(arena, "%s %s", command, has_apt(command) ? TESTED_COMPILER : "clang");
}

const char *cross_hint(Arena *arena, const char *packages, const char *triple) {
    if (has_apt(system_install_command(arena)))
        return arena_printf(arena, "apt-get install %s", packages);
    return arena_printf(arena, "install gcc and the C library for %s as this system names them",
                        triple);
}

const char *emulator_find(const Toolchain *t) {
    if (machine_is_bare(t->machine))
        diag_fatal(NO_LOC,
                   "there is no operating system on %s that could run a program\nhint: burin build "
                   "-o x.a, and see "
                   "examples/boards",
                   t->machine->triple);
    const Requirement emulator = machine_emulator(t->arena, t->machine);
    if (emulator.there) return emulator.place;
    diag_fatal(NO_LOC, "programs for %s run here by %s, which is missing\nhint: %s",
               t->machine->triple, emulator.place,
               has_apt(system_install_command(t->arena)) ? "apt-get install qemu-user-static"
                                                         : "install qemu's user mode");
}

// ------------------------------------------------------------------------------------------ trying
const char *compiler_path(Arena *arena, const char *name) {
    if (strchr(name, '/')) return access(name, X_OK) ? NULL : name;
    return find_program(arena, name);
}

// Its first line.
static const char *complaint(Arena *arena, const char *log) {
    char *text = read_text_file(log, NULL);
    const char *line = *text ? arena_strndup(arena, text, strcspn(text, "\n")) : "it says nothing";
    free(text);
    return line;
}

// Returns NULL if the compiler works (and records that in the cache file `known`), else its error
// output.
static const char *try_to_compile(const Toolchain *t, const char *path, const char *flags,
                                  const char *known) {
    const char *folder = work_folder(t->arena),
               *source = arena_printf(t->arena, "%s/probe.c", folder),
               *log = arena_printf(t->arena, "%s/probe.log", folder);
    static const char text[] = "#include \"kernels/kernels.h\"\n";
    write_file(source, text, strlen(text));
    CommandLine line = {.arena = t->arena};
    command_add(&line, path);
    toolchain_place(t, &line);
    command_add_words(&line, flags);
    command_addf(&line, "-I%s/runtime", t->home);
    command_add_words(&line, "-O1 -S -o");
    command_addf(&line, "%s/probe.s", folder);
    command_add(&line, source);
    const char *said = process_succeeds(&line, log, t->verbose) ? NULL : complaint(t->arena, log);
    if (!said && known) cache_put(t->arena, source, known);
    remove_tree(folder);
    diag_keep(folder);
    return said;
}

static const char *why_not(const Toolchain *t, const char *path, const char *flags) {
    static const char *const runtime[] = {".h", NULL};
    uint64_t key = hash_folder(
        arena_printf(t->arena, "%s/runtime", t->home), runtime,
        hash_text(t->machine->triple, hash_text(flags, hash_file(path, t->sysroot.key))));
    const char *folder = cache_folder(t->arena, "compilers", key);
    const char *known = folder ? arena_printf(t->arena, "%s/works", folder) : NULL;
    if (known && cache_find(t->arena, known)) return NULL;
    return try_to_compile(t, path, flags, known);
}

const char *compiler_on_path(Arena *arena) {
    const char *given = getenv("BURIN_CC");
    if (given && *given) return compiler_path(arena, given);
    for (int i = 0; i < N_NAMES; i++)
        if (find_program(arena, names[i])) return names[i];
    return NULL;
}

const char *compiler_find(const Toolchain *t, const char *flags) {
    const char *given = getenv("BURIN_CC"), *refused = NULL, *said = NULL;
    if (given && *given) {
        const char *path = compiler_path(t->arena, given);
        if (!path) diag_fatal(NO_LOC, "BURIN_CC is %s, and there is no such program", given);
        if (!(said = why_not(t, path, flags))) return given;
        diag_fatal(NO_LOC,
                   "BURIN_CC is %s, which does not compile what burin emits: %s\nhint: it must be "
                   "clang 16 or later",
                   given, said);
    }
    for (int i = 0; i < N_NAMES; i++) {
        const char *path = find_program(t->arena, names[i]), *why = NULL;
        if (path && (i == 0 || !(why = why_not(t, path, flags)))) return names[i];
        if (why && !refused) refused = path, said = why;
    }
    if (refused)
        diag_fatal(NO_LOC, "%s does not compile what burin emits: %s\nhint: %s", refused, said,
                   clang_hint(t->arena));
    diag_fatal(NO_LOC, "there is no clang on PATH\nhint: %s", clang_hint(t->arena));
}
