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

// Sixteen reductions at once, lane e of each in lane[e]: the tree of vf_sum for all of them.
INLINE void fill_lanes(vf *lane, vf start) {
    UNROLL
    for (int i = 0; i < LANES; i++) lane[i] = start;
}
#define LANES_TREE(name, step)                                                \
    INLINE vf name(vf *lane) {                                                \
        UNROLL                                                                \
        for (int w = LANES / 2; w; w /= 2) {                                  \
            UNROLL                                                            \
            for (int i = 0; i < w; i++) lane[i] = step(lane[i], lane[i + w]); \
        }                                                                     \
        return lane[0];                                                       \
    }
LANES_TREE(vf_sum_of, vf_add)
LANES_TREE(vf_product_of, vf_mul)
LANES_TREE(vf_reduce_max_of, vf_max)
LANES_TREE(vf_reduce_min_of, vf_min)
#undef LANES_TREE

// Orders along an axis: larger (or smaller) first; NaN is larger than everything.
INLINE bool burin_before_real(double x, double y, bool largest) {
    if (x != x || y != y) return largest ? x != x && y == y : y != y && x == x;
    return largest ? x > y : x < y;
}
INLINE bool burin_before_integer(int64_t x, int64_t y, bool largest) {
    return largest ? x > y : x < y;
}
#endif
