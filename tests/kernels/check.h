// The harness: random input, guard bands, comparison bit by bit with the reference, and one hash of
// everything computed.
//
// A suite prints one line, `NAME HASH CASES ok` or `NAME HASH CASES differs: CASE`. Hashes are
// equal on every target, since all sixteen-lane results are; kernels.sh compares them.
#ifndef KERNELS_CHECK_H
#define KERNELS_CHECK_H
#include <stdio.h>
#include <stdlib.h>

#include "engine/hash.h"
#include "kernels/kernels.h"
#include "kernels/plain.h"

typedef struct Suite {
    const char *name;
    uint64_t hash;
    int cases, failed;
    char first_failure[160];
} Suite;

Suite suite_begin(const char *name);
void suite_end(Suite *);
extern int suites_failed;

// Buffers between guard bands, filled with NaN; buffers_end frees all of them, and checks their
// guards.
float *buffer_floats(size_t n);
void *buffer_bytes(size_t n);
void buffers_end(Suite *, const char *label);

uint32_t random_bits(void);
float random_float(void);  // in [-1, 1)
float *random_floats(size_t n);

// One case: `got` equals `expected` bit by bit (NaN equals NaN), and goes into the hash.
void check_floats(Suite *, const char *label, const float *got, const float *expected, size_t n);
void check_true(Suite *, const char *label, bool);
void hash_floats(Suite *, const float *, size_t n);

void test_functions(void);
void test_conversions(void);
void test_accuracy(void);
void test_matmul(void);
void test_convolution(void);
void test_depthwise(void);
void test_quantize(void);
void test_rows(void);
void test_attention(void);
void test_mutation(void);
void bench(void);
#endif
