// Results have one NaN, 0x7fc00000 and its like: CPUs differ in the sign of the NaN that they make,
// and in the payload that they keep of two.
#ifndef BURIN_ONE_NAN_H
#define BURIN_ONE_NAN_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t __attribute__((may_alias)) burin_bits_16;
typedef uint32_t __attribute__((may_alias)) burin_bits_32;
typedef uint64_t __attribute__((may_alias)) burin_bits_64;

static inline void burin_one_nan_16(burin_bits_16 *v, size_t n, uint16_t infinity, uint16_t nan) {
    for (size_t i = 0; i < n; i++) v[i] = (v[i] & 0x7fff) > infinity ? nan : v[i];
}

static inline void burin_one_nan_32(burin_bits_32 *v, size_t n) {
    for (size_t i = 0; i < n; i++) v[i] = (v[i] & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : v[i];
}

static inline void burin_one_nan_64(burin_bits_64 *v, size_t n) {
    for (size_t i = 0; i < n; i++)
        v[i] = v[i] << 1 > 0xffe0000000000000u ? 0x7ff8000000000000u : v[i];
}

// Values of an element type by its name; of others nothing changes.
static inline void burin_one_nan(const char *type, void *values, size_t n) {
    if (!strcmp(type, "f32")) burin_one_nan_32(values, n);
    if (!strcmp(type, "f64")) burin_one_nan_64(values, n);
    if (!strcmp(type, "f16")) burin_one_nan_16(values, n, 0x7c00, 0x7e00);
    if (!strcmp(type, "bf16")) burin_one_nan_16(values, n, 0x7f80, 0x7fc0);
}
#endif
