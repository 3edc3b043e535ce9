// Files by names in UTF-8, their bytes as they are.
#include <errno.h>
#include <limits.h>
#include <stdarg.h>

#include "posix.h"
#include "wide.h"

wchar_t *burin_wide(const char *text, int bytes, int *length) {
    int n = MultiByteToWideChar(CP_UTF8, 0, text, bytes, NULL, 0);
    wchar_t *wide = malloc(((size_t)n + 1) * sizeof *wide);
    if (!wide) return errno = ENOMEM, NULL;
    MultiByteToWideChar(CP_UTF8, 0, text, bytes, wide, n);
    if (length) *length = n;
    return wide;
}

char *burin_narrow(const wchar_t *text) {
    int n = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *narrow = malloc((size_t)n + 1);
    if (!narrow) return errno = ENOMEM, NULL;
    WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, n, NULL, NULL);
    return narrow;
}

int burin_windows_error(void) {
    switch (GetLastError()) {
        case ERROR_FILE_NOT_FOUND:
        case ERROR_PATH_NOT_FOUND:
            return ENOENT;
        case ERROR_NOT_ENOUGH_MEMORY:
        case ERROR_COMMITMENT_LIMIT:
        case ERROR_OUTOFMEMORY:
            return ENOMEM;
        case ERROR_FILE_EXISTS:
        case ERROR_ALREADY_EXISTS:
            return EEXIST;
        case ERROR_DISK_FULL:
        case ERROR_HANDLE_DISK_FULL:
            return ENOSPC;
        case ERROR_BROKEN_PIPE:
        case ERROR_NO_DATA:
        case ERROR_PIPE_NOT_CONNECTED:
            return EPIPE;
        case ERROR_ACCESS_DENIED:
        case ERROR_SHARING_VIOLATION:
            return EACCES;
    }
    return EIO;
}

int burin_windows_open(const char *path, int flags, ...) {
    wchar_t *wide = burin_wide(path, -1, NULL);
    int file = wide ? _wopen(wide, flags | _O_BINARY, _S_IREAD | _S_IWRITE) : -1;
    free(wide);
    return file;
}

int burin_windows_mkdir(const char *path, int mode) {
    wchar_t *wide = burin_wide(path, -1, NULL);
    int status = wide ? _wmkdir(wide) : -1;
    (void)mode;
    free(wide);
    return status;
}

int burin_windows_unlink(const char *path) {
    wchar_t *wide = burin_wide(path, -1, NULL);
    int status = wide ? _wunlink(wide) : -1;
    free(wide);
    return status;
}

int burin_windows_access(const char *path, int mode) {
    wchar_t *wide = burin_wide(path, -1, NULL);
    int status = wide ? _waccess(wide, mode) : -1;
    free(wide);
    return status;
}

// Returns the name of an open file with all links resolved: C:/a/b. Windows gives it after a prefix
// of four characters, with backslashes. NULL: an error, in errno.
static char *final_name(HANDLE file) {
    wchar_t wide[PATH_MAX];
    DWORD n = GetFinalPathNameByHandleW(file, wide, PATH_MAX, FILE_NAME_NORMALIZED);
    if (!n || n >= PATH_MAX) return errno = n ? ENAMETOOLONG : burin_windows_error(), NULL;
    char *name = burin_narrow(wcsncmp(wide, L"\\\\?\\", 4) ? wide : wide + 4);
    for (char *c = name; c && *c; c++)
        if (*c == '\\') *c = '/';
    return name;
}

char *burin_windows_realpath(const char *path, char *resolved) {
    wchar_t *wide = burin_wide(path, -1, NULL);
    if (!wide) return NULL;
    HANDLE file = CreateFileW(wide, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    free(wide);
    if (file == INVALID_HANDLE_VALUE) return errno = burin_windows_error(), NULL;
    char *name = final_name(file);
    CloseHandle(file);
    if (!name || strlen(name) >= PATH_MAX) {
        if (name) errno = ENAMETOOLONG;
        free(name);
        return NULL;
    }
    memcpy(resolved, name, strlen(name) + 1);
    free(name);
    return resolved;
}

int burin_windows_rename(const char *from, const char *to) {
    wchar_t *old = burin_wide(from, -1, NULL), *new = burin_wide(to, -1, NULL);
    bool moved = old && new && MoveFileExW(old, new, MOVEFILE_REPLACE_EXISTING);
    if (old && new && !moved) errno = burin_windows_error();
    free(old);
    free(new);
    return moved ? 0 : -1;
}

int flock(int file, int operation) {
    OVERLAPPED from = {0};
    DWORD flags = LOCKFILE_EXCLUSIVE_LOCK | (operation & LOCK_NB ? LOCKFILE_FAIL_IMMEDIATELY : 0);
    if (LockFileEx((HANDLE)_get_osfhandle(file), flags, 0, 1, 0, &from)) return 0;
    errno = GetLastError() == ERROR_LOCK_VIOLATION ? EWOULDBLOCK : burin_windows_error();
    return -1;
}

static int poll_pipe(HANDLE pipe, int milliseconds) {
    enum { STEP = 5 };
    for (int waited = 0;; waited += STEP) {
        DWORD there = 0;
        if (!PeekNamedPipe(pipe, NULL, 0, NULL, &there, NULL) || there)
            return 1;  // an end can be read, too
        if (milliseconds >= 0 && waited >= milliseconds) return 0;
        Sleep(STEP);
    }
}

int poll(struct pollfd *file, unsigned n, int milliseconds) {
    HANDLE handle = (HANDLE)_get_osfhandle(file->fd);
    (void)n;
    if (GetFileType(handle) == FILE_TYPE_PIPE) return poll_pipe(handle, milliseconds);
    if (!burin_windows_isatty(file->fd)) return 1;
    return WaitForSingleObject(handle, milliseconds < 0 ? INFINITE : (DWORD)milliseconds) ==
           WAIT_OBJECT_0;
}
