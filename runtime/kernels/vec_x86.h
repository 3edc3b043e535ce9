// Common code of the AVX2 and AVX-512 vectors.

// So clang's header leaves out instructions that -march does not allow, which take longer to parse
// than a small model.
#if defined(__clang__) && !defined(__SCE__)
#define __SCE__
#include <immintrin.h>
#undef __SCE__
#else
#include <immintrin.h>
#endif

// The last three steps of the tree, once lane i has taken in lane i + 8: then i + 4, i + 2, i + 1.
#define TREE_OF_8(step, eight)                                                          \
    __m256 h = eight;                                                                   \
    __m128 q = _mm_##step##_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1)); \
    q = _mm_##step##_ps(q, _mm_movehl_ps(q, q));                                        \
    return _mm_cvtss_f32(_mm_##step##_ss(q, _mm_shuffle_ps(q, q, 1)))

// The most of each of four vectors whose halves have become one
#define VEC_TOPS 1
INLINE void tops_of_8(__m256 a, __m256 b, __m256 c, __m256 d, float top[4]) {
    __m256 ab = _mm256_max_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    __m256 cd = _mm256_max_ps(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
    __m256 most = _mm256_max_ps(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xee));
    _mm_storeu_ps(top, _mm_max_ps(_mm256_castps256_ps128(most), _mm256_extractf128_ps(most, 1)));
}

#define VEC_SUM_I8 1
INLINE int32_t si_sum_i8(const int8_t *p) {
    __m128i bytes = _mm_xor_si128(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8(-128));
    __m128i sums = _mm_sad_epu8(bytes, _mm_setzero_si128());  // of bytes + 128
    return _mm_cvtsi128_si32(_mm_add_epi32(sums, _mm_unpackhi_epi64(sums, sums))) - 16 * 128;
}

// The eight fours of 32 activations as 16-bit pairs, of even and of odd bytes: without VNNI.
typedef struct {
    int32_t even[8], odd[8];
} split_fours;
INLINE split_fours load_k4_split(const int8_t *q) {
    __m256i x = _mm256_loadu_si256((const __m256i *)q);
    split_fours f;
    _mm256_storeu_si256((__m256i *)f.even, _mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8));
    _mm256_storeu_si256((__m256i *)f.odd, _mm256_srai_epi16(x, 8));
    return f;
}
