// The ids of texts: token_ids TOKENIZER FILE prints a line of ids for each line of FILE, in which
//  means a new line.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/tokenizer.h"
#include "runtime/tokenizer/tokenizer.h"
#include "util/text.h"

static size_t unescaped(char *line) {
    char *to = line;
    for (const char *c = line; *c; c++) {
        bool newline = c[0] == '\\' && c[1] == 'n';
        *to++ = newline ? '\n' : *c;
        c += newline;
    }
    return (size_t)(to - line);
}

static void print_ids(const Tokenizer *t, const char *text, size_t bytes) {
    burin_encoding e = {.text = text,
                        .bytes = bytes,
                        .special = true,
                        .whole = true,
                        .memory = malloc(burin_encode_memory(t->blob, bytes) + 1)};
    e.capacity = burin_encode(t->blob, &e);
    e.ids = malloc((e.capacity + 1) * sizeof *e.ids);
    burin_encode(t->blob, &e);
    for (size_t i = 0; i < e.capacity; i++) printf("%s%d", i ? " " : "", e.ids[i]);
    printf("\n");
    free(e.ids);
    free(e.memory);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: token_ids TOKENIZER FILE\n");
        return 2;
    }
    Arena *arena = arena_new();
    const Tokenizer *t = tokenizer_load(arena, argv[1], 0);
    char *text = read_text_file(argv[2], NULL);
    for (char *line = text, *next; *line; line = next) {
        size_t n = strcspn(line, "\n");
        next = line + n + (line[n] == '\n');
        line[n] = 0;
        print_ids(t, line, unescaped(line));
    }
    free(text);
    arena_free(arena);
    return 0;
}
