// Decoders of block formats, from bytes as GGUF files hold them (ggml's ggml-common.h defines the
// layouts) to integers and scales.
#include "ir/format.h"

#include <math.h>
#include <string.h>

#include "ir/convert.h"
#include "ir/encode.h"
#include "kernels/quantize.h"

// Values of nibbles: IQ4_NL and IQ4_XS; twice the values of E2M1 (MXFP4)
const int8_t iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                               1,    13,   25,  38,  53,  69,  89,  113};
const int8_t e2m1_values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

static float half_at(const uint8_t *p) {
    uint16_t bits;
    memcpy(&bits, p, sizeof bits);
    return sf_from_f16(bits);
}

static int nibble(uint8_t byte, int upper) { return byte >> 4 * upper & 15; }
static int two_bits(uint8_t byte, int which) { return byte >> 2 * which & 3; }

// One scale, no minimum: for blocks and super-blocks without scales of their groups.
static void set_scale(CodedBlock *c, float d, float m) {
    c->d = d, c->m = m;
    for (int g = 0; g < FORMAT_GROUPS; g++) c->scale[g] = c->minimum[g] = 1;
}

// ------------------------------------------------------------------------------------ blocks of 32
// Low nibbles are the first half. Bit i of `high`, when there is one, is the fifth of value i.
static void set_nibbles(CodedBlock *c, const uint8_t *nibbles, const uint8_t *high, int offset) {
    uint32_t fifth = 0;
    if (high) memcpy(&fifth, high, sizeof fifth);
    for (int i = 0; i < 32; i++)
        c->q[i] = (int8_t)((nibble(nibbles[i % 16], i / 16) | (int)(fifth >> i & 1) << 4) - offset);
}

static void decode_q4_0(const uint8_t *b, CodedBlock *c) {
    set_scale(c, half_at(b), 0), set_nibbles(c, b + 2, NULL, 8);
}
static void decode_q4_1(const uint8_t *b, CodedBlock *c) {
    set_scale(c, half_at(b), half_at(b + 2)), set_nibbles(c, b + 4, NULL, 0);
}
static void decode_q5_0(const uint8_t *b, CodedBlock *c) {
    set_scale(c, half_at(b), 0), set_nibbles(c, b + 6, b + 2, 16);
}
static void decode_q5_1(const uint8_t *b, CodedBlock *c) {
    set_scale(c, half_at(b), half_at(b + 2)), set_nibbles(c, b + 8, b + 4, 0);
}

static void decode_q8_0(const uint8_t *b, CodedBlock *c) {
    set_scale(c, half_at(b), 0);
    memcpy(c->q, b + 2, 32);
}

static void set_looked_up(CodedBlock *c, const uint8_t *nibbles, const int8_t table[16]) {
    for (int i = 0; i < 32; i++) c->q[i] = table[nibble(nibbles[i % 16], i / 16)];
}

static void decode_iq4_nl(const uint8_t *b, CodedBlock *c) {
    set_scale(c, half_at(b), 0);
    set_looked_up(c, b + 2, iq4_values);
}

static void decode_mxfp4(const uint8_t *b, CodedBlock *c) {
    set_scale(c, (float)ldexp(1, b[0] - 128), 0);
    set_looked_up(c, b + 1, e2m1_values);
}

// A bit a value, the first lowest: 1 or -1
static void decode_q1_0(const uint8_t *b, CodedBlock *c) {
    set_scale(c, half_at(b), 0);
    for (int i = 0; i < 128; i++) c->q[i] = b[2 + i / 8] >> i % 8 & 1 ? 1 : -1;
}

// Two bits a value, four in a byte, the first lowest: -1, 0, 1, 2
static void decode_q2_0(const uint8_t *b, CodedBlock *c) {
    set_scale(c, half_at(b), 0);
    for (int i = 0; i < 64; i++) c->q[i] = (int8_t)(two_bits(b[2 + i / 4], i % 4) - 1);
}

// --------------------------------------------------------- blocks of folders: d, zero point, codes
static float float_at(const uint8_t *p) {
    float value;
    memcpy(&value, p, sizeof value);
    return value;
}

// A stream of bits, the first code lowest
static int code_at(const uint8_t *codes, int i, int bits) {
    int at = i * bits / 8, shift = i * bits % 8, field = codes[at] >> shift;
    if (shift + bits > 8) field |= codes[at + 1] << (8 - shift);
    return field & ((1 << bits) - 1);
}

static void set_codes(CodedBlock *c, const uint8_t *codes, int n, int bits, int offset) {
    for (int i = 0; i < n; i++) c->q[i] = (int8_t)(code_at(codes, i, bits) - offset);
}

static void set_zero(CodedBlock *c, int zero) {
    for (int g = 0; g < FORMAT_GROUPS; g++) c->minimum[g] = (int16_t)zero;
}

static void set_signed(CodedBlock *c, const uint8_t *codes, int n, int bits) {
    set_codes(c, codes, n, bits, 1 << (bits - 1));
}

// d, the zero point, codes
static void decode_zero(const uint8_t *b, int n, int bits, CodedBlock *c) {
    set_scale(c, half_at(b), 0), set_zero(c, (int8_t)b[2]), set_signed(c, b + 3, n, bits);
}

static void decode_float_zero(const uint8_t *b, int n, int bits, CodedBlock *c) {
    set_scale(c, float_at(b), 0), set_zero(c, (int8_t)b[4]), set_signed(c, b + 5, n, bits);
}

// d, the zero point, m, codes
static void decode_ends(const uint8_t *b, int n, int bits, CodedBlock *c) {
    set_scale(c, float_at(b), float_at(b + 5)), set_zero(c, (int8_t)b[4]),
        set_signed(c, b + 9, n, bits);
}

#define DECODE(name, how, n, bits) \
    static void decode_##name(const uint8_t *b, CodedBlock *c) { how(b, n, bits, c); }
DECODE(z2_32, decode_zero, 32, 2)
DECODE(z2_64, decode_zero, 64, 2)
DECODE(z2_128, decode_zero, 128, 2)
DECODE(z3_32, decode_zero, 32, 3)
DECODE(z3_64, decode_zero, 64, 3)
DECODE(z3_128, decode_zero, 128, 3)
DECODE(z4_32, decode_zero, 32, 4)
DECODE(z4_64, decode_zero, 64, 4)
DECODE(z4_128, decode_zero, 128, 4)
DECODE(z8_32, decode_zero, 32, 8)
DECODE(z8_128, decode_zero, 128, 8)
DECODE(zf2_32, decode_float_zero, 32, 2)
DECODE(zf2_128, decode_float_zero, 128, 2)
DECODE(zf4_32, decode_float_zero, 32, 4)
DECODE(zf4_128, decode_float_zero, 128, 4)
DECODE(zf8_32, decode_float_zero, 32, 8)
DECODE(zf8_128, decode_float_zero, 128, 8)
DECODE(l2_64, decode_ends, 64, 2)
DECODE(l3_64, decode_ends, 64, 3)
DECODE(l4_32, decode_ends, 32, 4)
DECODE(l4_64, decode_ends, 64, 4)
DECODE(l5_64, decode_ends, 64, 5)
DECODE(l6_32, decode_ends, 32, 6)
DECODE(l6_64, decode_ends, 64, 6)
DECODE(l8_32, decode_ends, 32, 8)
DECODE(l8_64, decode_ends, 64, 8)
DECODE(f2_64, decode_ends, 64, 2)
DECODE(f3_64, decode_ends, 64, 3)
DECODE(f4_32, decode_ends, 32, 4)
DECODE(f4_64, decode_ends, 64, 4)
DECODE(f8_32, decode_ends, 32, 8)
DECODE(f8_64, decode_ends, 64, 8)
#undef DECODE
static void decode_s8_128(const uint8_t *b, CodedBlock *c) {
    set_scale(c, half_at(b), 0), set_signed(c, b + 2, 128, 8);
}
static void decode_b8_32(const uint8_t *b, CodedBlock *c) {
    set_scale(c, float_at(b), 0), set_signed(c, b + 4, 32, 8);
}
static void decode_b8_128(const uint8_t *b, CodedBlock *c) {
    set_scale(c, float_at(b), 0), set_signed(c, b + 4, 128, 8);
}
static void decode_i8_32(const uint8_t *b, CodedBlock *c) {
    set_scale(c, 1, 0), memcpy(c->q, b, 32);
}
static void decode_i9_32(const uint8_t *b, CodedBlock *c) {
    decode_i8_32(b + 1, c), set_zero(c, (int8_t)b[0]);
}
static void decode_nf4_64(const uint8_t *b, CodedBlock *c) {
    set_scale(c, float_at(b), 0), set_codes(c, b + 4, 64, 4, 0);
}
static void decode_fp4_64(const uint8_t *b, CodedBlock *c) { decode_nf4_64(b, c); }
static void decode_e4m3_32(const uint8_t *b, CodedBlock *c) {
    set_scale(c, float_at(b), 0), set_codes(c, b + 4, 32, 8, 0);
}
static void decode_e4m3_128(const uint8_t *b, CodedBlock *c) {
    set_scale(c, float_at(b), 0), set_codes(c, b + 4, 128, 8, 0);
}

static void decode_nvfp4(const uint8_t *b, CodedBlock *c) {
    set_scale(c, float_at(b), 0);
    for (int g = 0; g < 4; g++) c->scale[g] = b[4 + g];
    for (int i = 0; i < 64; i++) c->q[i] = e2m1_values[nibble(b[8 + i / 2], i % 2)];
}
static void decode_nvfp4_d(const uint8_t *b, CodedBlock *c) { decode_nvfp4(b, c); }

// Codes of columns i and i + 16 in a byte, or bytes: q4_0, q8_0, mxfp4
static void put_halves(const Format *f, const int16_t *codes, uint8_t *out) {
    for (int i = 0; f->low == 8 && i < f->block; i++) out[i] = (uint8_t)codes[i];
    int offset = f->table == TABLE_PLAIN ? f->offset : 0, half = f->block / 2;
    for (int i = 0; f->low == 4 && i < half; i++)
        out[i] = (uint8_t)((codes[i] + offset) | (codes[i + half] + offset) << 4);
}

// As code_at has them
static void put_stream(const Format *f, const int16_t *codes, uint8_t *out) {
    int bits = f->low + f->high;
    memset(out, 0, (size_t)(f->block * bits / 8));
    for (int i = 0; i < f->block; i++) {
        int code = codes[i] + (f->table == TABLE_PLAIN ? f->offset : 0), at = i * bits / 8,
            shift = i * bits % 8;
        out[at] |= (uint8_t)(code << shift);
        if (shift + bits > 8) out[at + 1] |= (uint8_t)(code >> (8 - shift));
    }
}

static bool has_float_m(const Format *f) { return f->minimum >= MINIMUM_LINE; }

void block_write(const Format *f, BlockEnds ends, const int16_t *codes, uint8_t *out) {
    bool whole = f->scales == SCALES_FLOAT || f->scales == SCALES_127TH;
    uint16_t half = f16_from_float(ends.d);
    int exponent;
    if (f->scales == SCALES_EXPONENT)
        frexpf(ends.d, &exponent), *out = (uint8_t)(exponent + 126);  // times e2m1 twice
    else if (whole)
        memcpy(out, &ends.d, sizeof ends.d);
    else
        memcpy(out, &half, sizeof half);
    out += f->scales == SCALES_EXPONENT ? 1 : whole ? sizeof ends.d : sizeof half;
    if (format_has_zero(f)) *out++ = (uint8_t)ends.zero;
    if (has_float_m(f)) memcpy(out, &ends.m, sizeof ends.m), out += sizeof ends.m;
    (f->ggml < 0 ? put_stream : put_halves)(f, codes, out);
}

// ----------------------------------------------------------------------------------- blocks of 256
// Six bits each of eight scales and minima in 12 bytes: of Q4_K and Q5_K. Minima are subtracted.
static void set_pairs(CodedBlock *c, const uint8_t *b) {
    const uint8_t *s = b + 4;
    c->d = half_at(b), c->m = -half_at(b + 2);
    for (int j = 0; j < 8; j++) {
        c->scale[j] = (int16_t)(j < 4 ? s[j] & 63 : (s[j + 4] & 15) | s[j - 4] >> 6 << 4);
        c->minimum[j] = (int16_t)(j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | s[j] >> 6 << 4);
    }
}

static void decode_q4_k(const uint8_t *b, CodedBlock *c) {
    set_pairs(c, b);
    for (int i = 0; i < 256; i++)
        c->q[i] = (int8_t)nibble(b[16 + 32 * (i / 64) + i % 32], i / 32 % 2);
}

static void decode_q5_k(const uint8_t *b, CodedBlock *c) {
    set_pairs(c, b);
    for (int i = 0; i < 256; i++) {
        int fifth = b[16 + i % 32] >> i / 32 & 1;
        c->q[i] = (int8_t)(nibble(b[48 + 32 * (i / 64) + i % 32], i / 32 % 2) | fifth << 4);
    }
}

static void decode_q6_k(const uint8_t *b, CodedBlock *c) {
    set_scale(c, half_at(b + 208), 0);
    for (int g = 0; g < 16; g++) c->scale[g] = (int8_t)b[192 + g];
    for (int i = 0; i < 256; i++) {
        int half = i / 128, part = i % 128 / 32,
            low = nibble(b[64 * half + 32 * (part & 1) + i % 32], part >> 1);
        c->q[i] = (int8_t)((low | two_bits(b[128 + 32 * half + i % 32], part) << 4) - 32);
    }
}

// Two bits of value i of Q2_K, Q3_K and TQ2_0
static int low_two(const uint8_t *q, int i) {
    return two_bits(q[32 * (i / 128) + i % 32], i / 32 % 4);
}

static void decode_q2_k(const uint8_t *b, CodedBlock *c) {
    c->d = half_at(b + 80), c->m = -half_at(b + 82);
    for (int g = 0; g < 16; g++) c->scale[g] = b[g] & 15, c->minimum[g] = b[g] >> 4;
    for (int i = 0; i < 256; i++) c->q[i] = (int8_t)low_two(b + 16, i);
}

static void decode_q3_k(const uint8_t *b, CodedBlock *c) {
    const uint8_t *s = b + 96;
    set_scale(c, half_at(b + 108), 0);
    for (int g = 0; g < 16; g++)
        c->scale[g] =
            (int16_t)((nibble(s[g % 8], g / 8) | two_bits(s[8 + g % 4], g / 4) << 4) - 32);
    for (int i = 0; i < 256; i++)
        c->q[i] = (int8_t)(low_two(b + 32, i) - (b[i % 32] >> i / 32 & 1 ? 0 : 4));
}

static void decode_iq4_xs(const uint8_t *b, CodedBlock *c) {
    set_scale(c, half_at(b), 0);
    for (int j = 0; j < 8; j++) {
        c->scale[j] =
            (int16_t)((nibble(b[4 + j / 2], j % 2) | two_bits(b[2 + j / 4], j % 4) << 4) - 32);
        for (int i = 0; i < 32; i++)
            c->q[32 * j + i] = iq4_values[nibble(b[8 + 16 * j + i % 16], i / 16)];
    }
}

static void decode_tq2_0(const uint8_t *b, CodedBlock *c) {
    set_scale(c, half_at(b + 64), 0);
    for (int i = 0; i < 256; i++) c->q[i] = (int8_t)(low_two(b, i) - 1);
}

// Digit n of a byte: its leading one after n digits were shifted out; the byte is a fraction in
// base 3.
static int ternary(uint8_t byte, int n) {
    static const uint8_t powers[] = {1, 3, 9, 27, 81};
    return (uint8_t)(byte * powers[n]) * 3 >> 8;
}

static void decode_tq1_0(const uint8_t *b, CodedBlock *c) {
    set_scale(c, half_at(b + 52), 0);
    for (int i = 0; i < 160; i++) c->q[i] = (int8_t)(ternary(b[i % 32], i / 32) - 1);
    for (int i = 0; i < 80; i++) c->q[160 + i] = (int8_t)(ternary(b[32 + i % 16], i / 16) - 1);
    for (int i = 0; i < 16; i++) c->q[240 + i] = (int8_t)(ternary(b[48 + i % 4], i / 4) - 1);
}

// --------------------------------------------------------------------------------------- the table
const Format formats[] = {
#define FORMAT(name, id, block, bytes, low, high, group, scales, minimum, offset, table, encode) \
    {DT_##name,                                                                                  \
     #name,                                                                                      \
     id,                                                                                         \
     block,                                                                                      \
     bytes,                                                                                      \
     low,                                                                                        \
     high,                                                                                       \
     group,                                                                                      \
     SCALES_##scales,                                                                            \
     MINIMUM_##minimum,                                                                          \
     offset,                                                                                     \
     TABLE_##table,                                                                              \
     decode_##name,                                                                              \
     encode},
#include "kernels/format_rows.h"
#undef FORMAT
};
const int n_formats = sizeof formats / sizeof *formats;

const Format *format_of(DType t) {
    for (int i = 0; i < n_formats; i++)
        if (formats[i].dtype == t) return &formats[i];
    return NULL;
}

const Format *format_of_ggml(int id) {
    for (int i = 0; i < n_formats; i++)
        if (formats[i].ggml == id) return &formats[i];
    return NULL;
}

bool dtype_is_block(DType t) { return format_of(t) != NULL; }

bool format_has_minimum(const Format *f) { return f->minimum > MINIMUM_ZERO; }
bool format_has_zero(const Format *f) { return f->minimum == MINIMUM_ZERO || has_float_m(f); }
bool format_takes_integers(const Format *f) { return f->table < TABLE_NF4 && !format_is_exact(f); }
bool format_is_exact(const Format *f) { return f->scales == SCALES_NONE; }
bool format_is_made(const Format *f) { return f->encode && !format_is_exact(f); }
bool format_has_panel_d(const Format *f) { return f->scales >= SCALES_E4M3; }
bool format_has_fits(const Format *f) { return format_is_exact(f) && f->minimum == MINIMUM_NONE; }
int64_t format_panel_end(const Format *f, int64_t blocks) {
    const int64_t columns = 16 * (int64_t)sizeof(int32_t);
    if (format_has_fits(f)) return 2 * columns + (blocks + 63) / 64 * 64;
    return format_is_exact(f) || format_has_panel_d(f) ? columns : 0;
}

// Of a code of e4m3; the two of NaN are none
static float e4m3_value(uint8_t code) {
    int exponent = code >> 3 & 15, fraction = code & 7;
    float value =
        ldexpf((float)(exponent ? fraction | 8 : fraction), (exponent ? exponent : 1) - 10);
    return code & 128 ? -value : value;
}

float coded_scale(const Format *f, const CodedBlock *c, int group) {
    if (f->scales == SCALES_E4M3) return c->d * e4m3_value((uint8_t)c->scale[group]);
    if (f->scales == SCALES_E4M3_OVER) return e4m3_value((uint8_t)c->scale[group]) / c->d;
    return f->scales == SCALES_127TH ? c->d * one_127th : c->d * (float)c->scale[group];
}

int coded_zero(const Format *f, const CodedBlock *c, int group) {
    return format_has_zero(f) ? c->minimum[group] : 0;
}

float coded_minimum(const Format *f, const CodedBlock *c, int group) {
    if (f->minimum == MINIMUM_FRACTION) return -(c->d * c->m);
    return !format_has_minimum(f) ? 0 : has_float_m(f) ? c->m : c->m * (float)c->minimum[group];
}

// The value of q[i] without scale and minimum
static float number_of(const Format *f, const CodedBlock *c, int i) {
    if (f->table == TABLE_NF4) return nf4_table[c->q[i]];
    if (f->table == TABLE_FP4) return fp4_table[c->q[i]];
    if (f->table == TABLE_E4M3) return e4m3_value((uint8_t)c->q[i]);
    float number = (float)(c->q[i] - coded_zero(f, c, i / f->group));
    return f->minimum == MINIMUM_FRACTION ? number - c->m : number;
}

void coded_values(const Format *f, const CodedBlock *c, float *values) {
    for (int i = 0; i < f->block; i++) {
        int g = i / f->group;
        float number = number_of(f, c, i);
        values[i] =
            f->scales == SCALES_127TH ? c->d * number * one_127th : coded_scale(f, c, g) * number;
        if (format_has_minimum(f) && f->minimum != MINIMUM_FRACTION)
            values[i] += coded_minimum(f, c, g);
    }
}

int64_t format_panel_bytes(const Format *f) {
    static const int bytes_a_group[] = {
        [SCALES_BYTES] = 16, [SCALES_SIGNED] = 16, [SCALES_PAIRED] = 16,
        [SCALES_SIX] = 12,   [SCALES_E4M3] = 16,   [SCALES_E4M3_OVER] = 16};
    static const int bytes_of_d[] = {
        [SCALES_NONE] = 0,      [SCALES_ONE] = 32,   [SCALES_FLOAT] = 64,   [SCALES_127TH] = 64,
        [SCALES_EXPONENT] = 16, [SCALES_BYTES] = 32, [SCALES_SIGNED] = 32,  [SCALES_PAIRED] = 32,
        [SCALES_SIX] = 32,      [SCALES_E4M3] = 0,   [SCALES_E4M3_OVER] = 0};
    int groups = f->block / f->group, low = f->low == 5 ? 13 * 64 : f->block * 2 * f->low;
    int ends = bytes_of_d[f->scales] +
               (has_float_m(f)          ? 64
                : format_has_minimum(f) ? 32
                                        : 0) +
               (format_has_zero(f) ? 16 : 0);
    return low + f->block * 2 * f->high +
           groups * (bytes_a_group[f->scales] + (f->minimum == MINIMUM_BYTES ? 16 : 0)) + ends;
}

void format_read(const Format *f, const void *data, int64_t first, int64_t step, int64_t n,
                 float *values) {
    CodedBlock coded;
    float block[FORMAT_BLOCK];
    for (int64_t i = 0, decoded = -1; i < n; i++) {
        int64_t at = first + i * step;
        if (at / f->block != decoded) {
            decoded = at / f->block;
            f->decode((const uint8_t *)data + decoded * f->bytes, &coded);
            coded_values(f, &coded, block);
        }
        values[i] = block[at % f->block];
    }
}

// The offset of d, an f16, in a block of a file; the minimum's follows
static int place_of_d(const Format *f) {
    switch (f->dtype) {
        case DT_q2_k:
            return 80;
        case DT_q3_k:
            return 108;
        case DT_q6_k:
            return 208;
        case DT_tq1_0:
            return 52;
        case DT_tq2_0:
            return 64;
        default:
            return 0;
    }
}

static bool has_float_d(const Format *f) {
    return f->scales == SCALES_FLOAT || f->scales == SCALES_127TH || format_has_panel_d(f);
}

int64_t block_not_finite(const Format *f, const void *data, int64_t n) {
    const uint8_t *at = (const uint8_t *)data + place_of_d(f);
    for (int64_t i = 0; i < n; i++, at += f->bytes) {
        bool finite = f->scales == SCALES_EXPONENT
                          ? *at != 255
                          : isfinite(has_float_d(f) ? float_at(at) : half_at(at));
        if (has_float_m(f))
            finite &= isfinite(float_at(at + 5)) != 0;
        else if (format_has_minimum(f))
            finite &= isfinite(half_at(at + 2)) != 0;
        if (!finite) return i;
    }
    return -1;
}

// -------------------------------------------------------------------------------- formats of codes
static bool is_written(const Format *f) {
    return f->ggml < 0 || (f->block == 32 && f->low >= 4 && !f->high);
}

static bool holds(const Format *f, const CodedKind *k) {
    bool scales = f->scales == SCALES_FLOAT || (f->scales == SCALES_ONE && k->halves);
    bool minimum =
        f->minimum == k->minimum || (f->minimum == MINIMUM_ZERO && k->minimum == MINIMUM_NONE);
    bool in_groups = k->group && k->group % f->block == 0 && k->columns % f->block == 0;
    return scales && minimum && in_groups && f->table == TABLE_PLAIN &&
           f->low + f->high >= k->bits && is_written(f);
}

const Format *format_of_codes(const CodedKind *k, const Format *best) {
    for (int i = 0; i < n_formats; i++) {
        const Format *f = &formats[i];
        if (holds(f, k) && (!best || f->bytes * best->block < best->bytes * f->block)) best = f;
    }
    return best;
}

bool floats_are_halves(DType type, const void *data, int64_t n) {
    for (int64_t i = 0; i < n && type != DT_f16; i++) {
        float x = (float)dtype_load(type, data, i);
        if (sf_from_f16(f16_from_float(x)) != x) return false;
    }
    return true;
}
