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

// A machine without an operating system: a library alone, every file for its CPU. The sources of
// the runtime are in NAME_api.c. @...@ are words of bare_text.
static const char bare_makefile[] =
    "# " LICENCE
    "# make: @NAME@.a, the library of @NAME@.h, by the GNU compiler of the board. By clang:\n"
    "# make CC=\"clang --target=@TRIPLE@ -isystem /usr/include/newlib\" AR=llvm-ar\n"
    "CC = arm-none-eabi-gcc\n"
    "AR = arm-none-eabi-ar\n"
    "CPU = @CPU@\n"
    "FLAGS = $(CPU) " FLAGS_LANGUAGE " " FLAGS_NUMBERS " " FLAGS_BARE_FOLDER
    " -DBURIN_CPU=@SYMBOL@ -I. -Iruntime $(CFLAGS)\n\n"
    "@NAME@.a: @NAME@_model.o @NAME@_weights.o @NAME@.o @NAME@_api.o\n"
    "\trm -f $@\n\t$(AR) rcs $@ $^\n\n"
    "@NAME@.o: @NAME@.c\n\t$(CC) $(FLAGS) " FLAGS_KERNELS
    " -c $< -o $@\n\n"
    "%.o: %.c\n\t$(CC) $(FLAGS) -Os -c $< -o $@\n\n"
    "%_weights.o: %_weights.S %.weights\n\t$(CC) $(CPU) -c $< -o $@\n\n"
    "# A library of Arduino, precompiled for the board's CPU: copy the folder arduino to\n"
    "# libraries/@NAME@ of the sketchbook.\n"
    "MCU = $(patsubst -mcpu=%,%,$(filter -mcpu=%,$(CPU)))\n"
    "FPU = $(patsubst -mfpu=%,/%-hard,$(filter -mfpu=%,$(CPU)))\n\n"
    "arduino: @NAME@.a\n"
    "\trm -rf $@\n\tmkdir -p $@/src/$(MCU)$(FPU)\n"
    "\tcp @NAME@.a $@/src/$(MCU)$(FPU)/lib@NAME@.a\n\tcp @NAME@.h $@/src\n"
    "\tprintf '%s\\n' name=@NAME@ version=1.0.0 author=burin maintainer=burin \\\n"
    "\t    'sentence=The model @NAME@, compiled by burin' 'paragraph=See @NAME@.h.' \\\n"
    "\t    'category=Data Processing' url=https://localhost architectures=* \\\n"
    "\t    precompiled=full ldflags=-l@NAME@ includes=@NAME@.h > $@/library.properties\n\n"
    "clean:\n\trm -rf arduino @NAME@.a *.o\n\n"
    ".PHONY: arduino clean\n";

static const char bare_cmake[] =
    "# " LICENCE
    "# add_subdirectory(FOLDER), then target_link_libraries(app @NAME@); also a module of Zephyr.\n"
    "cmake_minimum_required(VERSION 3.16)\n"
    "if(NOT PROJECT_NAME)\n"
    "    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)\n"
    "    project(@NAME@ C ASM)\n"
    "endif()\n"
    "set(here ${CMAKE_CURRENT_SOURCE_DIR})\n"
    "add_library(@NAME@ STATIC @NAME@.c @NAME@_model.c @NAME@_api.c @NAME@_weights.S)\n"
    "target_include_directories(@NAME@ PUBLIC ${here} PRIVATE ${here}/runtime)\n"
    "target_compile_options(@NAME@ PRIVATE @CPU@\n"
    "    $<$<COMPILE_LANGUAGE:C>:-Os;@FLAGS@>)\n"
    "target_compile_definitions(@NAME@ PRIVATE BURIN_CPU=@SYMBOL@)\n"
    "set_source_files_properties(@NAME@.c PROPERTIES COMPILE_OPTIONS " FLAGS_KERNELS
    ")\n"
    "set_source_files_properties(@NAME@_weights.S PROPERTIES OBJECT_DEPENDS "
    "${here}/@NAME@.weights)\n"
    "if(COMMAND zephyr_append_cmake_library)\n"
    "    zephyr_append_cmake_library(@NAME@)\n"
    "endif()\n";

static const char zephyr_module[] = "# " LICENCE "name: @NAME@\nbuild:\n  cmake: .\n";

static const char platformio[] =
    "{\n"
    "  \"name\": \"@NAME@\",\n"
    "  \"version\": \"1.0.0\",\n"
    "  \"description\": \"The model @NAME@, compiled by burin for @SYMBOL@\",\n"
    "  \"license\": \"Apache-2.0 WITH LLVM-exception\",\n"
    "  \"frameworks\": \"*\",\n"
    "  \"platforms\": \"*\",\n"
    "  \"headers\": \"@NAME@.h\",\n"
    "  \"build\": {\n"
    "    \"srcDir\": \".\",\n"
    "    \"includeDir\": \".\",\n"
    "    \"srcFilter\": [\"-<*>\", \"+<@NAME@.c>\", \"+<@NAME@_model.c>\", \"+<@NAME@_api.c>\", "
    "\"+<@NAME@_weights.S>\"],\n"
    "    \"flags\": \"-I. -Iruntime -DBURIN_CPU=@SYMBOL@ " FLAGS_LANGUAGE " " FLAGS_NUMBERS
    " " FLAGS_BARE_FOLDER " " FLAGS_KERNELS
    "\"\n"
    "  }\n"
    "}\n";

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

static const char *with_semicolons(Arena *arena, const char *flags) {
    char *list = arena_strndup(arena, flags, strlen(flags));
    for (char *c = list; *c; c++)
        if (*c == ' ') *c = ';';
    return list;
}

// The text with the words between @: the model's name, the machine's triple, the CPU's flags.
static const char *bare_text(const Build *b, const char *text) {
    const Target *cpu = b->tools.cpus[b->tools.n_cpus - 1];
    const char *const words[][2] = {
        {"NAME", b->name},
        {"CPU", cpu->flags},
        {"SYMBOL", cpu->symbol},
        {"TRIPLE", b->tools.machine->triple},
        {"FLAGS",
         with_semicolons(b->arena, FLAGS_LANGUAGE " " FLAGS_NUMBERS " " FLAGS_BARE_FOLDER)}};
    Text out = {0};
    for (const char *at; *text; text = at + 1) {
        at = strchr(text, '@');
        if (!at) at = text + strlen(text);
        text_append(&out, text, (size_t)(at - text));
        if (!*at || !strchr("NCSTF", at[1]) || !strchr(at + 1, '@')) {
            text_append(&out, at, *at != 0);
            if (!*at) break;
            continue;
        }
        size_t n = strcspn(at + 1, "@");
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strlen(words[i][0]) == n && !strncmp(words[i][0], at + 1, n))
                text_add(&out, "%s", words[i][1]);
        at += n + 1;
    }
    text = arena_strndup(b->arena, out.data, out.length);
    text_free(&out);
    return text;
}

static void write_bare(const Build *b, const char *folder, const char *file, const char *text) {
    const char *filled = bare_text(b, text);
    write_file(arena_printf(b->arena, "%s/%s", folder, file), filled, strlen(filled));
}

static void folder_makefile(const Build *b, Text *t) {
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

void folder_build_files(const Build *b, const char *folder) {
    Text makefile = {0};
    if (machine_is_bare(b->tools.machine)) {
        make_folder(arena_printf(b->arena, "%s/zephyr", folder));
        write_bare(b, folder, "Makefile", bare_makefile);
        write_bare(b, folder, "CMakeLists.txt", bare_cmake);
        write_bare(b, folder, "zephyr/module.yml", zephyr_module);
        write_bare(b, folder, "library.json", platformio);
        return;
    }
    folder_makefile(b, &makefile);
    write_file(arena_printf(b->arena, "%s/Makefile", folder), makefile.data, makefile.length);
    text_free(&makefile);
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
