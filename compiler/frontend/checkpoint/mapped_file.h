// A file mapped read-only, and a cursor that never reads outside it.
#ifndef BURIN_MAPPED_FILE_H
#define BURIN_MAPPED_FILE_H
#include "util/arena.h"
#include "util/diag.h"

typedef struct MappedFile {
    Source source;  // name as given; text is NULL
    const unsigned char *data;
    uint64_t size;
} MappedFile;

// Unmapped when the arena is freed. Ends the run when it cannot be opened, or is empty or no
// regular file.
const MappedFile *map_file(Arena *, const char *path);

bool file_is_json(const MappedFile *);  // begins with a brace, perhaps after white space

_Noreturn void file_fatal(const MappedFile *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Reads little-endian values in turn. Past the end the run ends, naming `what` was being read.
typedef struct Cursor {
    const MappedFile *file;
    uint64_t at;
    const char *what;
} Cursor;

const unsigned char *cursor_bytes(Cursor *, uint64_t n);
uint64_t cursor_left(const Cursor *);
uint32_t cursor_u32(Cursor *);
uint64_t cursor_u64(Cursor *);
#endif
