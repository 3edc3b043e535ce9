// The comparisons of burin diff: graphs by structure, weights by tensor, emitted C by function.
// Each prints the differences and their number.
#ifndef BURIN_DEBUG_DIFF_H
#define BURIN_DEBUG_DIFF_H
#include "cli/options.h"
#include "ir.h"

typedef struct Sides {
    Arena *arena;
    const char *a, *b;  // their names
    bool all;           // every difference, instead of the first few
} Sides;

int diff(Arena *, const Options *);  // burin diff: the exit status
int diff_graphs(const Sides *, const Module *, const Module *);
int diff_weights(const Sides *, const Module *, const Module *);
int diff_code(const Sides *, const char *folder_a, const char *folder_b);
bool is_code_folder(Arena *, const char *path);  // of C that burin wrote
#endif
