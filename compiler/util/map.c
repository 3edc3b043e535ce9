#include "util/map.h"

#include <stdint.h>
#include <string.h>

#include "util/hash.h"

void map_init(Map *m, Arena *arena) { *m = (Map){.arena = arena}; }

static int *map_slot(const Map *m, const char *key) {
    uint64_t h = hash_bytes(key, strlen(key), 0);
    for (int i = (int)(h & (uint64_t)(m->n_slots - 1));; i = (i + 1) & (m->n_slots - 1))
        if (!m->slots[i] || !strcmp(m->entries[m->slots[i] - 1].key, key)) return &m->slots[i];
}

static void map_grow(Map *m) {
    int capacity = m->capacity ? 2 * m->capacity : 16;
    struct MapEntry *entries = ARENA_ARRAY(m->arena, struct MapEntry, capacity);
    if (m->n) memcpy(entries, m->entries, (size_t)m->n * sizeof *entries);
    m->entries = entries;
    m->capacity = capacity;
    m->n_slots = 2 * capacity;
    m->slots = ARENA_ARRAY(m->arena, int, m->n_slots);
    for (int i = 0; i < m->n; i++) *map_slot(m, entries[i].key) = i + 1;
}

void *map_get(const Map *m, const char *key) {
    if (!m->n) return NULL;
    int *slot = map_slot(m, key);
    return *slot ? m->entries[*slot - 1].value : NULL;
}

void map_put(Map *m, const char *key, void *value) {
    if (m->n == m->capacity) map_grow(m);
    int *slot = map_slot(m, key);
    if (!*slot) {
        m->entries[m->n].key = key;
        *slot = ++m->n;
    }
    m->entries[*slot - 1].value = value;
}
