// Folders and files that no other user can change.
#ifndef BURIN_PRIVATE_FOLDER_H
#define BURIN_PRIVATE_FOLDER_H
#include <stdbool.h>
#include <stddef.h>

#include "util/arena.h"

// Makes the missing folders of a path, each with mode 0700 whatever the umask is. False: errno.
bool make_private_folders(const char *path);
// The first folder on a real path that another user could write to or rename; NULL if there is
// none. Folders above the last may be root's, and writable by others if these can only rename their
// own files (the sticky bit, as of /tmp).
const char *folder_of_strangers(Arena *, const char *real_path);
bool is_own_folder(const char *path);  // a real folder of this user, which others cannot write to
bool is_own_file(const char *path);    // the same for a regular file
// Writes a new file of mode 0600, in the place of an earlier one. False: errno.
bool write_private(const char *path, const void *data, size_t bytes);
#endif
