#include "driver/recording.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npy.h"
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
    Tensor t = {.name = name, .rank = a->rank, .data = a->data, .bytes = a->count * (size_t)a->element->bytes};
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

// ------------------------------------------------------------------------------------------------------------------ zip files
// Of the directory at the end of a zip file: where it begins, and how many members it lists.
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

// The next entry of the directory: where its data is, and its name.
static uint64_t zip_next(Zip *z, Arena *arena, const char **name) {
    if (z->size - z->at < MEMBER_BYTES || memcmp(z->data + z->at, "PK\1\2", 4)) no_npz(z, "its directory is damaged");
    const unsigned char *m = z->data + z->at;
    uint64_t length = number_at(m + 28, 2), local = number_at(m + 42, 4);
    uint64_t entry = MEMBER_BYTES + length + number_at(m + 30, 2) + number_at(m + 32, 2);
    if (entry > z->size - z->at || local > z->size - LOCAL_BYTES) no_npz(z, "its directory is damaged");
    if (number_at(m + 10, 2))
        diag_fatal(NO_LOC, "%s is compressed\nhint: numpy.savez writes what can be read here, numpy.savez_compressed does not",
                   z->path);
    *name = arena_strndup(arena, (const char *)m + MEMBER_BYTES, length);
    z->at += entry;
    return local + LOCAL_BYTES + number_at(z->data + local + 26, 2) + number_at(z->data + local + 28, 2);
}

static bool strip_suffix(char *name) {
    if (!text_ends_with(name, ".npy")) return false;
    name[strlen(name) - 4] = 0;
    return true;
}

static void read_zip(Recording *r, const char *path) {
    Zip z = zip_open(path);
    uint64_t size;
    int file = open_input(path, &size);
    for (int i = 0; i < z.members; i++) {
        const char *name;
        uint64_t at = zip_next(&z, r->arena, &name);
        burin_array a = {0};
        if (!strip_suffix((char *)(uintptr_t)name) || lseek(file, (off_t)at, SEEK_SET) < 0) continue;
        const char *problem = burin_npy_read_from(&a, file);
        if (problem) diag_fatal(NO_LOC, "%s: %s %-s", path, name, problem);
        add_array(r, name, &a);
    }
    close(file);
}

// -------------------------------------------------------------------------------------------------------------------- folders
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
