// The instructions of AVX-512, VNNI, BF16 and AMX as functions, for CPUs without them: tests/x86/clang
// puts this before each source and lets LLVM's intrinsics of these instructions call it:
// llvm.x86.avx512.max.ps.512 becomes emulated_avx512_max_ps_512. Where AVX2 has an instruction for
// half a register, both halves are its work. No header of the C library is read: a source comes
// behind.
#pragma GCC system_header
#define EMULATED static __attribute__((always_inline, used))

typedef float emulated_f32x16 __attribute__((vector_size(64)));
typedef float emulated_f32x8 __attribute__((vector_size(32)));
typedef int emulated_i32x16 __attribute__((vector_size(64)));
typedef int emulated_i32x8 __attribute__((vector_size(32)));
typedef int emulated_i32x4 __attribute__((vector_size(16)));
typedef short emulated_i16x32 __attribute__((vector_size(64)));
typedef short emulated_i16x16 __attribute__((vector_size(32)));
typedef short emulated_i16x8 __attribute__((vector_size(16)));
typedef char emulated_i8x64 __attribute__((vector_size(64)));
typedef char emulated_i8x32 __attribute__((vector_size(32)));
typedef __bf16 emulated_bf16x32 __attribute__((vector_size(64)));

EMULATED void emulated_require(int ok) {
    if (!ok) __builtin_abort();
}

// ------------------------------------------------------------------------------------- both halves
// R NAME(A a, A b), each half by an instruction from HA to HR
#define EMULATED_HALVES_2(NAME, R, HR, A, HA, half)                              \
    EMULATED R NAME(A a, A b) {                                                  \
        union {                                                                  \
            A all;                                                               \
            HA half[2];                                                          \
        } from = {a}, by = {b};                                                  \
        union {                                                                  \
            R all;                                                               \
            HR half[2];                                                          \
        } to;                                                                    \
        for (int i = 0; i < 2; i++) to.half[i] = half(from.half[i], by.half[i]); \
        return to.all;                                                           \
    }
// R NAME(A a), where `half` is an expression of x
#define EMULATED_HALVES_1(NAME, R, HR, A, HA, ...) \
    EMULATED R NAME(A a) {                         \
        union {                                    \
            A all;                                 \
            HA half[2];                            \
        } from = {a};                              \
        union {                                    \
            R all;                                 \
            HR half[2];                            \
        } to;                                      \
        for (int i = 0; i < 2; i++) {              \
            HA x = from.half[i];                   \
            to.half[i] = __VA_ARGS__;              \
        }                                          \
        return to.all;                             \
    }
EMULATED_HALVES_2(emulated_avx512_pmaddubs_w_512, emulated_i16x32, emulated_i16x16, emulated_i8x64,
                  emulated_i8x32, __builtin_ia32_pmaddubsw256)
EMULATED_HALVES_2(emulated_avx512_pmaddw_d_512, emulated_i32x16, emulated_i32x8, emulated_i16x32,
                  emulated_i16x16, __builtin_ia32_pmaddwd256)
EMULATED_HALVES_2(emulated_max, emulated_f32x16, emulated_f32x8, emulated_f32x16, emulated_f32x8,
                  __builtin_ia32_maxps256)
EMULATED_HALVES_2(emulated_min, emulated_f32x16, emulated_f32x8, emulated_f32x16, emulated_f32x8,
                  __builtin_ia32_minps256)
EMULATED_HALVES_1(emulated_truncate, emulated_i32x16, emulated_i32x8, emulated_f32x16,
                  emulated_f32x8, __builtin_ia32_cvttps2dq256(x))
// to nearest, ties to even, whatever the mode is
EMULATED_HALVES_1(emulated_round, emulated_i32x16, emulated_i32x8, emulated_f32x16, emulated_f32x8,
                  __builtin_ia32_cvtps2dq256(__builtin_ia32_roundps256(x, 8)))
EMULATED_HALVES_1(emulated_to_f16, emulated_i16x16, emulated_i16x8, emulated_f32x16, emulated_f32x8,
                  __builtin_ia32_vcvtps2ph256(x, 0))

// ------------------------------------------------------------------------ modes of rounding, masks
enum {
    EMULATED_NEAREST = 8,
    EMULATED_CURRENT = 4
};  // an operand says how: to nearest without exceptions, or as MXCSR says
EMULATED emulated_f32x16 emulated_avx512_max_ps_512(emulated_f32x16 a, emulated_f32x16 b,
                                                    int mode) {
    emulated_require(mode == EMULATED_CURRENT);
    return emulated_max(a, b);
}
EMULATED emulated_f32x16 emulated_avx512_min_ps_512(emulated_f32x16 a, emulated_f32x16 b,
                                                    int mode) {
    emulated_require(mode == EMULATED_CURRENT);
    return emulated_min(a, b);
}
#define EMULATED_MASKED(to, keep, mask, lanes) \
    for (int lane = 0; lane < lanes; lane++)   \
        if (!((mask) >> lane & 1)) to[lane] = keep[lane]
EMULATED emulated_i32x16 emulated_avx512_mask_cvttps2dq_512(emulated_f32x16 a, emulated_i32x16 keep,
                                                            short mask, int mode) {
    emulated_require(mode == EMULATED_CURRENT);
    emulated_i32x16 to = emulated_truncate(a);
    EMULATED_MASKED(to, keep, mask, 16);
    return to;
}
EMULATED emulated_i32x16 emulated_avx512_mask_cvtps2dq_512(emulated_f32x16 a, emulated_i32x16 keep,
                                                           short mask, int mode) {
    emulated_require(mode == EMULATED_NEAREST);
    emulated_i32x16 to = emulated_round(a);
    EMULATED_MASKED(to, keep, mask, 16);
    return to;
}
EMULATED emulated_i16x16 emulated_avx512_mask_vcvtps2ph_512(emulated_f32x16 a, int mode,
                                                            emulated_i16x16 keep, short mask) {
    emulated_require(mode == EMULATED_NEAREST);
    emulated_i16x16 to = emulated_to_f16(a);
    EMULATED_MASKED(to, keep, mask, 16);
    return to;
}

// --------------------------------------------------------------------------- shifts, lookups, VNNI
EMULATED emulated_i32x16 emulated_avx512_psrli_d_512(emulated_i32x16 a, int n) {
    typedef unsigned lanes __attribute__((vector_size(64)));
    return (unsigned)n > 31 ? (emulated_i32x16){0} : (emulated_i32x16)((lanes)a >> (unsigned)n);
}
EMULATED emulated_i32x16 emulated_avx512_pslli_d_512(emulated_i32x16 a, int n) {
    return (unsigned)n > 31 ? (emulated_i32x16){0} : a << n;
}
EMULATED emulated_f32x16 emulated_avx512_permvar_sf_512(emulated_f32x16 table,
                                                        emulated_i32x16 index) {
    emulated_f32x16 to;
    for (int lane = 0; lane < 16; lane++) to[lane] = table[index[lane] & 15];
    return to;
}
EMULATED emulated_i16x32 emulated_avx512_permvar_hi_512(emulated_i16x32 table,
                                                        emulated_i16x32 index) {
    emulated_i16x32 to;
    for (int lane = 0; lane < 32; lane++) to[lane] = table[index[lane] & 31];
    return to;
}
EMULATED emulated_i8x64 emulated_avx512_pshuf_b_512(emulated_i8x64 table, emulated_i8x64 index) {
    emulated_i8x64 to;
    for (int lane = 0; lane < 64; lane++)
        to[lane] = index[lane] & 128 ? 0 : table[(lane & 48) + (index[lane] & 15)];
    return to;
}
// c += four unsigned bytes of a times four signed ones of b, without saturation
EMULATED int emulated_dot4(int c, int a, int b) {
    for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (signed char)(b >> i);
    return c;
}
#define EMULATED_DOT4(NAME, T, lanes)                           \
    EMULATED T NAME(T c, T a, T b) {                            \
        for (int lane = 0; lane < lanes; lane++)                \
            c[lane] = emulated_dot4(c[lane], a[lane], b[lane]); \
        return c;                                               \
    }
EMULATED_DOT4(emulated_avx512_vpdpbusd_128, emulated_i32x4, 4)
EMULATED_DOT4(emulated_avx512_vpdpbusd_256, emulated_i32x8, 8)
EMULATED_DOT4(emulated_avx512_vpdpbusd_512, emulated_i32x16, 16)

// -------------------------------------------------------------------------------------------- BF16
// Subnormals count as zero, on the way in and out; sums round to nearest even.
EMULATED float emulated_flushed(float a) {
    return __builtin_fabsf(a) < 0x1p-126f ? __builtin_copysignf(0, a) : a;
}
EMULATED float emulated_from_bf16(unsigned bits) {
    float a;
    __builtin_memcpy(&a, &bits, sizeof a);
    return emulated_flushed(a);
}
EMULATED unsigned emulated_to_bf16(float a) {
    unsigned bits;
    a = emulated_flushed(a);
    __builtin_memcpy(&bits, &a, sizeof bits);
    return a != a ? bits >> 16 | 64 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
// c + the product of two bf16 in the upper halves of these bits
EMULATED float emulated_fma(float c, unsigned a, unsigned b) {
    return emulated_flushed(
        __builtin_fmaf(emulated_from_bf16(a), emulated_from_bf16(b), emulated_flushed(c)));
}
// c + the products of two pairs, the upper first
EMULATED float emulated_dot2(float c, int a, int b) {
    const unsigned upper = 0xffff0000, x = (unsigned)a, y = (unsigned)b;
    return emulated_fma(emulated_fma(c, x & upper, y & upper), x << 16, y << 16);
}
EMULATED emulated_f32x16 emulated_avx512bf16_dpbf16ps_512(emulated_f32x16 c, emulated_bf16x32 a,
                                                          emulated_bf16x32 b) {
    const emulated_i32x16 x = (emulated_i32x16)a, y = (emulated_i32x16)b;
    for (int lane = 0; lane < 16; lane++) c[lane] = emulated_dot2(c[lane], x[lane], y[lane]);
    return c;
}
EMULATED emulated_bf16x32 emulated_avx512bf16_cvtne2ps2bf16_512(emulated_f32x16 upper,
                                                                emulated_f32x16 lower) {
    emulated_i32x16 to;
    for (int lane = 0; lane < 16; lane++) {
        const float *half = lane < 8 ? (const float *)&lower : (const float *)&upper;
        to[lane] = (int)(emulated_to_bf16(half[lane % 8 * 2]) |
                         emulated_to_bf16(half[lane % 8 * 2 + 1]) << 16);
    }
    return (emulated_bf16x32)to;
}

// --------------------------------------------------------------------------------------------- AMX
// Tiles are checked as the CPU checks them: an instruction on tiles whose extents do not fit each
// other ends the program.
__attribute__((weak, visibility("hidden"))) _Thread_local struct {
    unsigned char configured, rows[8];
    unsigned short row_bytes[8];
    unsigned char bytes[8][16][64];
} emulated_tiles;

EMULATED void emulated_ldtilecfg(const void *config) {
    const unsigned char *c = (const unsigned char *)config;
    emulated_require(c[0] == 1 && c[1] == 0);
    __builtin_memset(&emulated_tiles, 0, sizeof emulated_tiles);
    emulated_tiles.configured = 1;
    __builtin_memcpy(emulated_tiles.row_bytes, c + 16, sizeof emulated_tiles.row_bytes);
    __builtin_memcpy(emulated_tiles.rows, c + 48, sizeof emulated_tiles.rows);
    for (int t = 0; t < 8; t++)
        emulated_require(emulated_tiles.rows[t] <= 16 && emulated_tiles.row_bytes[t] <= 64 &&
                         !c[56 + t] && !c[32 + t]);
}
EMULATED void emulated_tilerelease(void) { emulated_tiles.configured = 0; }
EMULATED void emulated_tilezero(char t) {
    emulated_require(emulated_tiles.configured && emulated_tiles.rows[(int)t]);
    __builtin_memset(emulated_tiles.bytes[(int)t], 0, sizeof emulated_tiles.bytes[(int)t]);
}
EMULATED void emulated_tileloadd64(char t, const void *base, long stride) {
    emulated_tilezero(t);
    for (int r = 0; r < emulated_tiles.rows[(int)t]; r++)
        __builtin_memcpy(emulated_tiles.bytes[(int)t][r], (const char *)base + r * stride,
                         emulated_tiles.row_bytes[(int)t]);
}
EMULATED void emulated_tilestored64(char t, void *base, long stride) {
    emulated_require(emulated_tiles.configured && emulated_tiles.rows[(int)t]);
    for (int r = 0; r < emulated_tiles.rows[(int)t]; r++)
        __builtin_memcpy((char *)base + r * stride, emulated_tiles.bytes[(int)t][r],
                         emulated_tiles.row_bytes[(int)t]);
}
EMULATED void emulated_tile_fits(int c, int a, int b) {
    emulated_require(emulated_tiles.configured &&
                     emulated_tiles.rows[c] == emulated_tiles.rows[a] &&
                     emulated_tiles.row_bytes[a] == 4 * emulated_tiles.rows[b] &&
                     emulated_tiles.row_bytes[c] == emulated_tiles.row_bytes[b]);
}
// c[m][n] += a sum over k of the first bf16 of each pair of a[m][k] times that of b[k][n], plus one
// of the second
EMULATED void emulated_tdpbf16ps(char to, char left, char right) {
    const unsigned upper = 0xffff0000;
    int c = to, a = left, b = right;
    emulated_tile_fits(c, a, b);
    for (int m = 0; m < emulated_tiles.rows[c]; m++) {
        float sums[16], first[16] = {0}, second[16] = {0};
        for (int k = 0; k < emulated_tiles.rows[b]; k++) {
            unsigned x, y[16];
            __builtin_memcpy(&x, &emulated_tiles.bytes[a][m][4 * k], 4);
            __builtin_memcpy(y, emulated_tiles.bytes[b][k], 64);
            for (int n = 0; n < 16; n++) {
                first[n] = emulated_fma(first[n], x << 16, y[n] << 16);
                second[n] = emulated_fma(second[n], x & upper, y[n] & upper);
            }
        }
        __builtin_memcpy(sums, emulated_tiles.bytes[c][m], 64);
        for (int n = 0; n < 16; n++)
            sums[n] = emulated_flushed(emulated_flushed(sums[n]) +
                                       emulated_flushed(first[n] + second[n]));
        __builtin_memcpy(emulated_tiles.bytes[c][m], sums,
                         (unsigned long)emulated_tiles.row_bytes[c]);
    }
}
// c[m][n] += the sum over k of four signed bytes of a[m][k] times four signed bytes of b[k][n]
EMULATED void emulated_tdpbssd(char to, char left, char right) {
    int c = to, a = left, b = right;
    emulated_tile_fits(c, a, b);
    for (int m = 0; m < emulated_tiles.rows[c]; m++)
        for (int k = 0; k < emulated_tiles.rows[b]; k++) {
            int sums[16];
            signed char left4[4], right4[64];
            __builtin_memcpy(left4, &emulated_tiles.bytes[a][m][4 * k], 4);
            __builtin_memcpy(right4, emulated_tiles.bytes[b][k], 64);
            __builtin_memcpy(sums, emulated_tiles.bytes[c][m], 64);
            for (int n = 0; n < emulated_tiles.row_bytes[c] / 4; n++)
                for (int i = 0; i < 4; i++) sums[n] += left4[i] * right4[4 * n + i];
            __builtin_memcpy(emulated_tiles.bytes[c][m], sums, 64);
        }
}
