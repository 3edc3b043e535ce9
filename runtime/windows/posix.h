// POSIX functions of the runtime that mingw-w64's headers lack: included before every file of a
// program for Windows, by -include. Names of files are UTF-8, files are bytes without text mode.
// Functions follow POSIX as far as the runtime uses them; mingw-w64's own versions with names and
// texts in the system's code page are replaced.
#ifndef BURIN_WINDOWS_POSIX_H
#define BURIN_WINDOWS_POSIX_H
#define _FILE_OFFSET_BITS            64
#define _POSIX_THREAD_SAFE_FUNCTIONS 1
#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#ifndef BURIN_LINKAGE
#define BURIN_LINKAGE
#endif

// ---- files (files.c), a search (search.c) ----

enum { O_CLOEXEC = _O_NOINHERIT, O_NONBLOCK = 0, O_NOCTTY = 0, O_NOFOLLOW = 0 };
enum { F_GETFD = 1, F_GETFL = 3, F_SETFL = 4 };
enum { LOCK_EX = 2, LOCK_NB = 4 };

int burin_windows_open(const char *path, int flags, ...);
int burin_windows_mkdir(const char *path, int mode);
int burin_windows_unlink(const char *path);
int burin_windows_rename(const char *from, const char *to);
int burin_windows_access(const char *path, int mode);
ssize_t burin_windows_read(int file, void *data, size_t bytes);
ssize_t burin_windows_write(int file, const void *data, size_t bytes);
int burin_windows_isatty(int file);
char *burin_windows_realpath(const char *path, char *resolved);  // PATH_MAX bytes; / between names
int flock(int file, int operation);  // LOCK_EX, LOCK_EX | LOCK_NB; closing the file unlocks it
#define open     burin_windows_open
#define mkdir    burin_windows_mkdir
#define unlink   burin_windows_unlink
#define rename   burin_windows_rename
#define access   burin_windows_access
#define read     burin_windows_read
#define write    burin_windows_write
#define isatty   burin_windows_isatty
#define realpath burin_windows_realpath

static inline int fchmod(int file, int mode) {  // files have no modes of users and groups
    (void)file, (void)mode;
    return 0;
}

static inline int fcntl(int file, int command, ...) {  // there is no O_NONBLOCK to take away
    (void)file, (void)command;
    return 0;
}

struct pollfd {
    int fd;
    short events, revents;
};
enum { POLLIN = 1 };
int poll(struct pollfd *, unsigned n,
         int milliseconds);  // of one file: is there something to read, or its end?

// ---- memory (memory.c) ----

enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2 };
enum { MAP_PRIVATE = 1, MAP_ANONYMOUS = 2, MAP_NORESERVE = 4, MADV_WILLNEED = 3 };
#define MAP_FAILED ((void *)-1)
void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int munmap(void *memory, size_t bytes);
int madvise(void *memory, size_t bytes, int advice);

// ---- processors (processors.c) ----

typedef struct cpu_set_t {
    uint64_t mask;  // those of this process's group, 64 at most
} cpu_set_t;
enum { CPU_SETSIZE = 64 };
#define CPU_ZERO(set)       ((set)->mask = 0)
#define CPU_SET(cpu, set)   ((set)->mask |= (uint64_t)1 << (cpu))
#define CPU_ISSET(cpu, set) ((set)->mask >> (cpu) & 1)
#define CPU_COUNT(set)      __builtin_popcountll((set)->mask)
BURIN_LINKAGE int sched_getaffinity(int process, size_t bytes, cpu_set_t *);

enum { _SC_PAGESIZE, _SC_NPROCESSORS_ONLN };
BURIN_LINKAGE long sysconf(int name);

// ---- signals (console.c) ----

void (*burin_windows_signal(int number, void (*handler)(int)))(int);  // processors that Windows has
#define signal(number, handler) burin_windows_signal(number, handler)
enum { SIGBUS = 7, SIGPIPE = 13, SIGXFSZ = 25, SA_RESTART = 0 };
struct sigaction {
    void (*sa_handler)(int);
    int sa_flags, sa_mask;
};
typedef _sigset_t sigset_t;
#define sigemptyset(set) ((void)(set))
#define sigfillset(set)  ((void)(set))
int sigaction(int number, const struct sigaction *,
              struct sigaction *old);  // of SIGINT, which Ctrl-C is

// ---- bytes (files.c), dates (dates.c) ----

void *memmem(const void *, size_t, const void *part, size_t);
void *memrchr(const void *, int byte, size_t);
size_t burin_windows_strftime(char *out, size_t room, const char *format, const struct tm *);
#define strftime(out, room, format, time) burin_windows_strftime(out, room, format, time)
#endif
