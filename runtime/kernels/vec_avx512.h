// Sixteen lanes in one AVX-512 register (x86-64-v4; VNNI and AMX where the CPU has them).
#include "vec_x86.h"

typedef __m512 vf;
typedef __m512i vi;
typedef __mmask16 vm;
// Tiles (see README.md): rows x panels of accumulators.
enum {
    GEMV_PANELS = 8,
    TILE_ROWS = 6,
    TILE_PANELS = 4,
    TILE_STEPS = 1,
    INT_ROWS = 6,
    INT_PANELS = 2
};

INLINE __mmask16 first_lanes(int n) {
    return n >= 16 ? 0xffff : n <= 0 ? 0 : (__mmask16)((1u << n) - 1);
}

INLINE vf vf_set1(float a) { return _mm512_set1_ps(a); }
INLINE vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
INLINE vf vf_load_n(const float *p, int n) { return _mm512_maskz_loadu_ps(first_lanes(n), p); }
INLINE void vf_store(float *p, vf a) { _mm512_storeu_ps(p, a); }
INLINE void vf_store_n(float *p, vf a, int n) { _mm512_mask_storeu_ps(p, first_lanes(n), a); }
INLINE vf vf_add(vf a, vf b) { return _mm512_add_ps(a, b); }
INLINE vf vf_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
INLINE vf vf_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
INLINE vf vf_div(vf a, vf b) { return _mm512_div_ps(a, b); }
INLINE vf vf_sqrt(vf a) { return _mm512_sqrt_ps(a); }
INLINE vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
INLINE vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }
INLINE vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
INLINE vf vf_bits(vi a) { return _mm512_castsi512_ps(a); }
INLINE vi vi_bits(vf a) { return _mm512_castps_si512(a); }

INLINE vi vi_set1(int32_t a) { return _mm512_set1_epi32(a); }
INLINE vi vi_load(const int32_t *p) { return _mm512_loadu_si512(p); }
INLINE void vi_store(int32_t *p, vi a) { _mm512_storeu_si512(p, a); }
INLINE vi vi_add(vi a, vi b) { return _mm512_add_epi32(a, b); }
INLINE vi vi_sub(vi a, vi b) { return _mm512_sub_epi32(a, b); }
INLINE vi vi_mul(vi a, vi b) { return _mm512_mullo_epi32(a, b); }
INLINE vi vi_and(vi a, vi b) { return _mm512_and_si512(a, b); }
INLINE vi vi_or(vi a, vi b) { return _mm512_or_si512(a, b); }
INLINE vi vi_xor(vi a, vi b) { return _mm512_xor_si512(a, b); }
INLINE vi vi_shift_left(vi a, int n) { return _mm512_slli_epi32(a, (unsigned)n); }
INLINE vi vi_shift_right(vi a, int n) { return _mm512_srli_epi32(a, (unsigned)n); }
INLINE vi vi_min(vi a, vi b) { return _mm512_min_epi32(a, b); }
INLINE vi vi_max(vi a, vi b) { return _mm512_max_epi32(a, b); }

INLINE vm vf_less(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
INLINE vm vf_less_or_equal(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
INLINE vm vf_equal(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
INLINE vm vi_less(vi a, vi b) { return _mm512_cmplt_epi32_mask(a, b); }
INLINE vm vi_equal(vi a, vi b) { return _mm512_cmpeq_epi32_mask(a, b); }
INLINE vm vf_and(vm a, vm b) { return a & b; }
INLINE vm vf_or(vm a, vm b) { return a | b; }
INLINE vm vf_not(vm a) { return (vm)~a; }
INLINE vf vf_where(vm c, vf a, vf b) { return _mm512_mask_blend_ps(c, b, a); }
INLINE vi vi_where(vm c, vi a, vi b) { return _mm512_mask_blend_epi32(c, b, a); }
INLINE bool vm_any(vm a) { return a != 0; }

INLINE vf vf_from_int(vi a) { return _mm512_cvtepi32_ps(a); }
INLINE vi vi_truncate(vf a) { return _mm512_cvttps_epi32(a); }
#define VEC_ROUND 1
INLINE vi vi_round(vf a) {
    return _mm512_cvt_roundps_epi32(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
INLINE vi vi_load_u8(const uint8_t *p) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
}
INLINE vi vi_load_i8(const int8_t *p) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p));
}
INLINE vi vi_load_u16(const uint16_t *p) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
}
INLINE void vi_store_u8(uint8_t *p, vi a) {
    _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8(a));
}
INLINE void vi_store_u16(uint16_t *p, vi a) {
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(a));
}
INLINE vf vf_load_f16(const uint16_t *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}
INLINE void vf_store_f16(uint16_t *p, vf a) {
    _mm256_storeu_si256((__m256i *)p,
                        _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
// Two vectors of bf16, one after the other: one line, one permutation each.
#define VEC_PAIRS_BF16 1
INLINE void vf_load_bf16_pair(const uint16_t *p, vf *pair) {
    __m512i line = _mm512_loadu_si512(p),
            upper = _mm512_slli_epi32(
                _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), 16);
    pair[0] = _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(0xaaaaaaaa, upper, line));
    pair[1] = _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(
        0xaaaaaaaa, _mm512_add_epi32(upper, _mm512_set1_epi32(16 << 16)), line));
}
INLINE vf vf_swap_pairs(vf a) { return _mm512_permute_ps(a, 0xb1); }

INLINE __m256 lower(vf a) { return _mm512_castps512_ps256(a); }
INLINE __m256 upper(vf a) {
    return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
}
INLINE float vf_sum(vf a) { TREE_OF_8(add, _mm256_add_ps(lower(a), upper(a))); }
INLINE float vf_product(vf a) { TREE_OF_8(mul, _mm256_mul_ps(lower(a), upper(a))); }
INLINE float vf_reduce_max(vf a) { TREE_OF_8(max, _mm256_max_ps(lower(a), upper(a))); }
INLINE __m256 halves_top(vf a) { return _mm256_max_ps(lower(a), upper(a)); }
INLINE void vf_reduce_max_4(const vf *a, float top[4]) {
    tops_of_8(halves_top(a[0]), halves_top(a[1]), halves_top(a[2]), halves_top(a[3]), top);
}
INLINE float vf_reduce_min(vf a) { TREE_OF_8(min, _mm256_min_ps(lower(a), upper(a))); }

// Sixteen times four weights, stored as value + 128, and c + their products with the j-th four of
// 32 activations (-127..127) in every lane; without VNNI as 16-bit pairs of even and of odd bytes.
// The initial sums subtract the + 128 once a block: see DOT4_BIAS.
enum { DOT4_BIAS = 1 };
INLINE vi vi_lookup(vi nibbles, const uint8_t table[16]) {
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)table)),
                               nibbles);
}
INLINE vf vf_lookup(vi index, const float table[16]) {
    return _mm512_permutexvar_ps(index, _mm512_loadu_ps(table));
}
#if defined(__AVX512VNNI__)
#define INT_UNROLL UNROLL  // of the eight steps of an integer block
typedef __m512i weights4;
INLINE weights4 weights4_load(const uint8_t *p) { return _mm512_loadu_si512(p); }
INLINE weights4 weights4_of(vi bytes) { return bytes; }
INLINE vi vi_dot4_small(vi c, vi w, const int8_t *x, int j) {
    return _mm512_dpbusd_epi32(c, w, _mm512_set1_epi32(four_bytes(x + 4 * j)));
}
typedef const int8_t *fours;
INLINE fours load_k4(const int8_t *q) { return q; }
INLINE vi vi_dot4(vi c, const weights4 *w, const fours *x, int j) {
    return vi_dot4_small(c, *w, *x, j);
}
#else
#define INT_UNROLL NO_UNROLL
typedef struct {
    __m512i even, odd;
} weights4;
INLINE weights4 weights4_of(vi w) {
    return (weights4){_mm512_and_si512(w, _mm512_set1_epi16(255)), _mm512_srli_epi16(w, 8)};
}
INLINE weights4 weights4_load(const uint8_t *p) { return weights4_of(_mm512_loadu_si512(p)); }
INLINE vi vi_dot4_small(vi c, vi w, const int8_t *x, int j) {
    __m512i pairs = _mm512_maddubs_epi16(w, _mm512_set1_epi32(four_bytes(x + 4 * j)));
    return _mm512_add_epi32(c, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
}
typedef split_fours fours;
INLINE fours load_k4(const int8_t *q) { return load_k4_split(q); }
INLINE vi vi_dot4(vi c, const weights4 *w, const fours *x, int j) {
    c = _mm512_add_epi32(c, _mm512_madd_epi16(w->even, _mm512_set1_epi32(x->even[j])));
    return _mm512_add_epi32(c, _mm512_madd_epi16(w->odd, _mm512_set1_epi32(x->odd[j])));
}
#endif

#if defined(__AMX_INT8__)
// Tiles of 16 rows by the sixteen columns of one or two panels, over groups of some steps of four
// k, which vi_tiles_begin sets up for a thread. Two sets hold sums (0 and 1, 2 and 3), 4 rows of
// int8, 5 and 6 weights, signed bytes in steps of 64.
#define VEC_TILES 1
enum { TILE_MOST = 16 };
typedef struct {
    _Alignas(64) uint8_t palette;
    uint8_t start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config;
INLINE void vi_tiles_begin(int steps) {
    tile_config config = {.palette = 1};
    for (int i = 0; i < 7; i++) {
        config.rows[i] = (uint8_t)(i < 5 ? TILE_MOST : steps);
        config.row_bytes[i] = (uint16_t)(i == 4 ? 4 * steps : 64);
    }
    __asm__ volatile("" ::: "memory");  // gcc 12 does not see that the configuration is read
    _tile_loadconfig(&config);
}
INLINE void vi_tiles_end(void) { _tile_release(); }
INLINE vi vi_sub_bytes(vi a, vi b) { return _mm512_sub_epi8(a, b); }

// The first row's bytes, and how many are between rows
typedef struct tile_bytes {
    const int8_t *q;
    size_t stride;
} tile_bytes;

// The rest concerns a set (0 or 1) and one or two panels, all literals.
INLINE void vi_tiles_clear(int set, int panels) {
    if (set == 0) {
        _tile_zero(0);
        if (panels > 1) _tile_zero(1);
    } else {
        _tile_zero(2);
        if (panels > 1) _tile_zero(3);
    }
}
// sums += rows of int8 by the group's steps of each panel
INLINE void vi_tiles_add(int set, int panels, tile_bytes x, const uint8_t *w,
                         const uint8_t *second) {
    __asm__ volatile("" ::: "memory");
    _tile_loadd(4, x.q, x.stride);
    _tile_loadd(5, w, 64);
    if (panels > 1) _tile_loadd(6, second, 64);
    if (set == 0) {
        _tile_dpbssd(0, 4, 5);
        if (panels > 1) _tile_dpbssd(1, 4, 6);
    } else {
        _tile_dpbssd(2, 4, 5);
        if (panels > 1) _tile_dpbssd(3, 4, 6);
    }
}
// sums[16 rows][16 columns] of each panel
INLINE void vi_tiles_store(int set, int panels, int32_t *sums, int32_t *second) {
    if (set == 0) {
        _tile_stored(0, sums, 64);
        if (panels > 1) _tile_stored(1, second, 64);
    } else {
        _tile_stored(2, sums, 64);
        if (panels > 1) _tile_stored(3, second, 64);
    }
    __asm__ volatile("" ::: "memory");
}
#endif

#if defined(BURIN_ROUNDED_ROWS)
#include "vec_bf16.h"
#endif
