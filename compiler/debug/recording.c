#include "debug/recording.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "program/npy.h"
#include "program/output.h"
#include "util/files.h"
#include "util/mapping.h"

const Tensor *recording_find(const Recording *r, const char *name) {
    for (int i = 0; r && i < r->n; i++)
        if (!strcmp(r->values[i].name, name)) return &r->values[i];
    return NULL;
}

void recording_add(Recording *r, const Tensor *t) {
    Tensor *there = (Tensor *)(uintptr_t)recording_find(r, t->name);
    if (there) {
        *there = *t;
        return;
    }
    Tensor *values = ARENA_ARRAY(r->arena, Tensor, r->n + 1);
    if (r->n) memcpy(values, r->values, (size_t)r->n * sizeof *values);
    r->values = values;
    r->values[r->n++] = *t;
}

static void add_array(Recording *r, const char *name, const burin_array *a) {
    Tensor t = {.name = name,
                .rank = a->rank,
                .data = a->data,
                .bytes = a->count * (size_t)a->element->bytes};
    for (int i = 0; i < a->rank; i++) t.dim[i] = a->dim[i];
    dtype_parse(a->element->name, &t.dtype);
    arena_at_free(r->arena, free, a->data);
    recording_add(r, &t);
}

void recording_add_file(Recording *r, const char *name, const char *path) {
    burin_array a;
    const char *problem = burin_npy_read(&a, path);
    if (problem) diag_fatal(NO_LOC, "%s %-s", path, problem);
    add_array(r, name, &a);
}

// --------------------------------------------------------------------------------------- zip files
// For the directory at the end of a zip file: its offset, and its number of members.
typedef struct Zip {
    const char *path;
    const unsigned char *data;
    uint64_t size, at;
    int members;
} Zip;

enum { END_BYTES = 22, MEMBER_BYTES = 46, LOCAL_BYTES = 30 };

static uint64_t number_at(const unsigned char *p, int bytes) {
    uint64_t v = 0;
    for (int i = bytes; i-- > 0;) v = v << 8 | p[i];
    return v;
}

_Noreturn static void no_npz(const Zip *z, const char *what) {
    diag_fatal(NO_LOC, "%s is no .npz file that can be read: %s", z->path, what);
}

static Zip zip_open(const char *path) {
    Zip z = {.path = path};
    z.data = (const unsigned char *)mapping_open(path, &z.size);
    for (uint64_t back = END_BYTES; back <= z.size && back < END_BYTES + 65536; back++) {
        const unsigned char *end = z.data + z.size - back;
        if (memcmp(end, "PK\5\6", 4)) continue;
        z.members = (int)number_at(end + 10, 2);
        z.at = number_at(end + 16, 4);
        if (z.at <= z.size - back) return z;
    }
    no_npz(&z, "it has no directory of a zip file");
}

// An entry of the directory.
typedef struct Member {
    char *name;
    uint64_t at, bytes;  // of its data in the file
    bool deflated;
    uint32_t sum;  // CRC-32 of its contents
} Member;

static Member zip_next(Zip *z, Arena *arena) {
    if (z->size - z->at < MEMBER_BYTES || memcmp(z->data + z->at, "PK\1\2", 4))
        no_npz(z, "its directory is damaged");
    const unsigned char *m = z->data + z->at;
    uint64_t length = number_at(m + 28, 2), local = number_at(m + 42, 4);
    uint64_t entry = MEMBER_BYTES + length + number_at(m + 30, 2) + number_at(m + 32, 2);
    if (entry > z->size - z->at || local > z->size - LOCAL_BYTES)
        no_npz(z, "its directory is damaged");
    uint64_t at = local + LOCAL_BYTES + number_at(z->data + local + 26, 2) +
                  number_at(z->data + local + 28, 2);
    unsigned method = (unsigned)number_at(m + 10, 2);
    if (method && method != Z_DEFLATED)
        diag_fatal(NO_LOC,
                   "%s is compressed by method %u of zip files\nhint: numpy.savez and "
                   "numpy.savez_compressed write what can be "
                   "read here",
                   z->path, method);
    Member e = {.at = at,
                .bytes = number_at(m + 20, 4),
                .deflated = method,
                .sum = (uint32_t)number_at(m + 16, 4)};
    if (at > z->size || (method && e.bytes > z->size - at)) no_npz(z, "its directory is damaged");
    e.name = arena_strndup(arena, (const char *)m + MEMBER_BYTES, length);
    z->at += entry;
    return e;
}

// Extracts the member into a file; false if its checksum differs.
static bool inflate_into(int file, const Zip *z, const Member *e) {
    unsigned char part[1 << 16];
    z_stream s = {.next_in = (unsigned char *)(uintptr_t)(z->data + e->at)};
    uint64_t left = e->bytes;
    uLong sum = crc32(0, NULL, 0);
    int status = inflateInit2(&s, -MAX_WBITS);
    for (bool written = true; status == Z_OK && written;) {
        if (!s.avail_in) s.avail_in = left > 1 << 30 ? 1 << 30 : (uInt)left, left -= s.avail_in;
        s.next_out = part, s.avail_out = sizeof part;
        status = inflate(&s, Z_NO_FLUSH);
        size_t n = sizeof part - s.avail_out;
        sum = crc32(sum, part, (uInt)n);
        written = burin_write_all(file, part, n);
    }
    inflateEnd(&s);
    return status == Z_STREAM_END && sum == e->sum && !lseek(file, 0, SEEK_SET);
}

// A file positioned at the member's contents.
static int open_member(const Zip *z, const Member *e) {
    uint64_t size;
    int file = e->deflated ? memfd_create("member", MFD_CLOEXEC) : open_input(z->path, &size);
    if (file < 0) no_npz(z, "there is no room to unpack it");
    if (!e->deflated && lseek(file, (off_t)e->at, SEEK_SET) < 0)
        no_npz(z, "its directory is damaged");
    if (e->deflated && !inflate_into(file, z, e)) no_npz(z, "what is compressed in it is damaged");
    return file;
}

static bool strip_suffix(char *name) {
    if (!text_ends_with(name, ".npy")) return false;
    name[strlen(name) - 4] = 0;
    return true;
}

static void read_zip(Recording *r, const char *path) {
    Zip z = zip_open(path);
    for (int i = 0; i < z.members; i++) {
        Member e = zip_next(&z, r->arena);
        burin_array a = {0};
        if (!strip_suffix(e.name)) continue;
        int file = open_member(&z, &e);
        const char *problem = burin_npy_read_from(&a, file);
        if (problem) diag_fatal(NO_LOC, "%s: %s %-s", path, e.name, problem);
        close(file);
        add_array(r, e.name, &a);
    }
}

// ----------------------------------------------------------------------------------------- folders
static int is_npy(const struct dirent *e) { return text_ends_with(e->d_name, ".npy"); }

static void read_folder(Recording *r, const char *path) {
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, is_npy, alphasort);
    if (n < 0) diag_fatal(NO_LOC, "cannot read %s: %s", path, strerror(errno));
    for (int i = 0; i < n; i++) {
        char *name = arena_strdup(r->arena, entries[i]->d_name);
        strip_suffix(name);
        recording_add_file(r, name, arena_printf(r->arena, "%s/%s", path, entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
}

Recording *recording_read(Arena *arena, const char *path) {
    Recording *r = ARENA_NEW(arena, Recording);
    *r = (Recording){.arena = arena, .path = path};
    struct stat s;
    if (stat(path, &s)) diag_fatal(NO_LOC, "there is no %s", path);
    const char *slash = strrchr(path, '/');
    char *name = arena_strdup(arena, slash ? slash + 1 : path);
    if (S_ISDIR(s.st_mode))
        read_folder(r, path);
    else if (strip_suffix(name))
        recording_add_file(r, name, path);
    else
        read_zip(r, path);
    if (!r->n) diag_fatal(NO_LOC, "%s has no .npy file: nothing is recorded", path);
    return r;
}
