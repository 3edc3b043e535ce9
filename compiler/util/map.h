// A hash map from strings to pointers; keys are not copied. Iteration is in insertion order, so
// output stays deterministic.
#ifndef BURIN_MAP_H
#define BURIN_MAP_H
#include "util/arena.h"

typedef struct Map {
    Arena *arena;
    struct MapEntry {
        const char *key;
        void *value;
    } *entries;
    int n, capacity;
    int *slots;  // index + 1 into entries, 0 when empty
    int n_slots;
} Map;

void map_init(Map *, Arena *);
void *map_get(const Map *, const char *key);        // NULL when absent
void map_put(Map *, const char *key, void *value);  // replaces
#endif
