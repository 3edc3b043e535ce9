// The container of torch.save: a ZIP archive whose entries are stored as they are,
// "archive/data.pkl" and "archive/data/0" and so on. Sizes and places come from the directory at
// its end; each is checked against the file, and against the entry's own header.
#include <inttypes.h>
#include <string.h>

#include "frontend/checkpoint/pytorch.h"

enum {
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    MOST_ENTRIES = 1 << 20
};

static uint64_t number(const unsigned char *at, int bytes) {
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) value = value << 8 | at[i];
    return value;
}

static const unsigned char *bytes_at(const MappedFile *f, uint64_t at, uint64_t n,
                                     const char *what) {
    Cursor c = {f, at < f->size ? at : f->size, what};
    return cursor_bytes(&c, n);
}

static bool has_signature(const unsigned char *at, uint32_t signature) {
    return number(at, 4) == signature;
}

// The last record of the file: at its end, but for a comment of at most 65535 bytes.
static uint64_t find_end(const MappedFile *f) {
    uint64_t furthest = f->size > END_BYTES + 0xFFFF ? f->size - END_BYTES - 0xFFFF : 0;
    for (uint64_t at = f->size < END_BYTES ? 0 : f->size - END_BYTES; f->size >= END_BYTES; at--) {
        if (has_signature(f->data + at, 0x06054b50)) return at;
        if (at == furthest) break;
    }
    file_fatal(f,
               "this ZIP archive has no directory at its end\nhint: a truncated download? Compare "
               "the size with the publisher's");
}

typedef struct Directory {
    uint64_t entries, at;
} Directory;

static Directory find_directory(const MappedFile *f) {
    uint64_t end = find_end(f);
    Directory d = {number(f->data + end + 10, 2), number(f->data + end + 16, 4)};
    if (d.entries != 0xFFFF && d.at != 0xFFFFFFFF) return d;
    const unsigned char *locator =
        end >= LOCATOR_BYTES ? f->data + end - LOCATOR_BYTES : f->data + end;
    if (!has_signature(locator, 0x07064b50)) return d;
    const unsigned char *wide =
        bytes_at(f, number(locator + 8, 8), END64_BYTES, "the archive's directory");
    if (!has_signature(wide, 0x06064b50))
        file_fatal(f, "this ZIP archive's directory is damaged\nhint: download it again");
    return (Directory){number(wide + 32, 8), number(wide + 48, 8)};
}

// Of large entries the sizes stand in the field number 1 of their own.
static void read_wide(const unsigned char *extra, uint64_t n, uint64_t *values[], int count) {
    while (n >= 4) {
        uint64_t kind = number(extra, 2), size = number(extra + 2, 2);
        if (size > n - 4) return;
        const unsigned char *at = extra + 4, *end = at + size;
        for (int i = 0; kind == 1 && i < count; i++)
            if (*values[i] == 0xFFFFFFFF && end - at >= 8) *values[i] = number(at, 8), at += 8;
        extra += 4 + size, n -= 4 + size;
    }
}

static void add_entry(Zip *z, const char *name, uint64_t local, uint64_t size) {
    const unsigned char *head = bytes_at(z->file, local, LOCAL_BYTES, "an entry's header");
    if (!has_signature(head, 0x04034b50))
        file_fatal(z->file,
                   "the entry \"%s\" is not at the offset that the directory gives\nhint: download "
                   "it again",
                   name);
    uint64_t data = local + LOCAL_BYTES + number(head + 26, 2) + number(head + 28, 2);
    ZipEntry *e = ARENA_NEW(z->arena, ZipEntry);
    *e = (ZipEntry){bytes_at(z->file, data, size, name), size};
    if (map_get(&z->entries, name)) file_fatal(z->file, "the entry \"%s\" is listed twice", name);
    map_put(&z->entries, name, e);
}

// "archive/data/0" -> "data/0"; the folder is called as the file once was.
static const char *inner_name(Arena *arena, const unsigned char *name, uint64_t n) {
    const unsigned char *slash = memchr(name, '/', n);
    uint64_t skip = slash ? (uint64_t)(slash - name) + 1 : 0;
    return arena_strndup(arena, (const char *)name + skip, n - skip);
}

Zip *zip_open(Arena *arena, const MappedFile *f) {
    Zip *z = ARENA_NEW(arena, Zip);
    *z = (Zip){.arena = arena, .file = f};
    map_init(&z->entries, arena);
    Directory d = find_directory(f);
    if (d.entries > MOST_ENTRIES)
        file_fatal(f,
                   "this ZIP archive lists %" PRIu64
                   " entries, at most %d are read\nhint: download it again",
                   d.entries, MOST_ENTRIES);
    uint64_t at = d.at;
    for (uint64_t i = 0; i < d.entries; i++) {
        const unsigned char *e = bytes_at(f, at, ENTRY_BYTES, "the archive's directory");
        if (!has_signature(e, 0x02014b50))
            file_fatal(f, "this ZIP archive's directory is damaged\nhint: download it again");
        uint64_t name = number(e + 28, 2), extra = number(e + 30, 2), comment = number(e + 32, 2);
        uint64_t size = number(e + 24, 4), packed = number(e + 20, 4), local = number(e + 42, 4);
        const unsigned char *rest =
            bytes_at(f, at + ENTRY_BYTES, name + extra + comment, "the archive's directory");
        read_wide(rest + name, extra, (uint64_t *[]){&size, &packed, &local}, 3);
        const char *called = inner_name(arena, rest, name);
        if (number(e + 10, 2) || packed != size || number(e + 8, 2) & 1)
            file_fatal(f,
                       "the entry \"%s\" is packed, which torch.save never does\nhint: take the "
                       "model's .safetensors",
                       called);
        add_entry(z, called, local, size);
        at += ENTRY_BYTES + name + extra + comment;
    }
    return z;
}

const ZipEntry *zip_find(const Zip *z, const char *name) { return map_get(&z->entries, name); }
