#include "frontend/checkpoint/mapped_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mapping.h"
#include "util/text.h"

static void unmap(void *what) { mapping_remove(((const MappedFile *)what)->data); }

// What git leaves in a file's place where Git LFS is not installed.
static void check_pointer(const MappedFile *f) {
    static const char start[] = "version https://git-lfs.github.com/spec/";
    if (f->size >= sizeof start - 1 && !memcmp(f->data, start, sizeof start - 1))
        file_fatal(f,
                   "this is a pointer of Git LFS, not the file itself\nhint: git lfs install && "
                   "git lfs pull, in its folder");
}

const MappedFile *map_file(Arena *arena, const char *path) {
    MappedFile *f = ARENA_NEW(arena, MappedFile);
    f->data = mapping_open(path, &f->size);
    if (!f->size) diag_fatal(NO_LOC, "%s is empty\nhint: download it again", path);
    f->source = (Source){.name = arena_strdup(arena, path), .size = f->size};
    arena_at_free(arena, unmap, f);
    check_pointer(f);
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
