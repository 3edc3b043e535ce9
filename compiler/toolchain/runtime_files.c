#include "toolchain/runtime_files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

static int is_room(const struct dirent *e) {
    static const char *const apart[] = {"library", "mpi",    "editor",  "server",
                                        "api",     "codecs", "windows", "glibc"};
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (!strcmp(e->d_name, apart[i])) return 0;
    return *e->d_name != '.' && !strchr(e->d_name, '.');
}

bool runtime_is_c(const char *name) {
    static const char *const ends[] = {".c", ".h", ".S", ".def"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (text_ends_with(name, ends[i])) return true;
    return false;
}

static int is_part(const struct dirent *e) { return *e->d_name != '.' && runtime_is_c(e->d_name); }

void runtime_add_room(Arena *arena, const char *runtime, const char *room, const char *suffix,
                      RuntimeFiles *files) {
    struct dirent **list;
    int n = scandir(arena_printf(arena, "%s/%s", runtime, room), &list, is_part, alphasort);
    const char **names = ARENA_ARRAY(arena, const char *, files->n + (n < 0 ? 0 : n));
    if (files->n) memcpy(names, files->names, (size_t)files->n * sizeof *names);
    files->names = names;
    for (int i = 0; i < n; i++) {
        if (text_ends_with(list[i]->d_name, suffix))
            files->names[files->n++] = arena_printf(arena, "%s/%s", room, list[i]->d_name);
        free(list[i]);
    }
    if (n >= 0) free(list);
}

bool runtime_reads_editor(const char *name) {
    static const char *const readers[] = {"chat/chat.c", "program/options.c",
                                          // these share the table of options
                                          "program/help.c", "program/option_find.c",
                                          "program/option_rules.c"};
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (!strcmp(name, readers[i])) return true;
    return !strncmp(name, "editor/", 7);
}

bool runtime_is_seldom_run(const char *name) {
    static const char *const often[] = {"text/beams.c", "sound/log_mel.c", "sound/resample.c",
                                        "image/resize.c"};
    static const char *const seldom[] = {"program/",
                                         "text/",
                                         "chat/",
                                         "network/",
                                         "bench/",
                                         "measure/",
                                         "main/",
                                         "sound/",
                                         "image/",
                                         "voice/",
                                         "template/",
                                         "grammar/schema",
                                         "grammar/tool",
                                         "grammar/grammar_parse",
                                         "grammar/grammar_check",
                                         "grammar/grammar_emit",
                                         "grammar/vocabulary",
                                         "engine/saved",
                                         "engine/forward",  // a few loops over rows each step
                                         "tokenizer/"};
    for (size_t i = 0; i < sizeof often / sizeof *often; i++)
        if (!strcmp(name, often[i])) return false;
    for (size_t i = 0; i < sizeof seldom / sizeof *seldom; i++)
        if (!strncmp(name, seldom[i], strlen(seldom[i]))) return true;
    return false;
}

bool runtime_is_of_networks(const char *name) {
    static const char *const rooms[] = {"network/", "sound/", "image/", "voice/"};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        if (!strncmp(name, rooms[i], strlen(rooms[i]))) return runtime_is_seldom_run(name);
    return false;
}

RuntimeFiles runtime_files(Arena *arena, const char *runtime, const char *suffix) {
    RuntimeFiles files = {0};
    struct dirent **rooms;
    int n = scandir(runtime, &rooms, is_room, alphasort);
    for (int i = 0; i < n; i++) {
        runtime_add_room(arena, runtime, rooms[i]->d_name, suffix, &files);
        free(rooms[i]);
    }
    if (n >= 0) free(rooms);
    return files;
}
