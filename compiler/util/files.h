// Files as others left them: opened only when they are regular, and removed without following links.
#ifndef BURIN_FILES_H
#define BURIN_FILES_H
#include <stdbool.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/files.h"

// A descriptor for reading, and the size. -1 with errno: also of a folder, a pipe, a device or a socket (EISDIR, ENODEV), which
// might never end.
int open_regular(const char *path, uint64_t *size);
int open_input(const char *path, uint64_t *size);  // ends the run with a message instead

// What holds the file of this path, as the path says it ("." where it names none), and its last part. Nothing is opened.
const char *path_folder(Arena *, const char *path);
const char *path_name(const char *path);

// A new file of this name, or the same one emptied, for writing. -1 with errno: also of a link (ELOOP) or no regular file.
int create_output(const char *path, int flags);

// A file, a link (not what it leads to), or a folder with everything in it. False when something is left.
bool remove_tree(const char *path);
#endif
