// Sixteen lanes as an array: plain C11, for any compiler and any CPU. Every lane is its function of
// scalar.h.
#if defined(__ARM_FEATURE_SIMD32)
#include <arm_acle.h>
#endif

#define VEC_IS_ARRAY 1

typedef struct {
    float v[16];
} vf;
typedef struct {
    int32_t v[16];
} vi;
typedef struct {
    bool v[16];
} vm;
// Tiles (see README.md): rows x panels of accumulators.
enum {
    GEMV_PANELS = 2,
    TILE_ROWS = 1,
    TILE_PANELS = 1,
    TILE_STEPS = 1,
    INT_ROWS = 1,
    INT_PANELS = 1
};
#define INT_UNROLL NO_UNROLL  // of the eight steps of an integer block

#define LANEWISE(result, expression)                  \
    result r;                                         \
    for (int i = 0; i < 16; i++) r.v[i] = expression; \
    return r

INLINE vf vf_set1(float x) { LANEWISE(vf, x); }
INLINE vf vf_load(const float *p) { LANEWISE(vf, p[i]); }
INLINE vf vf_load_n(const float *p, int n) { LANEWISE(vf, i < n ? p[i] : 0); }
INLINE void vf_store(float *p, vf a) { memcpy(p, a.v, sizeof a.v); }
INLINE void vf_store_n(float *p, vf a, int n) {
    for (int i = 0; i < 16 && i < n; i++) p[i] = a.v[i];
}
INLINE vf vf_add(vf x, vf y) { LANEWISE(vf, sf_add(x.v[i], y.v[i])); }
INLINE vf vf_sub(vf x, vf y) { LANEWISE(vf, sf_sub(x.v[i], y.v[i])); }
INLINE vf vf_mul(vf x, vf y) { LANEWISE(vf, sf_mul(x.v[i], y.v[i])); }
INLINE vf vf_div(vf x, vf y) { LANEWISE(vf, sf_div(x.v[i], y.v[i])); }
INLINE vf vf_sqrt(vf x) { LANEWISE(vf, sf_sqrt(x.v[i])); }
INLINE vf vf_fma(vf x, vf y, vf z) { LANEWISE(vf, sf_fma(x.v[i], y.v[i], z.v[i])); }
INLINE vf vf_min(vf x, vf y) { LANEWISE(vf, sf_min(x.v[i], y.v[i])); }
INLINE vf vf_max(vf x, vf y) { LANEWISE(vf, sf_max(x.v[i], y.v[i])); }
INLINE vf vf_bits(vi x) { LANEWISE(vf, sf_bits(x.v[i])); }
INLINE vi vi_bits(vf x) { LANEWISE(vi, si_bits(x.v[i])); }

INLINE vi vi_set1(int32_t x) { LANEWISE(vi, x); }
INLINE vi vi_load(const int32_t *p) { LANEWISE(vi, p[i]); }
INLINE void vi_store(int32_t *p, vi a) { memcpy(p, a.v, sizeof a.v); }
INLINE vi vi_add(vi x, vi y) { LANEWISE(vi, si_add(x.v[i], y.v[i])); }
INLINE vi vi_sub(vi x, vi y) { LANEWISE(vi, si_sub(x.v[i], y.v[i])); }
INLINE vi vi_mul(vi x, vi y) { LANEWISE(vi, si_mul(x.v[i], y.v[i])); }
INLINE vi vi_and(vi x, vi y) { LANEWISE(vi, si_and(x.v[i], y.v[i])); }
INLINE vi vi_or(vi x, vi y) { LANEWISE(vi, si_or(x.v[i], y.v[i])); }
INLINE vi vi_xor(vi x, vi y) { LANEWISE(vi, si_xor(x.v[i], y.v[i])); }
INLINE vi vi_min(vi x, vi y) { LANEWISE(vi, si_min(x.v[i], y.v[i])); }
INLINE vi vi_max(vi x, vi y) { LANEWISE(vi, si_max(x.v[i], y.v[i])); }
INLINE vi vi_shift_left(vi x, int n) { LANEWISE(vi, si_shift_left(x.v[i], n)); }
INLINE vi vi_shift_right(vi x, int n) { LANEWISE(vi, si_shift_right(x.v[i], n)); }

INLINE vm vf_less(vf x, vf y) { LANEWISE(vm, sf_less(x.v[i], y.v[i])); }
INLINE vm vf_less_or_equal(vf x, vf y) { LANEWISE(vm, sf_less_or_equal(x.v[i], y.v[i])); }
INLINE vm vf_equal(vf x, vf y) { LANEWISE(vm, sf_equal(x.v[i], y.v[i])); }
INLINE vm vi_less(vi x, vi y) { LANEWISE(vm, si_less(x.v[i], y.v[i])); }
INLINE vm vi_equal(vi x, vi y) { LANEWISE(vm, si_equal(x.v[i], y.v[i])); }
INLINE vm vf_and(vm x, vm y) { LANEWISE(vm, sf_and(x.v[i], y.v[i])); }
INLINE vm vf_or(vm x, vm y) { LANEWISE(vm, sf_or(x.v[i], y.v[i])); }
INLINE vm vf_not(vm x) { LANEWISE(vm, sf_not(x.v[i])); }
INLINE vf vf_where(vm x, vf y, vf z) { LANEWISE(vf, sf_where(x.v[i], y.v[i], z.v[i])); }
INLINE vi vi_where(vm x, vi y, vi z) { LANEWISE(vi, si_where(x.v[i], y.v[i], z.v[i])); }
INLINE bool vm_any(vm a) {
    bool any = false;
    for (int i = 0; i < 16; i++) any |= a.v[i];
    return any;
}

INLINE vf vf_from_int(vi x) { LANEWISE(vf, sf_from_int(x.v[i])); }
INLINE vi vi_truncate(vf x) { LANEWISE(vi, si_from_float(x.v[i])); }
INLINE vi vi_load_u8(const uint8_t *p) { LANEWISE(vi, p[i]); }
INLINE vi vi_load_i8(const int8_t *p) { LANEWISE(vi, p[i]); }
INLINE vi vi_load_u16(const uint16_t *p) { LANEWISE(vi, p[i]); }
INLINE void vi_store_u8(uint8_t *p, vi a) {
    for (int i = 0; i < 16; i++) p[i] = (uint8_t)a.v[i];
}
INLINE void vi_store_u16(uint16_t *p, vi a) {
    for (int i = 0; i < 16; i++) p[i] = (uint16_t)a.v[i];
}
INLINE vf vf_load_f16(const uint16_t *p) { LANEWISE(vf, sf_from_f16(p[i])); }
INLINE void vf_store_f16(uint16_t *p, vf a) {
    for (int i = 0; i < 16; i++) p[i] = f16_from_float(a.v[i]);
}
INLINE vf vf_swap_pairs(vf x) { LANEWISE(vf, x.v[i ^ 1]); }

// The tree: lane i takes in lane i + 8, then i + 4, i + 2, i + 1.
#define TREE(step)                                                     \
    for (int w = 8; w; w /= 2)                                         \
        for (int i = 0; i < w; i++) a.v[i] = step(a.v[i], a.v[i + w]); \
    return a.v[0]
INLINE float vf_sum(vf a) { TREE(sf_add); }
INLINE float vf_product(vf a) { TREE(sf_mul); }
INLINE float vf_reduce_max(vf a) { TREE(sf_max); }
INLINE float vf_reduce_min(vf a) { TREE(sf_min); }
#undef TREE

// Sixteen times four weights, stored as value + 128, and c + their products with the j-th four of
// 32 activations (-127..127) in every lane.
enum { DOT4_BIAS = 0 };
typedef struct {
    uint8_t v[64];
} weights4;
INLINE weights4 weights4_load(const uint8_t *p) {
    weights4 w;
    memcpy(w.v, p, sizeof w.v);
    return w;
}
INLINE weights4 weights4_of(vi bytes) { return weights4_load((const uint8_t *)bytes.v); }
INLINE vi vi_lookup(vi nibbles, const uint8_t table[16]) {
    weights4 w = weights4_of(nibbles);
    for (int i = 0; i < 64; i++) w.v[i] = table[w.v[i]];
    memcpy(nibbles.v, w.v, sizeof w.v);
    return nibbles;
}
INLINE vf vf_lookup(vi index, const float table[16]) { LANEWISE(vf, table[index.v[i]]); }
typedef const int8_t *fours;
INLINE fours load_k4(const int8_t *q) { return q; }
#if defined(__ARM_FEATURE_SIMD32)
// c + w x over four bytes each: two at a time, as halves of a word.
INLINE int32_t second_bytes(int32_t four) {
    return __sxtb16((int32_t)((uint32_t)four >> 8 | (uint32_t)four << 24));
}
INLINE int32_t si_dot4(int32_t c, int32_t w, int32_t x) {
    return __smlad(second_bytes(w), second_bytes(x), __smlad(__sxtb16(w), __sxtb16(x), c));
}
INLINE vi vi_dot4_small(vi c, vi w, const int8_t *x, int j) {
    int32_t four = four_bytes(x + 4 * j);
    LANEWISE(vi, si_dot4(c.v[i], w.v[i], four));
}
INLINE vi vi_dot4(vi c, const weights4 *w, const fours *x, int j) {
    int32_t four = four_bytes(*x + 4 * j);
    LANEWISE(vi,
             si_dot4(c.v[i], four_bytes((const int8_t *)w->v + 4 * i) ^ (int32_t)0x80808080, four));
}
#else
INLINE vi vi_dot4_small(vi c, vi w, const int8_t *x, int j) {
    weights4 bytes = weights4_of(w);
    for (int i = 0; i < 16; i++)
        for (int n = 0; n < 4; n++) c.v[i] += bytes.v[4 * i + n] * x[4 * j + n];
    return c;
}
INLINE vi vi_dot4(vi c, const weights4 *w, const fours *x, int j) {
    const int8_t *four = *x + 4 * j;
    for (int i = 0; i < 16; i++)
        for (int n = 0; n < 4; n++) c.v[i] += (w->v[4 * i + n] - 128) * four[n];
    return c;
}
#endif
