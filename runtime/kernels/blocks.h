// Panels of weights in blocks (format_rows.h): 16 columns side by side, a block of k after the
// other. A panel block is
//
//   low plane    [block k / 4 steps][16 columns][4 k]: 4 bits: two steps in 64 bytes, low nibbles first; 2 bits: four; 8: one;
//                base 3: five, and the last four of 256 k in 64 bytes of their own
//   high plane   64 bytes hold 8 / bits steps, the first in the lowest bits
//   scales       [group][16], by the format's row: SIX in the files' layout, [12][16]
//   minima       [group][16]
//   zero points  [16], for the block: signed, minus the same offset as q
//   d, m         16 f16 each; f32 are d of FLOAT and 127TH, m of LINE and FRACTION; an EXPONENT is one byte, NONE has none; E4M3 and
//                E4M3_OVER have 16 f32 after all of a panel's blocks
//
// so a step of four k of 16 columns is a shift and a mask of one load, whatever the target.
#ifndef BURIN_BLOCKS_H
#define BURIN_BLOCKS_H
#include "formats.h"
#include "quantize.h"

typedef enum {
    WEIGHT_F32,
    WEIGHT_F16,
    WEIGHT_BF16,
#define FORMAT(name, ...) WEIGHT_##name,
#include "format_rows.h"
#undef FORMAT
} weight_format;

typedef struct block_format {
    int block, low, high, group, scales, minimum, offset, table;
} block_format;

static const block_format block_formats[] = {
#define FORMAT(name, id, block, bytes, low, high, group, scales, minimum, offset, table, encode) \
    [WEIGHT_##name] = {block,  low,          high, group, SCALES_##scales, MINIMUM_##minimum,    \
                       offset, TABLE_##table},
#include "format_rows.h"
#undef FORMAT
};

// Values of nibbles, plus the format's offset
static const uint8_t iq4_table[16] = {1,   24,  45,  63,  79,  93,  106, 118,
                                      129, 141, 153, 166, 181, 197, 217, 241};
static const uint8_t e2m1_table[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

INLINE bool in_blocks(weight_format f) { return f > WEIGHT_BF16; }
INLINE bool has_minimum(weight_format f) { return block_formats[f].minimum > MINIMUM_ZERO; }
// Returns true if m is an f32.
INLINE bool has_float_minimum(weight_format f) { return block_formats[f].minimum >= MINIMUM_LINE; }
INLINE bool has_zero_point(weight_format f) {
    return block_formats[f].minimum == MINIMUM_ZERO || has_float_minimum(f);
}
// Returns true if q are the values, and products exact.
INLINE bool is_exact(weight_format f) {
    return in_blocks(f) && block_formats[f].scales == SCALES_NONE;
}
// Returns true if d is stored after a panel's blocks.
INLINE bool has_panel_d(weight_format f) {
    return in_blocks(f) && block_formats[f].scales >= SCALES_E4M3;
}
// Returns true if products take only rows of floats.
INLINE bool stands_for_floats(weight_format f) {
    return in_blocks(f) && block_formats[f].table >= TABLE_NF4;
}

// ---- offsets of the parts of a panel block ----

INLINE int block_groups(weight_format f) { return block_formats[f].block / block_formats[f].group; }
INLINE size_t block_high_at(weight_format f) {
    const block_format b = block_formats[f];
    return b.low == 5 ? 13 * 64 : (size_t)b.block * 2 * (size_t)b.low;
}
INLINE size_t block_scales_at(weight_format f) {
    return block_high_at(f) + (size_t)block_formats[f].block * 2 * (size_t)block_formats[f].high;
}
INLINE size_t block_minima_at(weight_format f) {
    const int scales = block_formats[f].scales, rows = scales <= SCALES_EXPONENT ? 0
                                                       : scales == SCALES_SIX    ? 12
                                                                                 : block_groups(f);
    return block_scales_at(f) + (size_t)rows * LANES;
}
INLINE size_t block_d_at(weight_format f) {
    const bool bytes = block_formats[f].minimum == MINIMUM_BYTES;
    return block_minima_at(f) + (bytes               ? (size_t)block_groups(f) * LANES
                                 : has_zero_point(f) ? LANES
                                                     : 0);
}
INLINE size_t block_m_bytes(weight_format f) {
    return !has_minimum(f) ? 0 : has_float_minimum(f) ? 4 * LANES : 2 * LANES;
}
INLINE size_t block_bytes(weight_format f) {
    const int scales = block_formats[f].scales;
    const size_t each = scales == SCALES_NONE || has_panel_d(f)            ? 0
                        : scales == SCALES_EXPONENT                        ? 1
                        : scales == SCALES_ONE || scales > SCALES_EXPONENT ? 2
                                                                           : 4;
    return block_d_at(f) + each * LANES + block_m_bytes(f);
}
INLINE size_t panel_blocks(weight_format f, int k) {
    return (size_t)((k + block_formats[f].block - 1) / block_formats[f].block);
}
INLINE size_t panel_blocks_bytes(weight_format f, int k) {
    return panel_blocks(f, k) * block_bytes(f);
}

// The part after the blocks of a panel: for E4M3 each column's d; for exact products 16 sums of its
// columns and, without zero points, 16 sums of those blocks that fit, and a flag byte for each
// block: it fits if all neighbours (k and k + 1, k + 2 and k + 3 of a column) have magnitudes that
// add up to 128 at most.
INLINE bool has_fits(weight_format f) {
    return is_exact(f) && block_formats[f].minimum == MINIMUM_NONE;
}
INLINE size_t panel_fit_sums_at(weight_format f, int k) {
    return panel_blocks_bytes(f, k) + LANES * sizeof(int32_t);
}
INLINE size_t panel_fits_at(weight_format f, int k) {
    return panel_fit_sums_at(f, k) + LANES * sizeof(int32_t);
}
INLINE size_t block_panel_bytes(weight_format f, int k) {
    if (has_fits(f)) return panel_fits_at(f, k) + (panel_blocks(f, k) + 63) / 64 * 64;
    return panel_blocks_bytes(f, k) + (is_exact(f) || has_panel_d(f) ? LANES * sizeof(int32_t) : 0);
}

// ---- steps: four k of 16 columns, one byte each, the format's offset still in it ----

INLINE vi bits_of_bytes(vi bytes, int shift, int bits) {
    return vi_and(vi_shift_right(bytes, shift), vi_set1(((1 << bits) - 1) * 0x01010101));
}

// Digit n of bytes that are fractions in base 3. Even and odd bytes apart, in 16 bits each.
INLINE vi ternary_digit(vi bytes, int n) {
    static const int powers[] = {1, 3, 9, 27, 81};
    vi mask = vi_set1(0x00ff00ff), power = vi_set1(powers[n]), three = vi_set1(3);
    vi even = vi_and(vi_mul(vi_and(bytes, mask), power), mask);
    vi odd = vi_and(vi_mul(vi_and(vi_shift_right(bytes, 8), mask), power), mask);
    even = vi_and(vi_shift_right(vi_mul(even, three), 8), mask);
    return vi_or(even, vi_and(vi_mul(odd, three), vi_set1((int)0xff00ff00u)));
}

INLINE vi low_plane(weight_format f, const uint8_t *w, unsigned step) {
    const unsigned bits = (unsigned)block_formats[f].low;
    if (bits == 5) return ternary_digit(vi_load_bytes(w + step / 5 * 64), (int)(step % 5));
    if (bits == 8) return vi_load_bytes(w + step * 64);
    return bits_of_bytes(vi_load_bytes(w + step / (8 / bits) * 64), (int)(step % (8 / bits) * bits),
                         (int)bits);
}

INLINE vi block_step(weight_format f, const uint8_t *w, unsigned step) {
    const block_format b = block_formats[f];
    vi q = low_plane(f, w, step);
    if (b.table == TABLE_SIGN) return vi_add(q, q);
    if (b.table == TABLE_IQ4) return vi_lookup(q, iq4_table);
    if (b.table == TABLE_E2M1) return vi_lookup(q, e2m1_table);
    if (!b.high) return q;
    const unsigned steps = 8 / (unsigned)b.high;
    vi high = bits_of_bytes(vi_load_bytes(w + block_high_at(f) + step / steps * 64),
                            (int)(step % steps) * b.high, b.high);
    return vi_or(q, vi_shift_left(high, b.low));
}

// ---- scales ----

// 2^(e - 128): bits of a float, the two least subnormal
INLINE vf exponent_scale(const uint8_t *e) {
    vi exponent = vi_load_u8(e);
    vi normal = vi_shift_left(vi_sub(exponent, vi_set1(1)), 23),
       tiny = vi_shift_left(vi_add(exponent, vi_set1(1)), 21);
    return vf_bits(vi_where(vi_less(exponent, vi_set1(2)), tiny, normal));
}

INLINE vf block_d(weight_format f, const uint8_t *w) {
    w += block_d_at(f);
    const int scales = block_formats[f].scales;
    if (scales == SCALES_NONE) return vf_set1(1);
    if (scales == SCALES_EXPONENT) return exponent_scale(w);
    if (scales == SCALES_FLOAT || scales == SCALES_127TH)
        return vf_load((const float *)(const void *)w);
    return vf_load_f16((const uint16_t *)(const void *)w);
}

// d of the columns of a panel of k rows
INLINE vf panel_d(weight_format f, const uint8_t *panel, int k) {
    return vf_load((const float *)(const void *)(panel + panel_blocks_bytes(f, k)));
}

INLINE vi block_zero(weight_format f, const uint8_t *w) {
    return vi_load_i8((const int8_t *)w + block_minima_at(f));
}

INLINE vf block_m(weight_format f, const uint8_t *w) {
    w += block_bytes(f) - block_m_bytes(f);
    return has_float_minimum(f) ? vf_load((const float *)(const void *)w)
                                : vf_load_f16((const uint16_t *)(const void *)w);
}

INLINE vi six_bits(const uint8_t *s, int group) {
    vi low = vi_and(vi_shift_right(vi_load_u8(s + group % 8 * LANES), group / 8 * 4), vi_set1(15));
    vi high =
        vi_and(vi_shift_right(vi_load_u8(s + (8 + group % 4) * LANES), group / 4 * 2), vi_set1(3));
    return vi_sub(vi_or(low, vi_shift_left(high, 4)), vi_set1(32));
}

// Floats of 16 codes of e4m3 (NaN excluded): sign, 4 bits of exponent less 7, 3 bits; below 8 they
// are that times 2^-9
INLINE vf e4m3_values(vi q) {
    vi magnitude = vi_and(q, vi_set1(127)), sign = vi_shift_left(vi_and(q, vi_set1(128)), 24);
    vi normal = vi_add(vi_shift_left(magnitude, 20), vi_set1(120 << 23));
    vi tiny = vi_bits(vf_mul(vf_from_int(magnitude), vf_set1(0x1p-9f)));
    return vf_bits(vi_or(sign, vi_where(vi_less(magnitude, vi_set1(8)), tiny, normal)));
}

// d times the group's scale, or the scale divided by d
INLINE vf group_scale(weight_format f, const uint8_t *w, vf d, int group) {
    const int kind = block_formats[f].scales;
    const uint8_t *s = w + block_scales_at(f), *at = s + group * LANES;
    if (kind == SCALES_127TH) return vf_mul(d, vf_set1(one_127th));
    if (kind <= SCALES_EXPONENT) return d;
    if (kind == SCALES_SIX) return vf_mul(d, vf_from_int(six_bits(s, group)));
    if (kind == SCALES_E4M3) return vf_mul(d, e4m3_values(vi_load_u8(at)));
    if (kind == SCALES_E4M3_OVER) return vf_div(e4m3_values(vi_load_u8(at)), d);
    vi scale = kind == SCALES_SIGNED ? vi_load_i8((const int8_t *)at) : vi_load_u8(at);
    return vf_mul(d, vf_from_int(kind == SCALES_PAIRED ? vi_and(scale, vi_set1(15)) : scale));
}

// m times the group's minimum; of a FRACTION, whose d this is, what d (q - m) adds to d q
INLINE vf group_minimum(weight_format f, const uint8_t *w, const vf ends[2], int group) {
    const int kind = block_formats[f].minimum;
    const vf m = ends[1];
    if (kind == MINIMUM_ONE || kind == MINIMUM_LINE) return m;
    if (kind == MINIMUM_FRACTION) return vf_neg(vf_mul(ends[0], m));
    if (kind == MINIMUM_BYTES)
        return vf_mul(m, vf_from_int(vi_load_u8(w + block_minima_at(f) + group * LANES)));
    return vf_mul(
        m, vf_from_int(vi_shift_right(vi_load_u8(w + block_scales_at(f) + group * LANES), 4)));
}

// ---- values ----

// The values of q of 16 columns, without scale and minimum
INLINE vf block_numbers(weight_format f, const uint8_t *w, vi q) {
    const block_format b = block_formats[f];
    if (b.table == TABLE_NF4) return vf_lookup(q, nf4_table);
    if (b.table == TABLE_FP4) return vf_lookup(q, fp4_table);
    if (b.table == TABLE_E4M3) return e4m3_values(q);
    q = vi_sub(q, vi_set1(b.offset));
    return vf_from_int(has_zero_point(f) ? vi_sub(q, block_zero(f, w)) : q);
}

// The first factor of a group's numbers (d for 127TH), and the addend, or for a FRACTION the
// subtrahend
INLINE vf number_scale(weight_format f, const uint8_t *w, vf d, int group) {
    return block_formats[f].scales == SCALES_127TH ? d : group_scale(f, w, d, group);
}
INLINE vf number_minimum(weight_format f, const uint8_t *w, const vf ends[2], int group) {
    if (block_formats[f].minimum == MINIMUM_FRACTION) return ends[1];
    return has_minimum(f) ? group_minimum(f, w, ends, group) : vf_zero();
}

// Element i of a step of 16 columns, as floats: (d scale) q + m minimum
INLINE vf step_values(weight_format f, const uint8_t *w, vi step, int i, const vf ends[2]) {
    vi q = vi_and(vi_shift_right(step, i * 8), vi_set1(255));
    vf number = block_numbers(f, w, q);
    if (block_formats[f].minimum == MINIMUM_FRACTION)
        return vf_mul(ends[0], vf_sub(number, ends[1]));
    vf value = vf_mul(ends[0], number);
    if (block_formats[f].scales == SCALES_127TH) return vf_mul(value, vf_set1(one_127th));
    return has_minimum(f) ? vf_add(value, ends[1]) : value;
}

// Element k of a block of 16 columns
INLINE vf block_values(weight_format f, const uint8_t *w, vf d, int k) {
    const int group = k / block_formats[f].group;
    const vf of_block[] = {d, has_minimum(f) ? block_m(f, w) : vf_zero()};
    const vf ends[] = {number_scale(f, w, d, group), number_minimum(f, w, of_block, group)};
    return step_values(f, w, block_step(f, w, (unsigned)k / 4), k % 4, ends);
}
#endif
