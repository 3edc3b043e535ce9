// What the AVX2 and the AVX-512 vector share.
#include <immintrin.h>

// The last three steps of the tree, once lane i has taken in lane i + 8: then i + 4, i + 2, i + 1.
#define TREE_OF_8(step, eight)                                                          \
    __m256 h = eight;                                                                   \
    __m128 q = _mm_##step##_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1)); \
    q = _mm_##step##_ps(q, _mm_movehl_ps(q, q));                                        \
    return _mm_cvtss_f32(_mm_##step##_ss(q, _mm_shuffle_ps(q, q, 1)))

// The eight fours of 32 activations as 16-bit pairs, of even and of odd bytes: without VNNI.
typedef struct {
    int32_t even[8], odd[8];
} split_fours;
INLINE split_fours split_fours_load(const int8_t *q) {
    __m256i x = _mm256_loadu_si256((const __m256i *)q);
    split_fours f;
    _mm256_storeu_si256((__m256i *)f.even, _mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8));
    _mm256_storeu_si256((__m256i *)f.odd, _mm256_srai_epi16(x, 8));
    return f;
}
