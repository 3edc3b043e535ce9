// Dot products of pairs of bf16, added up in f32: AVX512-BF16, and the tiles of AMX. For
// --math=fast alone: subnormals count as zero, and the bits are those of no other CPU
// (matmul_rounded.h).
#define VEC_BF16 1

// Two vectors rounded to bf16, one after the other
INLINE void vf_store_bf16_fast(uint16_t *p, vf first, vf second) {
    _mm512_storeu_si512(p, (__m512i)_mm512_cvtne2ps_pbh(second, first));
}

// Two rows of 16 bf16 to 16 pairs; of one row and of none the rest is zero
INLINE void vi_store_pairs(uint16_t *to, const uint16_t *rows, int n) {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i order =
        _mm512_or_si512(lane, _mm512_slli_epi32(_mm512_add_epi32(lane, _mm512_set1_epi32(16)), 16));
    __m512i line = _mm512_maskz_loadu_epi16(n >= 2 ? 0xffffffff : n == 1 ? 0xffff : 0, rows);
    _mm512_storeu_si512(to, _mm512_permutexvar_epi16(order, line));
}

#if defined(__AMX_BF16__)
// Tiles of 16 rows of 64 bytes: 0 to 3 hold the sums of two tiles of rows by two panels, 4 and 5
// rows, 6 and 7 weights.
#define VEC_BF16_TILES 1
INLINE void bf16_tiles_begin(void) {
    struct {
        _Alignas(64) uint8_t palette;
        uint8_t start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } config = {.palette = 1};
    for (int i = 0; i < 8; i++) config.rows[i] = 16, config.row_bytes[i] = 64;
    __asm__ volatile("" ::: "memory");  // gcc 12 does not see that the configuration is read
    _tile_loadconfig(&config);
}
INLINE void bf16_tiles_end(void) { _tile_release(); }

INLINE void bf16_tiles_zero(void) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}

// sums[row][panel][16]
#define BF16_TILE_SUMS(instruction, sums)             \
    instruction(0, sums, 128);                        \
    if (P > 1) instruction(1, (sums) + 16, 128);      \
    if (R > 1) instruction(2, (sums) + 16 * 32, 128); \
    if (R > 1 && P > 1) instruction(3, (sums) + 16 * 32 + 16, 128)
INLINE void bf16_tiles_load(int R, int P, const float *sums) { BF16_TILE_SUMS(_tile_loadd, sums); }
INLINE void bf16_tiles_store(int R, int P, float *sums) { BF16_TILE_SUMS(_tile_stored, sums); }
#undef BF16_TILE_SUMS

// Adds the products of R tiles of rows [16][32], `tile` elements apart, and P of paired weights
// [16][16][2], `panel` apart
INLINE void bf16_tiles_add(int R, int P, const uint16_t *x, size_t tile, const uint16_t *w,
                           size_t panel) {
    _tile_loadd(4, x, 64);
    _tile_loadd(6, w, 64);
    _tile_dpbf16ps(0, 4, 6);
    if (P > 1) _tile_loadd(7, w + panel, 64);
    if (P > 1) _tile_dpbf16ps(1, 4, 7);
    if (R > 1) _tile_loadd(5, x + tile, 64);
    if (R > 1) _tile_dpbf16ps(2, 5, 6);
    if (R > 1 && P > 1) _tile_dpbf16ps(3, 5, 7);
}
#else
INLINE void bf16_tiles_begin(void) {}
INLINE void bf16_tiles_end(void) {}
// c + the products of a pair, in every lane, by sixteen pairs of weights
INLINE vf vf_dot2(vf c, const uint16_t *pair, const uint16_t *w) {
    int32_t two;
    memcpy(&two, pair, sizeof two);
    return _mm512_dpbf16_ps(c, (__m512bh)_mm512_set1_epi32(two), (__m512bh)_mm512_loadu_si512(w));
}
#endif
