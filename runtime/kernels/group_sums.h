// Integer sums of one group of a block, for a tile of rows by panels: exact, so every instruction
// set gives equal sums.
//
//   dots    four k of a row by sixteen columns: vi_dot4, all targets
//   words   several fours in 16 bits first: VEC_WORDS (NEON without dot products; AVX2, of weights of at most 6 bits)
//   fits    the same for blocks of integers whose pairs of products fit 16 bits: VEC_PAIRS_FIT (AVX2)
//   pairs   eight k of two rows by sixteen columns: VEC_PAIRS_ROWS (i8mm)
//
// (Many rows at once, VEC_TILES: matmul_tiles.h.) All read the same panels; unsigned bytes of
// weights hold an offset, whose part of the sums is subtracted.
#ifndef BURIN_GROUP_SUMS_H
#define BURIN_GROUP_SUMS_H
#include "blocks.h"
#include "fault.h"

enum { PANELS_MOST = 4, ROWS_MOST = INT_ROWS > 8 ? INT_ROWS : 8 };  // of a tile

// A tile's rows (q8_block, or floats) and its panels' blocks
typedef struct block_operands {
    const uint8_t *x[ROWS_MOST];
    const uint8_t *w[PANELS_MOST];
    const uint8_t *fits[PANELS_MOST];  // of the panels' blocks, where it is of use
} block_operands;

// The integers of one group of a row's activations, their sum, and that of the whole block as it is
// kept
typedef struct group_row {
    const int8_t *q;
    float scale;
    int sum, start;
} group_row;

INLINE group_row group_of_row(weight_format format, const q8_block *x, unsigned group) {
    const unsigned size = (unsigned)block_formats[format].group, half = group * size / 16 % 2;
    x += group * size / QUANT_BLOCK;
    int sum = size > 16 ? sum_of_block(x) : half ? sum_of_block(x) - x->first : x->first;
    return (group_row){x->q + half * 16, x->scale, sum + FAULT_ROW_SUM,
                       x->start - 128 * FAULT_ROW_SUM};
}

INLINE unsigned group_steps(weight_format format) {
    return (unsigned)block_formats[format].group / 4;
}
// Bytes of weights beyond 63: signed where vi_dot4 has it so
INLINE bool wide_bytes(weight_format format) { return block_formats[format].offset == 128; }

// The initial sums of one panel: minus the part of the offset and of the block's zero point
INLINE vi group_start(weight_format format, const uint8_t *w, int bias, group_row x) {
    if (has_zero_point(format))
        return vi_mul(vi_add(block_zero(format, w), vi_set1(bias)), vi_set1(-x.sum));
    return vi_set1(bias == 128 && block_formats[format].group > 16 ? x.start : -bias * x.sum);
}

// c by the sums of a group: exact products continue with c, others begin.
INLINE vi with_group(weight_format format, const vi *c, vi sums) {
    return is_exact(format) ? vi_add(*c, sums) : sums;
}

INLINE void group_dots(weight_format format, const int extent[2], const block_operands *o,
                       unsigned group, vi (*c)[PANELS_MOST]) {
    const int R = extent[0], P = extent[1], steps = (int)group_steps(format),
              bits = block_formats[format].low;
    const int together = bits < 5 ? 8 / bits : 1;  // steps of one load
    const bool wide = wide_bytes(format);
    const int bias = wide && !DOT4_BIAS ? 0 : block_formats[format].offset;
    group_row x[ROWS_MOST];
    fours activations[ROWS_MOST];
    UNROLL
    for (int i = 0; i < R; i++) {
        x[i] = group_of_row(format, (const q8_block *)o->x[i], group);
        if (wide) activations[i] = load_k4(x[i].q);
        UNROLL
        for (int p = 0; p < P; p++)
            c[i][p] = with_group(format, &c[i][p], group_start(format, o->w[p], bias, x[i]));
    }
    INT_UNROLL
    for (int from = 0; from < steps; from += together) {
        UNROLL
        for (int t = from; t < from + together; t++) {
            UNROLL
            for (int p = 0; p < P; p++) {
                vi w = block_step(format, o->w[p], group * (unsigned)steps + (unsigned)t);
                weights4 four = weights4_of(w);
                UNROLL
                for (int i = 0; i < R; i++)
                    c[i][p] = wide ? vi_dot4(c[i][p], &four, &activations[i], t)
                                   : vi_dot4_small(c[i][p], w, x[i].q, t);
            }
        }
    }
}

#if defined(VEC_WORDS)
INLINE bool in_words(weight_format format) { return WORDS_WIDE || !wide_bytes(format); }

// Number of products of stored weights and activations, at most 127 (integers: 128), that fit 16
// bits
INLINE unsigned products_of_words(weight_format format) {
    const block_format b = block_formats[format];
    if (is_exact(format)) return 1;
    if (wide_bytes(format)) return 2;
    const int bits = b.table == TABLE_E2M1 ? 5
                     : b.low == 5          ? 2
                                           : b.low + b.high;  // e2m1_table has at most 24
    return bits == 6 ? 4 : bits == 5 ? 8 : 16;
}

#if !defined(WORDS_IN_ORDER)
#define WORDS_IN_ORDER(s) ((void)0)
#endif
INLINE void group_words(weight_format format, const int extent[2], const block_operands *o,
                        unsigned group, vi (*c)[PANELS_MOST]) {
    const int R = extent[0], P = extent[1],
              bias = wide_bytes(format) ? 0 : block_formats[format].offset;
    const unsigned steps = group_steps(format), most = products_of_words(format) / WORDS_PRODUCTS;
    const unsigned together = most < steps ? most : steps;
    UNROLL
    for (int p = 0; p < P; p++) {
        vi_halves sums[ROWS_MOST] = {0};
        UNROLL
        for (unsigned from = 0; from < steps; from += together) {
            vi_words words[ROWS_MOST] = {0};
            UNROLL
            for (unsigned t = from; t < from + together; t++) {
                vi step = block_step(format, o->w[p], group * steps + t);
                word_weights w = word_weights_of(step, wide_bytes(format));
                UNROLL
                for (int i = 0; i < R; i++) {
                    words[i] = vi_words_add(
                        words[i], &w, group_of_row(format, (const q8_block *)o->x[i], group).q,
                        (int)t);
                    if (R > 1) WORDS_IN_ORDER(words[i]);
                }
            }
            UNROLL
            for (int i = 0; i < R; i++) sums[i] = vi_halves_add(sums[i], words[i]);
        }
        UNROLL
        for (int i = 0; i < R; i++) {
            group_row x = group_of_row(format, (const q8_block *)o->x[i], group);
            vi start = group_start(format, o->w[p], bias, x);
            c[i][p] = with_group(format, &c[i][p], vi_add(start, vi_of_halves(sums[i])));
        }
    }
}
#endif

#if defined(VEC_PAIRS_ROWS)
// An even number of rows, two steps of k at a time
INLINE void group_pairs(weight_format format, const int extent[2], const block_operands *o,
                        unsigned group, vi (*c)[PANELS_MOST]) {
    const int R = extent[0], P = extent[1],
              bias = wide_bytes(format) ? 0 : block_formats[format].offset;
    const unsigned steps = group_steps(format);
    group_row x[ROWS_MOST];
    UNROLL
    for (int i = 0; i < R; i++) x[i] = group_of_row(format, (const q8_block *)o->x[i], group);
    UNROLL
    for (int p = 0; p < P; p++) {
        vi_pair sums[ROWS_MOST / 2];
        UNROLL
        for (int i = 0; i < R; i += 2) {
            vi first = with_group(format, &c[i][p], group_start(format, o->w[p], bias, x[i]));
            sums[i / 2] = vi_pair_of(
                first,
                with_group(format, &c[i + 1][p], group_start(format, o->w[p], bias, x[i + 1])));
        }
        UNROLL
        for (unsigned t = 0; t < steps; t += 2) {
            vi even = block_step(format, o->w[p], group * steps + t),
               odd = block_step(format, o->w[p], group * steps + t + 1);
            weights8 eight = weights8_of(even, odd, wide_bytes(format));
            UNROLL
            for (int i = 0; i < R; i += 2)
                sums[i / 2] = vi_dot8(sums[i / 2], &eight, x[i].q + 4 * t, x[i + 1].q + 4 * t);
        }
        UNROLL
        for (int i = 0; i < R; i += 2)
            c[i][p] = vi_pair_first(sums[i / 2]), c[i + 1][p] = vi_pair_second(sums[i / 2]);
    }
}
#endif

#if defined(VEC_PAIRS_FIT)
INLINE bool uses_fits(weight_format format) { return has_fits(format); }

// sum += integers of a block that fits by rows + 128, in the bits of `sum`; FIT_BIAS times the
// block's sums is taken away at last.
enum { FIT_BIAS = 128 };
INLINE void add_fitting(const int extent[2], const block_operands *o, vf (*sum)[PANELS_MOST]) {
    uint8_t x[ROWS_MOST][QUANT_BLOCK];
    UNROLL
    for (int i = 0; i < extent[0]; i++) bytes_of_row(((const q8_block *)o->x[i])->q, x[i]);
    NO_UNROLL
    for (int t = 0; t < QUANT_BLOCK / 4; t++) {
        UNROLL
        for (int p = 0; p < extent[1]; p++) {
            vi w = signed_weights(vi_load_bytes(o->w[p] + t * 64));
            UNROLL
            for (int i = 0; i < extent[0]; i++) {
                vi c = vi_dot4_no_saturation(vi_bits(sum[i][p]), w, x[i], t);
                WORDS_IN_ORDER(c);
                sum[i][p] = vf_bits(c);
            }
        }
    }
}
#else
INLINE bool uses_fits(weight_format format) { return (void)format, false; }
#endif

// c = integer sums of R rows by P panels over one group of a block, of exact products c += them
INLINE void group_sums(weight_format format, const int extent[2], const block_operands *o,
                       unsigned group, vi (*c)[PANELS_MOST]) {
#if defined(VEC_PAIRS_ROWS)
    if (extent[0] % 2 == 0) {
        group_pairs(format, extent, o, group, c);
        return;
    }
#endif
#if defined(VEC_WORDS)
    if (in_words(format)) {
        group_words(format, extent, o, group, c);
        return;
    }
#endif
    group_dots(format, extent, o, group, c);
}
#endif
