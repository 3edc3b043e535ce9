#include "frontend/checkpoint/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/mapping.h"
#include "util/text.h"

static void unmap(void *what) {
    const MappedFile *f = what;
    mapping_remove(f->data);
    munmap((void *)f->data, f->size);
}

static int open_regular(const char *path, uint64_t *size) {
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) < 0) diag_fatal(NO_LOC, "cannot open %s: %s", path, strerror(errno));
    if (S_ISREG(about.st_mode) && about.st_size > 0) {
        *size = (uint64_t)about.st_size;
        return fd;
    }
    close(fd);
    if (S_ISREG(about.st_mode)) diag_fatal(NO_LOC, "%s is empty\nhint: download it again", path);
    diag_fatal(NO_LOC, "%s is not a regular file", path);
}

const MappedFile *map_file(Arena *arena, const char *path) {
    MappedFile *f = ARENA_NEW(arena, MappedFile);
    int fd = open_regular(path, &f->size);
    void *data = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
    int error = errno;
    close(fd);
    if (data == MAP_FAILED) diag_fatal(NO_LOC, "cannot map %s: %s", path, strerror(error));
    f->data = data;
    mapping_add(f->data, f->size);
    f->source = (Source){.name = arena_strdup(arena, path), .size = f->size};
    arena_at_free(arena, unmap, f);
    return f;
}

bool file_is_json(const MappedFile *f) {
    uint64_t i = 0;
    while (i < f->size && memchr(" \t\r\n", f->data[i], 4)) i++;
    return i < f->size && f->data[i] == '{';
}

void file_fatal(const MappedFile *f, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Text text = {0};
    text_vspell(&text, format, args);
    va_end(args);
    diag_error(loc_file(&f->source), "%-s", text.data);
    text_free(&text);
    diag_stop();
}

uint64_t cursor_left(const Cursor *c) { return c->file->size - c->at; }

const unsigned char *cursor_bytes(Cursor *c, uint64_t n) {
    if (n > cursor_left(c))
        file_fatal(c->file,
                   "%s takes %" PRIu64 " bytes at byte %" PRIu64 ", but the file ends at %" PRIu64
                   "\nhint: a truncated download? Compare the size with the publisher's",
                   c->what, n, c->at, c->file->size);
    const unsigned char *p = c->file->data + c->at;
    c->at += n;
    return p;
}

uint32_t cursor_u32(Cursor *c) {
    uint32_t value;
    memcpy(&value, cursor_bytes(c, sizeof value), sizeof value);
    return value;
}

uint64_t cursor_u64(Cursor *c) {
    uint64_t value;
    memcpy(&value, cursor_bytes(c, sizeof value), sizeof value);
    return value;
}
