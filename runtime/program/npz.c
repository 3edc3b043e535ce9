// .npz: the directory at the end of a zip file lists its members; members here are stored as they
// are. Compressed ones are refused.
#include "program/npz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/input.h"
#include "program/output.h"

enum {
    ZIP_END_BYTES = 22,
    ZIP_MEMBER_BYTES = 46,
    ZIP_LOCAL_BYTES = 30,
    ZIP_MOST_DIRECTORY = 1 << 20
};

// ---- reading ----

static uint32_t zip_number(const unsigned char *p, int bytes) {
    uint32_t v = 0;
    for (int i = bytes; i-- > 0;) v = v << 8 | p[i];
    return v;
}

static bool read_at(int file, void *data, size_t bytes, int64_t offset) {
    return lseek(file, (off_t)offset, SEEK_SET) >= 0 && read(file, data, bytes) == (ssize_t)bytes;
}

// Of the record at the end: the directory's offset and size, the number of members.
typedef struct zip_end {
    int64_t offset, bytes;
    int members;
} zip_end;

static bool find_zip_end(int file, int64_t size, zip_end *end) {
    enum { MOST = ZIP_END_BYTES + 65535 };  // the record, and a comment after it
    size_t bytes = size < MOST ? (size_t)size : MOST;
    unsigned char *tail = malloc(bytes + 1);
    bool found = false;
    if (tail && read_at(file, tail, bytes, size - (int64_t)bytes))
        for (size_t back = ZIP_END_BYTES; back <= bytes && !found; back++) {
            const unsigned char *p = tail + bytes - back;
            if (memcmp(p, "PK\5\6", 4)) continue;
            *end =
                (zip_end){zip_number(p + 16, 4), zip_number(p + 12, 4), (int)zip_number(p + 10, 2)};
            found = end->offset + end->bytes <= size - (int64_t)back;
        }
    free(tail);
    return found;
}

// One entry of the directory, of at most `bytes`; its length, or 0 with *why.
static size_t list_member(int file, const unsigned char *entry, size_t bytes,
                          burin_npz_member *member, void *context, const char **why) {
    unsigned char local[ZIP_LOCAL_BYTES];
    char name[256];
    *why = "its directory is damaged";
    if (bytes < ZIP_MEMBER_BYTES || memcmp(entry, "PK\1\2", 4)) return 0;
    size_t length = zip_number(entry + 28, 2),
           all = ZIP_MEMBER_BYTES + length + zip_number(entry + 30, 2) + zip_number(entry + 32, 2);
    int64_t offset = zip_number(entry + 42, 4);
    if (all > bytes || length >= sizeof name || !read_at(file, local, sizeof local, offset))
        return 0;
    memcpy(name, entry + ZIP_MEMBER_BYTES, length);
    name[length] = 0;
    *why = "it is compressed";
    if (zip_number(entry + 10, 2)) return 0;
    *why = NULL;
    if (strlen(name) != length || !burin_ends_with(name, ".npy")) return all;
    name[length - 4] = 0;
    member(context, name,
           offset + ZIP_LOCAL_BYTES + zip_number(local + 26, 2) + zip_number(local + 28, 2));
    return all;
}

static const char *list_members(int file, const zip_end *end, burin_npz_member *member,
                                void *context) {
    const char *why = "its directory is damaged";
    unsigned char *directory =
        end->bytes <= ZIP_MOST_DIRECTORY ? malloc((size_t)end->bytes + 1) : NULL;
    size_t at = 0, bytes = (size_t)end->bytes;
    if (directory && read_at(file, directory, bytes, end->offset)) {
        why = NULL;
        for (int i = 0; i < end->members && !why; i++)
            at += list_member(file, directory + at, bytes - at, member, context, &why);
    }
    free(directory);
    return why;
}

const char *burin_npz_list(const char *path, burin_npz_member *member, void *context) {
    const char *why;
    zip_end end = {0};
    int file = burin_open_file(path, &why);
    if (file < 0) return why;
    int64_t size = lseek(file, 0, SEEK_END);
    if (size < 0)
        why = "a pipe cannot be rewound";
    else if (!find_zip_end(file, size, &end))
        why = "it has no directory of a zip file";
    else
        why = list_members(file, &end, member, context);
    close(file);
    return why;
}

// ---- writing ----

uint32_t burin_add_to_crc(uint32_t crc, const unsigned char *data, size_t n) {
    for (size_t i = 0; i < n; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return crc;
}

// The checksum of the bytes from `offset` to the end of a file that was just written.
static bool sum_of_file(const char *path, int64_t offset, uint32_t *crc) {
    const char *why;
    unsigned char part[4096];
    int file = burin_open_file(path, &why);
    ssize_t n = file < 0 || lseek(file, (off_t)offset, SEEK_SET) < 0 ? -1 : 1;
    *crc = ~0u;
    while (n > 0 && (n = read(file, part, sizeof part)) > 0)
        *crc = burin_add_to_crc(*crc, part, (size_t)n);
    *crc = ~*crc;
    if (file >= 0) close(file);
    return n == 0;
}

typedef struct zip_member {
    int64_t offset, bytes;
    uint32_t crc;
} zip_member;

static unsigned char *put_number(unsigned char *p, int64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) *p++ = (unsigned char)(value >> 8 * i & 255);
    return p;
}

// What the local header and the directory's entry have in common: version 2.0, stored, 1980-01-01.
static unsigned char *put_member(unsigned char *p, const zip_member *m, size_t name) {
    p = put_number(p, 20, 2);
    p = put_number(p, 0, 2 + 2);
    p = put_number(p, 0x00210000, 4);
    p = put_number(p, m->crc, 4);
    p = put_number(p, m->bytes, 4);
    p = put_number(p, m->bytes, 4);
    p = put_number(p, (int64_t)name + 4, 2);
    return put_number(p, 0, 2);
}

static bool write_local(int file, const zip_member *m, const char *name) {
    unsigned char local[ZIP_LOCAL_BYTES] = "PK\3\4";
    put_member(local + 4, m, strlen(name));
    return lseek(file, (off_t)m->offset, SEEK_SET) >= 0 &&
           burin_write_all(file, local, sizeof local) &&
           burin_write_all(file, name, strlen(name)) && burin_write_all(file, ".npy", 4);
}

// The header is written again when the checksum is known.
static bool write_member(int file, const char *path, const burin_named_array *a, zip_member *m) {
    *m = (zip_member){.offset = lseek(file, 0, SEEK_END)};
    if (m->offset < 0 || !write_local(file, m, a->name)) return false;
    int64_t start = lseek(file, 0, SEEK_CUR);
    if (!burin_npy_put(a->array, file)) return false;
    m->bytes = lseek(file, 0, SEEK_CUR) - start;
    errno = EFBIG;
    return m->offset + m->bytes <= UINT32_MAX && sum_of_file(path, start, &m->crc) &&
           write_local(file, m, a->name);
}

static bool write_directory(int file, const burin_named_array *arrays, const zip_member *members,
                            int n) {
    int64_t start = lseek(file, 0, SEEK_END);
    unsigned char entry[ZIP_MEMBER_BYTES], end[ZIP_END_BYTES] = "PK\5\6", *p = end + 4;
    for (int i = 0; i < n; i++) {
        memset(entry, 0, sizeof entry);
        memcpy(entry, "PK\1\2\24", 6);
        put_member(entry + 6, &members[i], strlen(arrays[i].name));
        put_number(entry + 42, members[i].offset, 4);
        if (!burin_write_all(file, entry, sizeof entry) ||
            !burin_write_all(file, arrays[i].name, strlen(arrays[i].name)) ||
            !burin_write_all(file, ".npy", 4))
            return false;
    }
    p = put_number(p, 0, 4);
    p = put_number(p, n, 2);
    p = put_number(p, n, 2);
    p = put_number(p, lseek(file, 0, SEEK_CUR) - start, 4);
    put_number(p, start, 4);
    return start >= 0 && burin_write_all(file, end, sizeof end);
}

const char *burin_npz_write(const burin_named_array *arrays, int n, const char *path) {
    const char *why;
    int file = burin_create_file(path, &why);
    if (file < 0) return why;
    zip_member *members = calloc((size_t)n + 1, sizeof *members);
    bool written = members != NULL;
    for (int i = 0; i < n && written; i++)
        written = write_member(file, path, &arrays[i], &members[i]);
    written = written && write_directory(file, arrays, members, n);
    int error = errno;
    free(members);
    if (close(file) && written) written = false, error = errno;
    if (written) return NULL;
    unlink(path);
    return strerror(error);
}
