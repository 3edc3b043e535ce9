// Sixteen lanes in four NEON registers (AArch64; dot products and products of int8 matrices where
// the CPU has them).
#include <arm_neon.h>

typedef struct {
    float32x4_t a, b, c, d;
} vf;
typedef struct {
    int32x4_t a, b, c, d;
} vi;
typedef struct {
    uint32x4_t a, b, c, d;
} vm;
// Tiles (see README.md): rows x panels of accumulators.
#if defined(__ARM_FEATURE_DOTPROD)
enum {
    GEMV_PANELS = 4,
    TILE_ROWS = 6,
    TILE_PANELS = 1,
    TILE_STEPS = 1,
    INT_PANELS = 1,
    INT_ROWS = 4
};
#else  // each row of integers has sixteen sums of 32 bits
enum {
    GEMV_PANELS = 4,
    TILE_ROWS = 6,
    TILE_PANELS = 1,
    TILE_STEPS = 1,
    INT_PANELS = 1,
    INT_ROWS = 2
};
#endif
#define INT_UNROLL UNROLL  // of the eight steps of an integer block

#define FOUR(type, f, ...) \
    ((type){f(a, __VA_ARGS__), f(b, __VA_ARGS__), f(c, __VA_ARGS__), f(d, __VA_ARGS__)})
#define ONE(quarter, f, x)           f(x.quarter)
#define TWO(quarter, f, x, y)        f(x.quarter, y.quarter)
#define THREE(quarter, f, x, y, z)   f(x.quarter, y.quarter, z.quarter)
#define THREE_X(quarter, f, x, y, z) f(x.quarter, y.quarter, z)
#define ALIKE(quarter, f, x)         f(x)

INLINE vf vf_set1(float x) { return FOUR(vf, ALIKE, vdupq_n_f32, x); }
INLINE vf vf_load(const float *p) {
    return (vf){vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)};
}
INLINE void vf_store(float *p, vf x) {
    vst1q_f32(p, x.a);
    vst1q_f32(p + 4, x.b);
    vst1q_f32(p + 8, x.c);
    vst1q_f32(p + 12, x.d);
}
INLINE vf vf_load_n(const float *p, int n) {
    if (n >= 16) return vf_load(p);
    float t[16] = {0};
    if (n > 0) memcpy(t, p, (size_t)n * sizeof *t);
    return vf_load(t);
}
INLINE void vf_store_n(float *p, vf x, int n) {
    if (n >= 16) {
        vf_store(p, x);
        return;
    }
    float t[16];
    vf_store(t, x);
    if (n > 0) memcpy(p, t, (size_t)n * sizeof *t);
}
INLINE vf vf_add(vf x, vf y) { return FOUR(vf, TWO, vaddq_f32, x, y); }
INLINE vf vf_sub(vf x, vf y) { return FOUR(vf, TWO, vsubq_f32, x, y); }
INLINE vf vf_mul(vf x, vf y) { return FOUR(vf, TWO, vmulq_f32, x, y); }
INLINE vf vf_div(vf x, vf y) { return FOUR(vf, TWO, vdivq_f32, x, y); }
INLINE vf vf_sqrt(vf x) { return FOUR(vf, ONE, vsqrtq_f32, x); }
INLINE vf vf_fma(vf x, vf y, vf z) { return FOUR(vf, THREE, vfmaq_f32, z, x, y); }
INLINE vf vf_bits(vi x) { return FOUR(vf, ONE, vreinterpretq_f32_s32, x); }
INLINE vi vi_bits(vf x) { return FOUR(vi, ONE, vreinterpretq_s32_f32, x); }

INLINE vi vi_set1(int32_t x) { return FOUR(vi, ALIKE, vdupq_n_s32, x); }
INLINE vi vi_load(const int32_t *p) {
    return (vi){vld1q_s32(p), vld1q_s32(p + 4), vld1q_s32(p + 8), vld1q_s32(p + 12)};
}
INLINE void vi_store(int32_t *p, vi x) {
    vst1q_s32(p, x.a);
    vst1q_s32(p + 4, x.b);
    vst1q_s32(p + 8, x.c);
    vst1q_s32(p + 12, x.d);
}
INLINE vi vi_add(vi x, vi y) { return FOUR(vi, TWO, vaddq_s32, x, y); }
INLINE vi vi_sub(vi x, vi y) { return FOUR(vi, TWO, vsubq_s32, x, y); }
INLINE vi vi_mul(vi x, vi y) { return FOUR(vi, TWO, vmulq_s32, x, y); }
INLINE vi vi_and(vi x, vi y) { return FOUR(vi, TWO, vandq_s32, x, y); }
INLINE vi vi_or(vi x, vi y) { return FOUR(vi, TWO, vorrq_s32, x, y); }
INLINE vi vi_xor(vi x, vi y) { return FOUR(vi, TWO, veorq_s32, x, y); }
INLINE vi vi_min(vi x, vi y) { return FOUR(vi, TWO, vminq_s32, x, y); }
INLINE vi vi_max(vi x, vi y) { return FOUR(vi, TWO, vmaxq_s32, x, y); }
INLINE vi vi_shift_left(vi x, int n) {
    vi by = vi_set1(n);
    return FOUR(vi, TWO, vshlq_s32, x, by);
}
INLINE int32x4_t quarter_shift_right(int32x4_t x, int32x4_t by) {
    return vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(x), by));
}
INLINE vi vi_shift_right(vi x, int n) {
    vi by = vi_set1(-n);
    return FOUR(vi, TWO, quarter_shift_right, x, by);
}

INLINE vm vf_less(vf x, vf y) { return FOUR(vm, TWO, vcltq_f32, x, y); }
INLINE vm vf_less_or_equal(vf x, vf y) { return FOUR(vm, TWO, vcleq_f32, x, y); }
INLINE vm vf_equal(vf x, vf y) { return FOUR(vm, TWO, vceqq_f32, x, y); }
INLINE vm vi_less(vi x, vi y) { return FOUR(vm, TWO, vcltq_s32, x, y); }
INLINE vm vi_equal(vi x, vi y) { return FOUR(vm, TWO, vceqq_s32, x, y); }
INLINE vm vf_and(vm x, vm y) { return FOUR(vm, TWO, vandq_u32, x, y); }
INLINE vm vf_or(vm x, vm y) { return FOUR(vm, TWO, vorrq_u32, x, y); }
INLINE vm vf_not(vm x) { return FOUR(vm, ONE, vmvnq_u32, x); }
INLINE vf vf_where(vm c, vf x, vf y) { return FOUR(vf, THREE, vbslq_f32, c, x, y); }
INLINE vi vi_where(vm c, vi x, vi y) { return FOUR(vi, THREE, vbslq_s32, c, x, y); }
INLINE bool vm_any(vm x) {
    return vmaxvq_u32(vorrq_u32(vorrq_u32(x.a, x.b), vorrq_u32(x.c, x.d))) != 0;
}
INLINE vf vf_min(vf x, vf y) {
    return vf_where(vf_less(x, y), x, y);
}  // vminq differs on zeros and NaN
INLINE vf vf_max(vf x, vf y) { return vf_where(vf_less(y, x), x, y); }

INLINE vf vf_from_int(vi x) { return FOUR(vf, ONE, vcvtq_f32_s32, x); }
INLINE vi vi_truncate(vf x) { return FOUR(vi, ONE, vcvtq_s32_f32, x); }
#if defined(__aarch64__)
#define VEC_ROUND 1
INLINE vi vi_round(vf x) { return FOUR(vi, ONE, vcvtnq_s32_f32, x); }
#endif
INLINE vi widen_words(int16x8_t low, int16x8_t high) {
    return (vi){vmovl_s16(vget_low_s16(low)), vmovl_s16(vget_high_s16(low)),
                vmovl_s16(vget_low_s16(high)), vmovl_s16(vget_high_s16(high))};
}
INLINE vi vi_load_i8(const int8_t *p) {
    int8x16_t bytes = vld1q_s8(p);
    return widen_words(vmovl_s8(vget_low_s8(bytes)), vmovl_s8(vget_high_s8(bytes)));
}
INLINE vi vi_load_u8(const uint8_t *p) {
    uint8x16_t bytes = vld1q_u8(p);
    return widen_words(vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(bytes))),
                       vreinterpretq_s16_u16(vmovl_u8(vget_high_u8(bytes))));
}
INLINE int32x4_t quarter_load_u16(const uint16_t *p) {
    return vreinterpretq_s32_u32(vmovl_u16(vld1_u16(p)));
}
INLINE vi vi_load_u16(const uint16_t *p) {
    return (vi){quarter_load_u16(p), quarter_load_u16(p + 4), quarter_load_u16(p + 8),
                quarter_load_u16(p + 12)};
}
INLINE void vi_store_u16(uint16_t *p, vi x) {
    vst1q_s16((int16_t *)p, vcombine_s16(vmovn_s32(x.a), vmovn_s32(x.b)));
    vst1q_s16((int16_t *)(p + 8), vcombine_s16(vmovn_s32(x.c), vmovn_s32(x.d)));
}
INLINE void vi_store_u8(uint8_t *p, vi x) {
    int8x8_t low = vmovn_s16(vcombine_s16(vmovn_s32(x.a), vmovn_s32(x.b)));
    vst1q_s8((int8_t *)p,
             vcombine_s8(low, vmovn_s16(vcombine_s16(vmovn_s32(x.c), vmovn_s32(x.d)))));
}
INLINE float32x4_t quarter_load_f16(const uint16_t *p) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}
INLINE vf vf_load_f16(const uint16_t *p) {
    return (vf){quarter_load_f16(p), quarter_load_f16(p + 4), quarter_load_f16(p + 8),
                quarter_load_f16(p + 12)};
}
INLINE void quarter_store_f16(uint16_t *p, float32x4_t x) {
    vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(x)));
}
INLINE void vf_store_f16(uint16_t *p, vf x) {
    quarter_store_f16(p, x.a);
    quarter_store_f16(p + 4, x.b);
    quarter_store_f16(p + 8, x.c);
    quarter_store_f16(p + 12, x.d);
}
INLINE vf vf_swap_pairs(vf x) { return FOUR(vf, ONE, vrev64q_f32, x); }

// The tree: lane i takes in lane i + 8, then i + 4, i + 2, i + 1.
#define TREE(four, two, one)                                \
    float32x4_t q = four(four(x.a, x.c), four(x.b, x.d));   \
    float32x2_t p = two(vget_low_f32(q), vget_high_f32(q)); \
    return one(vget_lane_f32(p, 0), vget_lane_f32(p, 1))
INLINE float32x4_t quarter_max(float32x4_t x, float32x4_t y) {
    return vbslq_f32(vcgtq_f32(x, y), x, y);
}
INLINE float32x4_t quarter_min(float32x4_t x, float32x4_t y) {
    return vbslq_f32(vcltq_f32(x, y), x, y);
}
INLINE float32x2_t eighth_max(float32x2_t x, float32x2_t y) {
    return vbsl_f32(vcgt_f32(x, y), x, y);
}
INLINE float32x2_t eighth_min(float32x2_t x, float32x2_t y) {
    return vbsl_f32(vclt_f32(x, y), x, y);
}
INLINE float vf_sum(vf x) { TREE(vaddq_f32, vadd_f32, sf_add); }
INLINE float vf_product(vf x) { TREE(vmulq_f32, vmul_f32, sf_mul); }
INLINE float vf_reduce_max(vf x) { TREE(quarter_max, eighth_max, sf_max); }
INLINE float vf_reduce_min(vf x) { TREE(quarter_min, eighth_min, sf_min); }
#undef TREE

INLINE int8x16_t quarter_bytes(int32x4_t w) { return vreinterpretq_s8_s32(w); }
INLINE int32x4_t quarter_lookup(int32x4_t w, uint8x16_t table) {
    return vreinterpretq_s32_u8(vqtbl1q_u8(table, vreinterpretq_u8_s32(w)));
}
INLINE vi vi_lookup(vi w, const uint8_t table[16]) {
    uint8x16_t all = vld1q_u8(table);
    return (vi){quarter_lookup(w.a, all), quarter_lookup(w.b, all), quarter_lookup(w.c, all),
                quarter_lookup(w.d, all)};
}
INLINE float32x4_t quarter_choose(int32x4_t index, uint8x16x4_t table) {
    int32x4_t bytes = vmlaq_s32(vdupq_n_s32(0x03020100), index, vdupq_n_s32(0x04040404));
    return vreinterpretq_f32_u8(vqtbl4q_u8(table, vreinterpretq_u8_s32(bytes)));
}
INLINE vf vf_lookup(vi index, const float table[16]) {
    const uint8_t *t = (const uint8_t *)table;
    uint8x16x4_t all = {{vld1q_u8(t), vld1q_u8(t + 16), vld1q_u8(t + 32), vld1q_u8(t + 48)}};
    return (vf){quarter_choose(index.a, all), quarter_choose(index.b, all),
                quarter_choose(index.c, all), quarter_choose(index.d, all)};
}

// The j-th four of activations in every lane; if j is known at compile time, sixteen of them are
// loaded at once.
INLINE int8x16_t four_lanes(const int8_t *x, int j) {
    if (!__builtin_constant_p(j)) return vreinterpretq_s8_s32(vdupq_n_s32(four_bytes(x + 4 * j)));
    int32x4_t fours = vreinterpretq_s32_s8(vld1q_s8(x + j / 4 * 16));
    switch (j % 4) {
        case 0:
            return vreinterpretq_s8_s32(vdupq_laneq_s32(fours, 0));
        case 1:
            return vreinterpretq_s8_s32(vdupq_laneq_s32(fours, 1));
        case 2:
            return vreinterpretq_s8_s32(vdupq_laneq_s32(fours, 2));
        default:
            return vreinterpretq_s8_s32(vdupq_laneq_s32(fours, 3));
    }
}
INLINE int32x4_t quarter_dot4(int32x4_t c, int8x16_t w, int8x16_t x) {
#if defined(__ARM_FEATURE_DOTPROD)
    return vdotq_s32(c, w, x);
#else
    int16x8_t low = vmull_s8(vget_low_s8(w), vget_low_s8(x)),
              high = vmull_s8(vget_high_s8(w), vget_high_s8(x));
    return vaddq_s32(c, vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)));
#endif
}
INLINE vi vi_dot4_small(vi c, vi w, const int8_t *x, int j) {
    int8x16_t four = four_lanes(x, j);
    return (vi){
        quarter_dot4(c.a, quarter_bytes(w.a), four), quarter_dot4(c.b, quarter_bytes(w.b), four),
        quarter_dot4(c.c, quarter_bytes(w.c), four), quarter_dot4(c.d, quarter_bytes(w.d), four)};
}

// Sixteen times four weights, stored as value + 128, and c + their products with the j-th four of
// 32 activations (-127..127) in every lane.
typedef const int8_t *fours;
INLINE fours load_k4(const int8_t *q) { return q; }
#if defined(__ARM_FEATURE_MATMUL_INT8)
enum { DOT4_BIAS = 1 };
typedef vi weights4;
INLINE weights4 weights4_load(const uint8_t *p) {
    return vi_load((const int32_t *)(const void *)p);
}
INLINE weights4 weights4_of(vi w) { return w; }
INLINE int32x4_t quarter_dot4_wide(int32x4_t c, int32x4_t w, int8x16_t x) {
    return vusdotq_s32(c, vreinterpretq_u8_s32(w), x);
}
#else
enum { DOT4_BIAS = 0 };
typedef struct {
    int8x16_t a, b, c, d;
} weights4;
INLINE int8x16_t quarter_signed(int32x4_t w) {
    return veorq_s8(quarter_bytes(w), vdupq_n_s8(-128));
}
INLINE weights4 weights4_of(vi w) {
    return (weights4){quarter_signed(w.a), quarter_signed(w.b), quarter_signed(w.c),
                      quarter_signed(w.d)};
}
INLINE weights4 weights4_load(const uint8_t *p) {
    return weights4_of(vi_load((const int32_t *)(const void *)p));
}
#define quarter_dot4_wide quarter_dot4
#endif
INLINE vi vi_dot4(vi c, const weights4 *weights, const fours *x, int j) {
    weights4 w = *weights;
    int8x16_t four = four_lanes(*x, j);
    return FOUR(vi, THREE_X, quarter_dot4_wide, c, w, four);
}

#if !defined(__ARM_FEATURE_DOTPROD)
// Products of several fours are added up in 16 bits first: two columns in each register, four sums
// of a column, then two of 32 bits.
#define VEC_WORDS 1
typedef struct {
    int16x8_t q[8];
} vi_words;
typedef struct {
    int32x4_t q[8];
} vi_halves;
enum { WORDS_PRODUCTS = 1, WORDS_WIDE = 1, WORDS_ROWS = INT_ROWS };
typedef weights4 word_weights;
INLINE word_weights word_weights_of(vi w, bool wide) {
    if (wide) return weights4_of(w);
    return (weights4){quarter_bytes(w.a), quarter_bytes(w.b), quarter_bytes(w.c),
                      quarter_bytes(w.d)};
}
INLINE vi_words vi_words_add(vi_words s, const word_weights *w, const int8_t *x, int j) {
    const int8x16_t four = four_lanes(x, j), quarters[] = {w->a, w->b, w->c, w->d};
    for (int i = 0; i < 4; i++) {
        s.q[2 * i] = vmlal_s8(s.q[2 * i], vget_low_s8(quarters[i]), vget_low_s8(four));
        s.q[2 * i + 1] = vmlal_s8(s.q[2 * i + 1], vget_high_s8(quarters[i]), vget_high_s8(four));
    }
    return s;
}
INLINE vi_halves vi_halves_add(vi_halves s, vi_words words) {
    for (int i = 0; i < 8; i++) s.q[i] = vpadalq_s16(s.q[i], words.q[i]);
    return s;
}
INLINE vi vi_of_halves(vi_halves s) {
    return (vi){vpaddq_s32(s.q[0], s.q[1]), vpaddq_s32(s.q[2], s.q[3]), vpaddq_s32(s.q[4], s.q[5]),
                vpaddq_s32(s.q[6], s.q[7])};
}
#endif

#if defined(__ARM_FEATURE_MATMUL_INT8)
// Sums of two rows by sixteen columns: column c and c + 1 of the first row, then of the second, in
// each register; and their products with eight k.
#define VEC_PAIRS_ROWS 1
typedef struct {
    int32x4_t q[8];
} vi_pair;
typedef struct {
    int8x16_t q[8];  // eight k of a column, then of the next
} weights8;
INLINE int32x4_t low_halves(int32x4_t x, int32x4_t y) {
    return vcombine_s32(vget_low_s32(x), vget_low_s32(y));
}
INLINE int32x4_t high_halves(int32x4_t x, int32x4_t y) {
    return vcombine_s32(vget_high_s32(x), vget_high_s32(y));
}
INLINE vi_pair vi_pair_of(vi x, vi y) {
    return (vi_pair){{low_halves(x.a, y.a), high_halves(x.a, y.a), low_halves(x.b, y.b),
                      high_halves(x.b, y.b), low_halves(x.c, y.c), high_halves(x.c, y.c),
                      low_halves(x.d, y.d), high_halves(x.d, y.d)}};
}
INLINE vi vi_pair_first(vi_pair s) {
    return (vi){low_halves(s.q[0], s.q[1]), low_halves(s.q[2], s.q[3]), low_halves(s.q[4], s.q[5]),
                low_halves(s.q[6], s.q[7])};
}
INLINE vi vi_pair_second(vi_pair s) {
    return (vi){high_halves(s.q[0], s.q[1]), high_halves(s.q[2], s.q[3]),
                high_halves(s.q[4], s.q[5]), high_halves(s.q[6], s.q[7])};
}
// Of two steps of four k. `wide`: bytes that hold value + 128
INLINE weights8 weights8_of(vi even, vi odd, bool wide) {
    int8x16_t flip = vdupq_n_s8(wide ? -128 : 0);
    weights8 w = {
        {quarter_bytes(vzip1q_s32(even.a, odd.a)), quarter_bytes(vzip2q_s32(even.a, odd.a)),
         quarter_bytes(vzip1q_s32(even.b, odd.b)), quarter_bytes(vzip2q_s32(even.b, odd.b)),
         quarter_bytes(vzip1q_s32(even.c, odd.c)), quarter_bytes(vzip2q_s32(even.c, odd.c)),
         quarter_bytes(vzip1q_s32(even.d, odd.d)), quarter_bytes(vzip2q_s32(even.d, odd.d))}};
    for (int i = 0; wide && i < 8; i++) w.q[i] = veorq_s8(w.q[i], flip);
    return w;
}
INLINE vi_pair vi_dot8(vi_pair s, const weights8 *w, const int8_t *x, const int8_t *y) {
    int8x16_t rows = vcombine_s8(vld1_s8(x), vld1_s8(y));
    for (int i = 0; i < 8; i++) s.q[i] = vmmlaq_s32(s.q[i], rows, w->q[i]);
    return s;
}
#endif
