// Files as others left them: opened only when they are regular, and removed without following
// links.
#ifndef BURIN_FILES_H
#define BURIN_FILES_H
#include <stdbool.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/files.h"

// A descriptor for reading, and the size. -1 with errno: also of a folder, a pipe, a device or a
// socket (EISDIR, ENODEV), which might never end.
int open_regular(const char *path, uint64_t *size);
int open_input(const char *path, uint64_t *size);  // ends the run with a message instead

// The folder of a path as written ("." if there is none), and its last part. Nothing is opened.
const char *path_folder(Arena *, const char *path);
const char *path_name(const char *path);

// A new file of this name, or the same one emptied, for writing. -1 with errno: also of a link
// (ELOOP) or no regular file.
int create_output(const char *path, int flags);

// Deletes a file, a link (not its target), or a folder with its contents. False if something is
// left.
bool remove_tree(const char *path);
#endif
