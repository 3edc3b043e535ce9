// A GGUF in several files, as gguf-split writes them: NAME-00001-of-00003.gguf has the metadata,
// each file its share of the tensors and its number in split.no (from 0), and all have split.count.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/checkpoint/gguf/gguf.h"
#include "util/text.h"

enum { MAX_PARTS = 9999, PART_END = sizeof "-00001-of-00003.gguf" - 1 };

// The number of a part by its file's name, from 1; 0 of other names.
static unsigned part_number(const char *name, unsigned *count) {
    size_t length = strlen(name);
    if (length < PART_END) return 0;
    const char *end = name + length - PART_END, *form = "-00000-of-00000.gguf";
    for (size_t i = 0; i < PART_END; i++)
        if (form[i] == '0' ? end[i] < '0' || end[i] > '9' : end[i] != form[i]) return 0;
    *count = (unsigned)strtoul(end + 10, NULL, 10);
    return (unsigned)strtoul(end + 1, NULL, 10);
}

bool gguf_is_later_part(const char *name) {
    unsigned count;
    return part_number(name, &count) > 1;
}

static const char *path_of_part(Arena *arena, const char *first, unsigned number, unsigned count) {
    return arena_printf(arena, "%.*s-%05u-of-%05u.gguf", (int)(strlen(first) - PART_END), first,
                        number, count);
}

static void check_part(const Gguf *part, int64_t number, int64_t count) {
    int64_t stated = -1, of = -1;
    gguf_int(part, "split.no", &stated);
    gguf_int(part, "split.count", &of);
    if (stated == number && of == count) return;
    file_fatal(part->file,
               "this is part %" PRId64 " of %" PRId64 ", expected part %" PRId64 " of %" PRId64
               "\nhint: all parts must come from one split, with the names that it gave them",
               stated + 1, of, number + 1, count);
}

static void append_tensors(Gguf *to, const Gguf *part, uint64_t *capacity) {
    uint64_t n = to->n_tensors + part->n_tensors;
    if (n > *capacity) {
        *capacity = 2 * n;
        GgufTensor *all = ARENA_ARRAY(to->arena, GgufTensor, *capacity);
        memcpy(all, to->tensors, to->n_tensors * sizeof *all);
        to->tensors = all;
    }
    for (uint64_t i = 0; i < part->n_tensors; i++) gguf_index(to, &part->tensors[i]);
    memcpy(to->tensors + to->n_tensors, part->tensors, part->n_tensors * sizeof *part->tensors);
    to->n_tensors = n;
}

static void check_count(const Gguf *g) {
    int64_t expected;
    if (!gguf_int(g, "split.tensors.count", &expected) || (uint64_t)expected == g->n_tensors)
        return;
    file_fatal(g->file,
               "the parts hold %" PRIu64 " tensors, split.tensors.count says %" PRId64
               "\nhint: a part is damaged, or of another split",
               g->n_tensors, expected);
}

Gguf *gguf_open(Arena *arena, const MappedFile *file) {
    Gguf *g = gguf_parse(arena, file);
    int64_t count = 1;
    unsigned named = 0;
    if (!gguf_int(g, "split.count", &count) || count == 1) return g;
    if (count < 1 || count > MAX_PARTS)
        file_fatal(file, "split.count is %" PRId64 ", expected 1 to %d", count, MAX_PARTS);
    if (part_number(file->source.name, &named) != 1 || named != count)
        file_fatal(file,
                   "this file is part of a model in %" PRId64
                   " files: name the first, ...-00001-of-%05" PRId64 ".gguf",
                   count, count);
    check_part(g, 0, count);
    uint64_t capacity = g->n_tensors;
    for (int64_t i = 1; i < count; i++) {
        const char *path = path_of_part(arena, file->source.name, (unsigned)i + 1, (unsigned)count);
        if (access(path, F_OK))
            file_fatal(file,
                       "part %" PRId64 " of %" PRId64
                       " is missing\nhint: all parts must lie beside the first, with their names",
                       i + 1, count);
        const MappedFile *f = map_file(arena, path);
        if (f->size < 4 || memcmp(f->data, "GGUF", 4))
            file_fatal(f, "this is no GGUF file, expected part %" PRId64 " of %" PRId64, i + 1,
                       count);
        const Gguf *part = gguf_parse(arena, f);
        check_part(part, i, count);
        append_tensors(g, part, &capacity);
    }
    check_count(g);
    return g;
}
