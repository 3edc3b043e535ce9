// Sixteen lanes in two AVX registers (x86-64-v3: AVX2, FMA, F16C; AVX-VNNI where the CPU has it).
#include "vec_x86.h"

typedef struct {
    __m256 lo, hi;
} vf;
typedef struct {
    __m256i lo, hi;
} vi;
typedef struct {
    __m256 lo, hi;
} vm;
// Tiles (see README.md): rows x panels of accumulators.
enum {
    GEMV_PANELS = 4,
    TILE_ROWS = 6,
    TILE_PANELS = 1,
    TILE_STEPS = 4,
    INT_ROWS = 4,
    INT_PANELS = 1
};

#define BOTH(type, f, ...)        ((type){f(lo, __VA_ARGS__), f(hi, __VA_ARGS__)})
#define ONE(half, f, a)           f(a.half)
#define TWO(half, f, a, b)        f(a.half, b.half)
#define THREE(half, f, a, b, c)   f(a.half, b.half, c.half)
#define THREE_X(half, f, a, b, x) f(a.half, b.half, x)
#define COUNT(half, f, a, n)      f(a.half, n)
#define ALIKE(half, f, x)         f(x)

INLINE vf vf_set1(float a) { return BOTH(vf, ALIKE, _mm256_set1_ps, a); }
INLINE vf vf_load(const float *p) { return (vf){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
INLINE void vf_store(float *p, vf a) {
    _mm256_storeu_ps(p, a.lo);
    _mm256_storeu_ps(p + 8, a.hi);
}
INLINE __m256i first_lanes(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
INLINE vf vf_load_n(const float *p, int n) {
    if (n >= 16) return vf_load(p);
    return (vf){_mm256_maskload_ps(p, first_lanes(n)),
                _mm256_maskload_ps(p + 8, first_lanes(n - 8))};
}
INLINE void vf_store_n(float *p, vf a, int n) {
    if (n >= 16) {
        vf_store(p, a);
        return;
    }
    _mm256_maskstore_ps(p, first_lanes(n), a.lo);
    _mm256_maskstore_ps(p + 8, first_lanes(n - 8), a.hi);
}
INLINE vf vf_add(vf a, vf b) { return BOTH(vf, TWO, _mm256_add_ps, a, b); }
INLINE vf vf_sub(vf a, vf b) { return BOTH(vf, TWO, _mm256_sub_ps, a, b); }
INLINE vf vf_mul(vf a, vf b) { return BOTH(vf, TWO, _mm256_mul_ps, a, b); }
INLINE vf vf_div(vf a, vf b) { return BOTH(vf, TWO, _mm256_div_ps, a, b); }
INLINE vf vf_sqrt(vf a) { return BOTH(vf, ONE, _mm256_sqrt_ps, a); }
INLINE vf vf_fma(vf a, vf b, vf c) { return BOTH(vf, THREE, _mm256_fmadd_ps, a, b, c); }
INLINE vf vf_min(vf a, vf b) { return BOTH(vf, TWO, _mm256_min_ps, a, b); }
INLINE vf vf_max(vf a, vf b) { return BOTH(vf, TWO, _mm256_max_ps, a, b); }
INLINE vf vf_bits(vi a) { return BOTH(vf, ONE, _mm256_castsi256_ps, a); }
INLINE vi vi_bits(vf a) { return BOTH(vi, ONE, _mm256_castps_si256, a); }

INLINE vi vi_set1(int32_t a) { return BOTH(vi, ALIKE, _mm256_set1_epi32, a); }
INLINE vi vi_load(const int32_t *p) {
    return (vi){_mm256_loadu_si256((const __m256i *)p),
                _mm256_loadu_si256((const __m256i *)(p + 8))};
}
INLINE void vi_store(int32_t *p, vi a) {
    _mm256_storeu_si256((__m256i *)p, a.lo);
    _mm256_storeu_si256((__m256i *)(p + 8), a.hi);
}
INLINE vi vi_add(vi a, vi b) { return BOTH(vi, TWO, _mm256_add_epi32, a, b); }
INLINE vi vi_sub(vi a, vi b) { return BOTH(vi, TWO, _mm256_sub_epi32, a, b); }
INLINE vi vi_mul(vi a, vi b) { return BOTH(vi, TWO, _mm256_mullo_epi32, a, b); }
INLINE vi vi_and(vi a, vi b) { return BOTH(vi, TWO, _mm256_and_si256, a, b); }
INLINE vi vi_or(vi a, vi b) { return BOTH(vi, TWO, _mm256_or_si256, a, b); }
INLINE vi vi_xor(vi a, vi b) { return BOTH(vi, TWO, _mm256_xor_si256, a, b); }
INLINE vi vi_shift_left(vi a, int n) { return BOTH(vi, COUNT, _mm256_slli_epi32, a, n); }
INLINE vi vi_shift_right(vi a, int n) { return BOTH(vi, COUNT, _mm256_srli_epi32, a, n); }
INLINE vi vi_min(vi a, vi b) { return BOTH(vi, TWO, _mm256_min_epi32, a, b); }
INLINE vi vi_max(vi a, vi b) { return BOTH(vi, TWO, _mm256_max_epi32, a, b); }

INLINE vm vf_less(vf a, vf b) {
    return (vm){_mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ)};
}
INLINE vm vf_less_or_equal(vf a, vf b) {
    return (vm){_mm256_cmp_ps(a.lo, b.lo, _CMP_LE_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_LE_OQ)};
}
INLINE vm vf_equal(vf a, vf b) {
    return (vm){_mm256_cmp_ps(a.lo, b.lo, _CMP_EQ_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_EQ_OQ)};
}
INLINE vm mask_of(vi a) { return BOTH(vm, ONE, _mm256_castsi256_ps, a); }
INLINE vm vi_less(vi a, vi b) { return mask_of(BOTH(vi, TWO, _mm256_cmpgt_epi32, b, a)); }
INLINE vm vi_equal(vi a, vi b) { return mask_of(BOTH(vi, TWO, _mm256_cmpeq_epi32, a, b)); }
INLINE vm vf_and(vm a, vm b) { return BOTH(vm, TWO, _mm256_and_ps, a, b); }
INLINE vm vf_or(vm a, vm b) { return BOTH(vm, TWO, _mm256_or_ps, a, b); }
INLINE vm vf_not(vm a) {
    vm all = mask_of(vi_set1(-1));
    return BOTH(vm, TWO, _mm256_xor_ps, a, all);
}
INLINE vf vf_where(vm c, vf a, vf b) { return BOTH(vf, THREE, _mm256_blendv_ps, b, a, c); }
INLINE vi vi_where(vm c, vi a, vi b) { return vi_bits(vf_where(c, vf_bits(a), vf_bits(b))); }
INLINE bool vm_any(vm a) { return (_mm256_movemask_ps(a.lo) | _mm256_movemask_ps(a.hi)) != 0; }

INLINE vf vf_from_int(vi a) { return BOTH(vf, ONE, _mm256_cvtepi32_ps, a); }
INLINE vi vi_truncate(vf a) { return BOTH(vi, ONE, _mm256_cvttps_epi32, a); }
#define VEC_ROUND 1
INLINE vi vi_round(vf a) {
    const vf rounded = {_mm256_round_ps(a.lo, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                        _mm256_round_ps(a.hi, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
    return vi_truncate(rounded);
}
INLINE vi vi_load_u8(const uint8_t *p) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)p);
    return (vi){_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8))};
}
INLINE vi vi_load_i8(const int8_t *p) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)p);
    return (vi){_mm256_cvtepi8_epi32(bytes), _mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8))};
}
INLINE vi vi_load_u16(const uint16_t *p) {
    return (vi){_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)),
                _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(p + 8)))};
}
INLINE __m256i narrow_u16(vi a) {  // the low 16 bits of each lane
    __m256i low = _mm256_set1_epi32(0xffff);
    return _mm256_permute4x64_epi64(
        _mm256_packus_epi32(_mm256_and_si256(a.lo, low), _mm256_and_si256(a.hi, low)), 0xd8);
}
INLINE void vi_store_u16(uint16_t *p, vi a) { _mm256_storeu_si256((__m256i *)p, narrow_u16(a)); }
INLINE void vi_store_u8(uint8_t *p, vi a) {
    __m256i words = narrow_u16(vi_and(a, vi_set1(255)));
    _mm_storeu_si128((__m128i *)p, _mm_packus_epi16(_mm256_castsi256_si128(words),
                                                    _mm256_extracti128_si256(words, 1)));
}
INLINE vf vf_load_f16(const uint16_t *p) {
    return (vf){_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)),
                _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p + 8)))};
}
INLINE void vf_store_f16(uint16_t *p, vf a) {
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(a.lo, _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128((__m128i *)(p + 8), _mm256_cvtps_ph(a.hi, _MM_FROUND_TO_NEAREST_INT));
}
// bf16 to the upper halves of f32 lanes by unpacking: two instructions instead of four, with
// columns 4-7 and 8-11 changing places.
#define VEC_MIXES_BF16 1
INLINE vf vf_load_bf16_mixed(const uint16_t *p) {
    __m256i words = _mm256_loadu_si256((const __m256i *)p), zero = _mm256_setzero_si256();
    return (vf){_mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, words)),
                _mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, words))};
}
INLINE vf vf_unmix(vf a) {
    return (vf){_mm256_permute2f128_ps(a.lo, a.hi, 0x20), _mm256_permute2f128_ps(a.lo, a.hi, 0x31)};
}
INLINE vf vf_swap_pairs(vf a) {
    return (vf){_mm256_permute_ps(a.lo, 0xb1), _mm256_permute_ps(a.hi, 0xb1)};
}

INLINE float vf_sum(vf a) { TREE_OF_8(add, _mm256_add_ps(a.lo, a.hi)); }
INLINE float vf_product(vf a) { TREE_OF_8(mul, _mm256_mul_ps(a.lo, a.hi)); }
INLINE float vf_reduce_max(vf a) { TREE_OF_8(max, _mm256_max_ps(a.lo, a.hi)); }
INLINE __m256 halves_top(vf a) { return _mm256_max_ps(a.lo, a.hi); }
INLINE void vf_reduce_max_4(const vf *a, float top[4]) {
    tops_of_8(halves_top(a[0]), halves_top(a[1]), halves_top(a[2]), halves_top(a[3]), top);
}
INLINE float vf_reduce_min(vf a) { TREE_OF_8(min, _mm256_min_ps(a.lo, a.hi)); }

// Sixteen times four weights, stored as value + 128, and c + their products with the j-th four of
// 32 activations (-127..127) in every lane: without AVX-VNNI as 16-bit pairs of even and of odd
// bytes, whose products have an instruction. (maddubs would need the weights' signs on the
// activations.) The initial sums subtract the + 128 once a block: see DOT4_BIAS.
enum { DOT4_BIAS = 1 };
INLINE __m256i half_lookup(__m256i nibbles, __m256i table) {
    return _mm256_shuffle_epi8(table, nibbles);
}
INLINE vi vi_lookup(vi w, const uint8_t table[16]) {
    __m256i both = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table));
    return (vi){half_lookup(w.lo, both), half_lookup(w.hi, both)};
}
INLINE __m256 half_choose(__m256i index, const float table[16]) {
    __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), index);
    __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), index);
    return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)));
}
INLINE vf vf_lookup(vi index, const float table[16]) {
    return (vf){half_choose(index.lo, table), half_choose(index.hi, table)};
}
#if defined(__AVXVNNI__)
#define INT_UNROLL UNROLL  // of the eight steps of an integer block
typedef vi weights4;
INLINE weights4 weights4_load(const uint8_t *p) {
    return (vi){_mm256_loadu_si256((const __m256i *)p),
                _mm256_loadu_si256((const __m256i *)(p + 32))};
}
INLINE weights4 weights4_of(vi bytes) { return bytes; }
INLINE vi vi_dot4_small(vi c, vi w, const int8_t *x, int j) {
    __m256i four = _mm256_set1_epi32(four_bytes(x + 4 * j));
    return (vi){_mm256_dpbusd_avx_epi32(c.lo, w.lo, four),
                _mm256_dpbusd_avx_epi32(c.hi, w.hi, four)};
}
typedef const int8_t *fours;
INLINE fours load_k4(const int8_t *q) { return q; }
INLINE vi vi_dot4(vi c, const weights4 *w, const fours *x, int j) {
    return vi_dot4_small(c, *w, *x, j);
}
#else
#define INT_UNROLL        NO_UNROLL
typedef struct {
    __m256i lo_even, lo_odd, hi_even, hi_odd;
} weights4;
INLINE __m256i even_bytes(__m256i w) { return _mm256_and_si256(w, _mm256_set1_epi16(255)); }
INLINE __m256i odd_bytes(__m256i w) { return _mm256_srli_epi16(w, 8); }
INLINE weights4 weights4_of(vi w) {
    return (weights4){even_bytes(w.lo), odd_bytes(w.lo), even_bytes(w.hi), odd_bytes(w.hi)};
}
INLINE weights4 weights4_load(const uint8_t *p) {
    return weights4_of((vi){_mm256_loadu_si256((const __m256i *)p),
                            _mm256_loadu_si256((const __m256i *)(p + 32))});
}
INLINE __m256i half_dot4_small(__m256i c, __m256i w, __m256i four) {
    return _mm256_add_epi32(c,
                            _mm256_madd_epi16(_mm256_maddubs_epi16(w, four), _mm256_set1_epi16(1)));
}
INLINE vi vi_dot4_small(vi c, vi w, const int8_t *x, int j) {
    __m256i four = _mm256_set1_epi32(four_bytes(x + 4 * j));
    return (vi){half_dot4_small(c.lo, w.lo, four), half_dot4_small(c.hi, w.hi, four)};
}
typedef split_fours fours;
INLINE fours load_k4(const int8_t *q) { return load_k4_split(q); }
INLINE __m256i half_dot4(__m256i c, __m256i w_even, __m256i w_odd, __m256i even, __m256i odd) {
    return _mm256_add_epi32(_mm256_add_epi32(c, _mm256_madd_epi16(w_even, even)),
                            _mm256_madd_epi16(w_odd, odd));
}
INLINE vi vi_dot4(vi c, const weights4 *w, const fours *x, int j) {
    __m256i even = _mm256_set1_epi32(x->even[j]), odd = _mm256_set1_epi32(x->odd[j]);
    return (vi){half_dot4(c.lo, w->lo_even, w->lo_odd, even, odd),
                half_dot4(c.hi, w->hi_even, w->hi_odd, even, odd)};
}

// Weights of 0 to 63: a step of vpmaddubsw adds two products to each sum of 16 bits, and one
// vpmaddwd serves several steps.
#define VEC_WORDS         1
enum { WORDS_PRODUCTS = 2, WORDS_WIDE = 0, WORDS_ROWS = 6 };
typedef vi word_weights;
typedef vi vi_words;
typedef vi vi_halves;
INLINE word_weights word_weights_of(vi w, bool wide) {
    (void)wide;
    return w;
}
INLINE vi_words vi_words_add(vi_words s, const word_weights *w, const int8_t *x, int j) {
    __m256i four = _mm256_set1_epi32(four_bytes(x + 4 * j));
    return (vi){_mm256_add_epi16(s.lo, _mm256_maddubs_epi16(w->lo, four)),
                _mm256_add_epi16(s.hi, _mm256_maddubs_epi16(w->hi, four))};
}
// Keeps compilers from taking row after row, for which all steps' unpacked weights would go through
// memory.
#define WORDS_IN_ORDER(s) __asm__ volatile("" : "+x"((s).lo), "+x"((s).hi))
INLINE vi_halves vi_halves_add(vi_halves s, vi_words words) {
    __m256i ones = _mm256_set1_epi16(1);
    return vi_add(s, (vi){_mm256_madd_epi16(words.lo, ones), _mm256_madd_epi16(words.hi, ones)});
}
INLINE vi vi_of_halves(vi_halves s) { return s; }

// Weights less 128 by rows of bytes from 0 to 255: two of these products fit 16 bits where the
// magnitudes of the two weights add up to 128 at most.
#define VEC_PAIRS_FIT     1
INLINE void bytes_of_row(const int8_t *q, uint8_t *x) {  // 32 of q + 128
    _mm256_storeu_si256((__m256i *)x, _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)q),
                                                       _mm256_set1_epi8(-128)));
}
INLINE vi signed_weights(vi w) {
    __m256i offset = _mm256_set1_epi8(-128);
    return (vi){_mm256_xor_si256(w.lo, offset), _mm256_xor_si256(w.hi, offset)};
}
INLINE vi vi_dot4_no_saturation(vi c, vi w, const uint8_t *x, int j) {
    __m256i four = _mm256_set1_epi32(four_bytes((const int8_t *)x + 4 * j));
    return vi_halves_add(c,
                         (vi){_mm256_maddubs_epi16(four, w.lo), _mm256_maddubs_epi16(four, w.hi)});
}
#endif
