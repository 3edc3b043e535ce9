#include "check.h"

#include <stdarg.h>

int suites_failed;

enum { GUARD = 64, MAX_BUFFERS = 64 };
static const unsigned char guard_byte = 0xa5;
static struct {
    unsigned char *memory;
    size_t bytes;
} buffers[MAX_BUFFERS];
static int n_buffers;
static uint32_t seed;

Suite suite_begin(const char *name) {
    seed = 1;
    return (Suite){.name = name, .hash = burin_hash_start};
}

static void fail(Suite *s, const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (!s->failed++) vsnprintf(s->first_failure, sizeof s->first_failure, format, list);
    va_end(list);
}

void suite_end(Suite *s) {
    printf("%s %016llx %d %s%s\n", s->name, (unsigned long long)s->hash, s->cases,
           s->failed ? "differs: " : "ok", s->first_failure);
    fflush(stdout);
    suites_failed += s->failed != 0;
}

void *buffer_bytes(size_t n) {
    unsigned char *memory = malloc(n + 2 * GUARD);
    if (!memory || n_buffers == MAX_BUFFERS) exit(2);
    memset(memory, guard_byte, n + 2 * GUARD);
    buffers[n_buffers].memory = memory;
    buffers[n_buffers++].bytes = n;
    return memory + GUARD;
}

float *buffer_floats(size_t n) {
    float *p = buffer_bytes(n * sizeof *p);
    for (size_t i = 0; i < n; i++) p[i] = NAN;
    return p;
}

static bool guards_whole(const unsigned char *memory, size_t bytes) {
    for (size_t i = 0; i < GUARD; i++)
        if (memory[i] != guard_byte || memory[GUARD + bytes + i] != guard_byte) return false;
    return true;
}

void buffers_end(Suite *s, const char *label) {
    for (int i = 0; i < n_buffers; i++) {
        if (!guards_whole(buffers[i].memory, buffers[i].bytes))
            fail(s, "%s: writes outside its buffer", label);
        free(buffers[i].memory);
    }
    n_buffers = 0;
}

uint32_t random_bits(void) {
    seed = seed * 1664525 + 1013904223;
    return seed ^ seed >> 15;
}

float random_float(void) { return (float)(int32_t)random_bits() * 0x1p-31f; }

float *random_floats(size_t n) {
    float *p = buffer_floats(n);
    for (size_t i = 0; i < n; i++) p[i] = random_float();
    return p;
}

void hash_floats(Suite *s, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float one = x[i] != x[i] ? NAN : x[i];
        uint32_t bits = one != one ? 0x7fc00000 : (uint32_t)si_bits(one);
        s->hash = burin_hash_bytes(s->hash, &bits, sizeof bits);
    }
}

void check_floats(Suite *s, const char *label, const float *got, const float *expected, size_t n) {
    s->cases++;
    hash_floats(s, got, n);
    for (size_t i = 0; i < n; i++) {
        if (si_bits(got[i]) == si_bits(expected[i]) ||
            (got[i] != got[i] && expected[i] != expected[i]))
            continue;
        fail(s, "%s: element %zu is %a, expected %a", label, i, (double)got[i],
             (double)expected[i]);
        return;
    }
}

void check_true(Suite *s, const char *label, bool truth) {
    s->cases++;
    if (!truth) fail(s, "%s", label);
}
