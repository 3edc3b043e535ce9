#include "output/folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "toolchain/flags.h"
#include "toolchain/runtime_files.h"

#define LICENCE "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"

static const char about[] = "# " LICENCE
                            "# make: the program NAME and NAME.a, the library of NAME.h. make "
                            "install PREFIX=/usr/local: both, and the header.\n"
                            "# Any compiler with GNU C will do: make CC=gcc CFLAGS=-g.\n"
                            "CC = cc\n";

static const char about_ranks[] =
    "# " LICENCE
    "# make: the program NAME, which mpirun -n 4 ./NAME starts on four ranks.\n"
    "CC = mpicc -DBURIN_MPI=1\n";

static const char head[] =
    "FLAGS = " FLAGS_LANGUAGE " " FLAGS_KERNELS " " FLAGS_NUMBERS " " FLAGS_FOLDER
    " -I. -Iruntime $(CFLAGS)\n"
    "PREFIX = /usr/local\n"
    "TO = $(DESTDIR)$(PREFIX)\n"
    "RUNTIME = $(patsubst %.c,%.o,$(wildcard runtime/*/*.c))\n"
    "MODEL =";

static const char rules[] =
    "\n\n"
    "all: NAME NAME.a\n\n"
    "NAME: $(MODEL) $(RUNTIME)\n\t$(CC) $(CFLAGS) $^ -lm -lpthread -o $@\n\n"
    "NAME.a: $(MODEL) NAME_api.o\n\trm -f $@\n\tar rcs $@ $^\n\n"
    "%.o: %.c\n\t$(CC) $(FLAGS) -c $< -o $@\n\n"
    "%_weights.o: %_weights.S %.weights\n\t$(CC) -c $< -o $@\n\n";

static const char ends[] =
    "install: all\n"
    "\tinstall -d $(TO)/bin $(TO)/lib $(TO)/include\n"
    "\tinstall NAME $(TO)/bin/NAME\n"
    "\tinstall -m 644 NAME.a $(TO)/lib/libNAME.a\n"
    "\tinstall -m 644 NAME.h $(TO)/include/NAME.h\n\n"
    "uninstall:\n"
    "\trm -f $(TO)/bin/NAME $(TO)/lib/libNAME.a $(TO)/include/NAME.h\n\n"
    "clean:\n\trm -f NAME NAME.a *.o runtime/*/*.o\n\n"
    ".PHONY: all install uninstall clean\n";

static void add_named(Text *t, const char *text, const char *name) {
    static const char mark[] = "NAME";
    for (const char *at; (at = strstr(text, mark)); text = at + strlen(mark)) {
        text_append(t, text, (size_t)(at - text));
        text_add(t, "%s", name);
    }
    text_add(t, "%s", text);
}

static void add_objects(const Build *b, Text *t) {
    text_add(t, " %s_model.o %s_weights.o", b->name, b->name);
    for (int i = 0; i < b->tools.n_cpus; i++)
        text_add(t, " %s_%s.o", b->name, b->tools.cpus[i]->symbol);
}

static void add_rules(const Build *b, Text *t) {
    for (int i = 0; i < b->tools.n_cpus; i++) {
        const Target *cpu = b->tools.cpus[i];
        text_add(t, "%s_%s.o: %s.c\n\t$(CC) $(FLAGS) %s%s-DBURIN_CPU=%s -c $< -o $@\n\n", b->name,
                 cpu->symbol, b->name, cpu->flags, *cpu->flags ? " " : "", cpu->symbol);
    }
}

void folder_makefile(const Build *b, Text *t) {
    const Toolchain *tools = &b->tools;
    add_named(t, tools->mpi ? about_ranks : about, b->name);
    add_named(t, head, b->name);
    add_objects(b, t);
    if (b->draft) add_objects(b->draft, t);
    add_named(t, rules, b->name);
    add_rules(b, t);
    if (b->draft) add_rules(b->draft, t);
    add_named(t, ends, b->name);
}

static int is_text_of_c(const struct dirent *e) { return runtime_is_c(e->d_name); }

static void mark_file(const char *path) {
    Text text = {0};
    size_t size;
    char *old = read_text_file(path, &size);
    text_add(&text, "// " LICENCE);
    text_append(&text, old, size);
    write_file(path, text.data, text.length);
    text_free(&text);
    free(old);
}

static void mark_files(const Build *b, const char *folder) {
    struct dirent **list;
    int n = scandir(folder, &list, is_text_of_c, alphasort);
    for (int i = 0; i < n; i++) {
        mark_file(arena_printf(b->arena, "%s/%s", folder, list[i]->d_name));
        free(list[i]);
    }
    if (n >= 0) free(list);
    RuntimeFiles files = runtime_files(b->arena, arena_printf(b->arena, "%s/runtime", folder), "");
    if (b->tools.mpi)
        runtime_add_room(b->arena, arena_printf(b->arena, "%s/runtime", folder), "mpi", "", &files);
    for (int i = 0; i < files.n; i++)
        mark_file(arena_printf(b->arena, "%s/runtime/%s", folder, files.names[i]));
}

void folder_licence(const Build *b, const char *folder) {
    const char *licence = arena_printf(b->arena, "%s/LICENSE", b->tools.home);
    mark_files(b, folder);
    if (access(licence, R_OK)) return;  // an assembled home folder
    size_t size;
    char *text = read_text_file(licence, &size);
    write_file(arena_printf(b->arena, "%s/LICENSE", folder), text, size);
    free(text);
}
