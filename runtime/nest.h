// What generated loop nests need beyond the vector: elements that are not adjacent, casts, integers as C divides them.
#ifndef BURIN_NEST_H
#define BURIN_NEST_H
#include "norm.h"
#include "plain.h"

// The first n of sixteen elements `stride` apart, in memory order: strided(float, p, stride, n) is a pointer to them.
#define STRIDED(vector, name, load, element)                           \
    INLINE vector name(const element *p, ptrdiff_t stride, int n) {    \
        element t[LANES] = {0};                                        \
        for (int i = 0; i < LANES && i < n; i++) t[i] = p[i * stride]; \
        return load(t);                                                \
    }
STRIDED(vf, vf_load_f16_strided, vf_load_f16, uint16_t)
STRIDED(vf, vf_load_bf16_strided, vf_load_bf16, uint16_t)
STRIDED(vi, vi_load_strided, vi_load, int32_t)
STRIDED(vi, vi_load_u8_strided, vi_load_u8, uint8_t)
STRIDED(vi, vi_load_i8_strided, vi_load_i8, int8_t)
STRIDED(vi, vi_load_u16_strided, vi_load_u16, uint16_t)
STRIDED(vm, vm_load_strided, vm_load, uint8_t)
STRIDED(vf, vf_load_i64_strided, vf_load_i64, int64_t)
STRIDED(vi, vi_load_i64_strided, vi_load_i64, int64_t)
#undef STRIDED

// Float to a narrow integer: the nearest end beyond the range.
INLINE vi vi_clamp(vi a, int32_t low, int32_t high) { return vi_min(vi_max(a, vi_set1(low)), vi_set1(high)); }

// Orders along an axis: larger (or smaller) first; NaN is larger than everything.
INLINE bool burin_before_real(double x, double y, bool largest) {
    if (x != x || y != y) return largest ? x != x && y == y : y != y && x == x;
    return largest ? x > y : x < y;
}
INLINE bool burin_before_integer(int64_t x, int64_t y, bool largest) { return largest ? x > y : x < y; }
#endif
