// burin inspect on a file or folder of weights: its metadata, its tensors as stored, and the bytes
// of each type.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/commands.h"
#include "frontend/checkpoint/gguf/gguf.h"

// A tensor as it is stored
typedef struct Stored {
    const char *name, *type;
    int rank;
    int64_t dim[MAX_RANK];
    uint64_t bytes;  // 0: unknown
} Stored;

typedef struct TypeTotal {
    const char *type;
    uint64_t tensors, values, bytes;
} TypeTotal;

enum { SHOWN = 4 };  // elements of an array

// ----------------------------------------------------------------------------------------- tensors
static uint64_t count_of(const Stored *t) {
    uint64_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= (uint64_t)t->dim[i];
    return n;
}

static void print_tensors(const Stored *t, uint64_t n) {
    printf("\n%-48s %-12s %14s  %s\n", "tensor", "type", "bytes", "shape");
    for (uint64_t i = 0; i < n; i++) {
        print_spelled("%-48s %-12s %14" PRIu64 "  [", t[i].name, t[i].type, t[i].bytes);
        for (int d = 0; d < t[i].rank; d++) printf("%s%" PRId64, d ? ", " : "", t[i].dim[d]);
        printf("]\n");
    }
}

static void print_total(const TypeTotal *t) {
    double bits = t->values ? 8.0 * (double)t->bytes / (double)t->values : 0;
    print_spelled("%-20s %8" PRIu64 " %16" PRIu64 " %16" PRIu64 " %12.4g\n", t->type, t->tensors,
                  t->values, t->bytes, bits);
}

static void add_to(TypeTotal *t, const Stored *s) {
    t->tensors++, t->values += count_of(s), t->bytes += s->bytes;
}

static void print_types(Arena *arena, const Stored *t, uint64_t n) {
    TypeTotal *types = ARENA_ARRAY(arena, TypeTotal, n + 1), all = {.type = "all"};
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = 0;
        while (at < found && strcmp(types[at].type, t[i].type)) at++;
        if (at == found) types[found++].type = t[i].type;
        add_to(&types[at], &t[i]), add_to(&all, &t[i]);
    }
    printf("\n%-20s %8s %16s %16s %12s\n", "type", "tensors", "values", "bytes", "bits each");
    for (uint64_t i = 0; i < found; i++) print_total(&types[i]);
    print_total(&all);
    printf("\n");
}

// -------------------------------------------------------------------------------------------- GGUF
static void print_gguf_tensors(Arena *arena, const Gguf *g) {
    Stored *all = ARENA_ARRAY(arena, Stored, g->n_tensors + 1);
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        const GgufTensor *t = &g->tensors[i];
        const char *type = gguf_type_name(t->type);
        all[i] = (Stored){
            t->name, type ? type : arena_printf(arena, "type %" PRIu32, t->type), t->rank, {0}, 0};
        for (int d = 0; d < t->rank; d++) all[i].dim[d] = (int64_t)t->dims[t->rank - 1 - d];
        all[i].bytes = gguf_type_bytes(t->type, count_of(&all[i]));
    }
    print_tensors(all, g->n_tensors);
    print_types(arena, all, g->n_tensors);
}

static void inspect_gguf(Arena *arena, const MappedFile *file) {
    const Gguf *g = gguf_open(arena, file);
    print_spelled("file     %s: GGUF, %d values of metadata, %" PRIu64 " tensors, %" PRIu64
                  " bytes\n\n",
                  file->source.name, g->values.n, g->n_tensors, file->size);
    for (int i = 0; i < g->values.n; i++) {
        const GgufValue *v = g->values.entries[i].value;
        print_spelled("%-48s %s\n", v->key, gguf_value_text(arena, v, SHOWN));
    }
    print_gguf_tensors(arena, g);
}

// ------------------------------------------------------------------------------------- checkpoints
static bool is_gguf(const MappedFile *f) { return f->size > 4 && !memcmp(f->data, "GGUF", 4); }

static void inspect_checkpoint(Checkpoint *c) {
    checkpoint_read_quantized(c);
    Stored *all = ARENA_ARRAY(c->arena, Stored, c->n_tensors + 1);
    for (int i = 0; i < c->n_tensors; i++) {
        const Tensor *t = c->tensors[i];
        all[i] = (Stored){.name = t->name, .rank = t->rank};
        all[i].type = checkpoint_stored_type(c, t, &all[i].bytes);
        memcpy(all[i].dim, t->dim, sizeof t->dim);
    }
    print_spelled("file     %s: %d tensors", c->path, c->n_tensors);
    if (c->quantized) print_spelled(", quantized (%s)", c->quantized);
    printf("\n");
    print_tensors(all, (uint64_t)c->n_tensors);
    print_types(c->arena, all, (uint64_t)c->n_tensors);
}

static const MappedFile *regular_file(Arena *arena, const char *path) {
    struct stat about;
    return stat(path, &about) || !S_ISREG(about.st_mode) || !about.st_size ? NULL
                                                                           : map_file(arena, path);
}

void inspect_weights(Build *b) {
    const MappedFile *f =
        regular_file(b->arena, b->options->weights ? b->options->weights : b->options->model);
    if (f && is_gguf(f)) {
        inspect_gguf(b->arena, f);
        return;
    }
    build_open_weights(b);
    if (b->checkpoint) inspect_checkpoint(b->checkpoint);
}
