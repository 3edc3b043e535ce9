// Files with a user's conversations: private, whole at any time, and resumed by one program at a
// time.
#ifndef BURIN_PRIVATE_FILE_H
#define BURIN_PRIVATE_FILE_H
#include <stdbool.h>
#include <stddef.h>

// Writes a new file of mode 0600 and renames it to `path`: whoever reads that finds the old or the
// new one. False: *why has the reason, and an earlier file stays.
bool burin_replace_file(const char *path, const void *data, size_t bytes, const char **why);

// Waits until no other program has `path`.lock, and makes it. False: *why has the reason, which may
// be that burin_replace_file would not work. It is removed by burin_unlock_file, or when the
// program ends with a message. One lock at a time.
bool burin_lock_file(const char *path, const char **why);
void burin_unlock_file(void);
void burin_remove_lock(void);  // the file alone, from a handler of a signal that ends the program
#endif
