// What generated loop nests need beyond the vector: casts to narrow integers, and orders.
#ifndef BURIN_NEST_H
#define BURIN_NEST_H
#include "data_dependent.h"
#include "norm.h"
#include "plain.h"
#include "random.h"

// Float to a narrow integer: the nearest end beyond the range.
INLINE vi vi_clamp(vi a, int32_t low, int32_t high) {
    return vi_min(vi_max(a, vi_set1(low)), vi_set1(high));
}

// Orders along an axis: larger (or smaller) first; NaN is larger than everything.
INLINE bool burin_before_real(double x, double y, bool largest) {
    if (x != x || y != y) return largest ? x != x && y == y : y != y && x == x;
    return largest ? x > y : x < y;
}
INLINE bool burin_before_integer(int64_t x, int64_t y, bool largest) {
    return largest ? x > y : x < y;
}
#endif
