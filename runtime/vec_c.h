// Sixteen lanes as an array: plain C11, for any compiler and any CPU. Every lane is its function of scalar.h.
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
enum { GEMV_PANELS = 2, TILE_ROWS = 1, TILE_PANELS = 1, INT_ROWS = 1, INT_PANELS = 1 };
#define INT_UNROLL NO_UNROLL  // of the eight steps of an integer block

#define LANEWISE(result, expression)                  \
    result r;                                         \
    for (int i = 0; i < 16; i++) r.v[i] = expression; \
    return r
#define LANES1(result, name, scalar, a) \
    INLINE result name(a x) { LANEWISE(result, scalar(x.v[i])); }
#define LANES2(result, name, scalar, a, b) \
    INLINE result name(a x, b y) { LANEWISE(result, scalar(x.v[i], y.v[i])); }
#define LANES3(result, name, scalar, a, b, c) \
    INLINE result name(a x, b y, c z) { LANEWISE(result, scalar(x.v[i], y.v[i], z.v[i])); }

INLINE vf vf_set1(float x) { LANEWISE(vf, x); }
INLINE vf vf_load(const float *p) { LANEWISE(vf, p[i]); }
INLINE vf vf_load_n(const float *p, int n) { LANEWISE(vf, i < n ? p[i] : 0); }
INLINE void vf_store(float *p, vf a) { memcpy(p, a.v, sizeof a.v); }
INLINE void vf_store_n(float *p, vf a, int n) {
    for (int i = 0; i < 16 && i < n; i++) p[i] = a.v[i];
}
LANES2(vf, vf_add, sf_add, vf, vf)
LANES2(vf, vf_sub, sf_sub, vf, vf)
LANES2(vf, vf_mul, sf_mul, vf, vf)
LANES2(vf, vf_div, sf_div, vf, vf)
LANES1(vf, vf_sqrt, sf_sqrt, vf)
LANES3(vf, vf_fma, sf_fma, vf, vf, vf)
LANES2(vf, vf_min, sf_min, vf, vf)
LANES2(vf, vf_max, sf_max, vf, vf)
LANES1(vf, vf_bits, sf_bits, vi)
LANES1(vi, vi_bits, si_bits, vf)

INLINE vi vi_set1(int32_t x) { LANEWISE(vi, x); }
INLINE vi vi_load(const int32_t *p) { LANEWISE(vi, p[i]); }
INLINE void vi_store(int32_t *p, vi a) { memcpy(p, a.v, sizeof a.v); }
LANES2(vi, vi_add, si_add, vi, vi)
LANES2(vi, vi_sub, si_sub, vi, vi)
LANES2(vi, vi_mul, si_mul, vi, vi)
LANES2(vi, vi_and, si_and, vi, vi)
LANES2(vi, vi_or, si_or, vi, vi)
LANES2(vi, vi_xor, si_xor, vi, vi)
LANES2(vi, vi_min, si_min, vi, vi)
LANES2(vi, vi_max, si_max, vi, vi)
INLINE vi vi_shift_left(vi x, int n) { LANEWISE(vi, si_shift_left(x.v[i], n)); }
INLINE vi vi_shift_right(vi x, int n) { LANEWISE(vi, si_shift_right(x.v[i], n)); }

LANES2(vm, vf_less, sf_less, vf, vf)
LANES2(vm, vf_less_or_equal, sf_less_or_equal, vf, vf)
LANES2(vm, vf_equal, sf_equal, vf, vf)
LANES2(vm, vi_less, si_less, vi, vi)
LANES2(vm, vi_equal, si_equal, vi, vi)
LANES2(vm, vf_and, sf_and, vm, vm)
LANES2(vm, vf_or, sf_or, vm, vm)
LANES1(vm, vf_not, sf_not, vm)
LANES3(vf, vf_where, sf_where, vm, vf, vf)
LANES3(vi, vi_where, si_where, vm, vi, vi)
INLINE bool vm_any(vm a) {
    bool any = false;
    for (int i = 0; i < 16; i++) any |= a.v[i];
    return any;
}

LANES1(vf, vf_from_int, sf_from_int, vi)
LANES1(vi, vi_truncate, si_from_float, vf)
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
#define TREE(name, step)                                                   \
    INLINE float name(vf a) {                                              \
        for (int w = 8; w; w /= 2)                                         \
            for (int i = 0; i < w; i++) a.v[i] = step(a.v[i], a.v[i + w]); \
        return a.v[0];                                                     \
    }
TREE(vf_sum, sf_add)
TREE(vf_product, sf_mul)
TREE(vf_top, sf_max)
TREE(vf_bottom, sf_min)
#undef TREE

// Sixteen times four weights, stored as value + 128, and c + their products with the j-th four of 32
// activations (-127..127) in every lane.
enum { DOT4_BIAS = 0 };
typedef const uint8_t *weights4;
INLINE weights4 weights4_load(const uint8_t *p) { return p; }
typedef const int8_t *fours;
INLINE fours fours_load(const int8_t *q) { return q; }
INLINE vi vi_dot4(vi c, const weights4 *w, const fours *x, int j) {
    const int8_t *four = *x + 4 * j;
    for (int i = 0; i < 16; i++)
        for (int n = 0; n < 4; n++) c.v[i] += ((*w)[4 * i + n] - 128) * four[n];
    return c;
}
