// The files of runtime/ that a program is made of: those in its folders, but for library/, whose
// texts become NAME.h and NAME_api.c, and those that not every program has: mpi/ (--with=mpi),
// editor/ (--line-editor), windows/ and glibc/.
#ifndef BURIN_TOOLCHAIN_RUNTIME_FILES_H
#define BURIN_TOOLCHAIN_RUNTIME_FILES_H
#include <stdbool.h>

#include "util/arena.h"

typedef struct RuntimeFiles {
    const char **names;  // "FOLDER/FILE", sorted
    int n;
} RuntimeFiles;

// `runtime` is a folder of that name, of burin or of emitted C. Only those that end in `suffix`;
// "": all that C includes.
RuntimeFiles runtime_files(Arena *, const char *runtime, const char *suffix);
// Returns true for a source, or what sources include: .c, .h, .S, .def.
bool runtime_is_c(const char *name);
// Returns true if BURIN_EDITOR changes the file.
bool runtime_reads_editor(const char *name);
// Returns true if its size matters more than its time.
bool runtime_is_seldom_run(const char *name);
// Of networks, pictures and sounds, and not run often.
bool runtime_is_of_networks(const char *name);
void runtime_add_room(Arena *, const char *runtime, const char *room, const char *suffix,
                      RuntimeFiles *);
#endif
