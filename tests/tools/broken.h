// What broken checkpoints and broken tokenizers are written with.
#ifndef BURIN_TEST_BROKEN_H
#define BURIN_TEST_BROKEN_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/checkpoint.h"
#include "frontend/tokenizer.h"
#include "runtime/tokenizer/tokenizer_characters.h"
#include "tests/tools/bytes.h"
#include "tests/tools/charsmap.h"
#include "util/text.h"

typedef struct BrokenCase {
    const char *name;
    void (*run)(void);
} BrokenCase;
#define CASE(f) {#f, f}

// Single quotes become double ones, so that JSON stays readable here.
static void json(const char *text) {
    for (; *text; text++) text_append(&out, *text == '\'' ? "\"" : text, 1);
}

static void write_out(const char *path) {
    write_file(path, out.data ? out.data : "", out.length);
    text_free(&out);
}

static Arena *arena;
static void open_checkpoint(const char *path) {
    Checkpoint *c = checkpoint_open(arena, path, getenv("LIBRARY"));
    checkpoint_special_tokens(c);
    checkpoint_read_quantized(c);
    for (int i = 0; i < c->n_tensors; i++) checkpoint_find(c, c->tensors[i]->name);
}
#endif
