#include "lower/pack_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/convert.h"

typedef struct {
    const Format *format;
    const CodedBlock *const *columns;
    uint8_t *at;  // where the next part of the panel block goes
} Packing;

// ------------------------------------------------------------------------------------------ planes
// The integer as the low and high planes have it: with the format's offset, or its place in the
// table
static int stored(const Format *f, const CodedBlock *c, int k) {
    if (f->table >= TABLE_NF4) return c ? (uint8_t)c->q[k] : 0;
    const int8_t *table = f->table == TABLE_IQ4 ? iq4_values : e2m1_values;
    if (f->table == TABLE_SIGN) return c && c->q[k] > 0;
    if (f->table == TABLE_PLAIN) return (c ? c->q[k] : 0) + f->offset;
    for (int i = 0; c && i < 16; i++)
        if (table[i] == c->q[k]) return i;
    return 0;
}

// Steps of four k in 64 bytes [16 columns][4 k], the first in the lowest bits: bits [from, from +
// bits) of each integer
static void put_plane(Packing *p, int from, int bits) {
    const Format *f = p->format;
    if (!bits) return;
    memset(p->at, 0, (size_t)(f->block * 2 * bits));
    for (int c = 0; c < PANEL_COLUMNS; c++)
        for (int k = 0; k < f->block; k++) {
            int step = k / 4, together = 8 / bits,
                part = stored(f, p->columns[c], k) >> from & ((1 << bits) - 1);
            p->at[step / together * 64 + c * 4 + k % 4] |=
                (uint8_t)(part << step % together * bits);
        }
    p->at += f->block * 2 * bits;
}

// Five steps in 64 bytes, the first the leading digit: a fraction of 256 in base 3, rounded up.
static void put_ternary(Packing *p) {
    for (int c = 0; c < PANEL_COLUMNS; c++)
        for (int i = 0; i < 13 * 4; i++) {
            int value = 0;
            for (int n = 0; n < 5; n++) {
                int k = (i / 4 * 5 + n) * 4 + i % 4;
                value =
                    value * 3 + (k < p->format->block ? stored(p->format, p->columns[c], k) : 0);
            }
            p->at[i / 4 * 64 + c * 4 + i % 4] = (uint8_t)((value * 256 + 242) / 243);
        }
    p->at += 13 * 64;
}

// ------------------------------------------------------------------------------------------ scales
static void put_six(Packing *p) {
    memset(p->at, 0, 12 * PANEL_COLUMNS);
    for (int c = 0; c < PANEL_COLUMNS; c++)
        for (int g = 0; g < FORMAT_GROUPS; g++) {
            int scale = (p->columns[c] ? p->columns[c]->scale[g] : 0) + 32;
            p->at[g % 8 * PANEL_COLUMNS + c] |= (uint8_t)((scale & 15) << g / 8 * 4);
            p->at[(8 + g % 4) * PANEL_COLUMNS + c] |= (uint8_t)(scale >> 4 << g / 4 * 2);
        }
    p->at += 12 * PANEL_COLUMNS;
}

static void put_scales(Packing *p) {
    const Format *f = p->format;
    if (f->scales == SCALES_SIX) put_six(p);
    if (f->scales <= SCALES_EXPONENT || f->scales == SCALES_SIX) return;
    for (int g = 0; g < f->block / f->group; g++)
        for (int c = 0; c < PANEL_COLUMNS; c++) {
            const CodedBlock *b = p->columns[c];
            int upper = b && f->scales == SCALES_PAIRED ? b->minimum[g] << 4 : 0;
            *p->at++ = (uint8_t)((b ? b->scale[g] : 0) | upper);
        }
}

static void put_minima(Packing *p) {
    const Format *f = p->format;
    for (int c = 0; format_has_zero(f) && c < PANEL_COLUMNS; c++)
        *p->at++ = (uint8_t)(p->columns[c] ? p->columns[c]->minimum[0] : 0);
    for (int g = 0; f->minimum == MINIMUM_BYTES && g < f->block / f->group; g++)
        for (int c = 0; c < PANEL_COLUMNS; c++)
            *p->at++ = (uint8_t)(p->columns[c] ? p->columns[c]->minimum[g] : 0);
}

static void put_half(Packing *p, float value) {
    uint16_t bits = f16_from_float(value);
    memcpy(p->at, &bits, sizeof bits);
    p->at += sizeof bits;
}

static void put_float(Packing *p, float value) {
    memcpy(p->at, &value, sizeof value);
    p->at += sizeof value;
}

// e of 2^(e - 128)
static uint8_t exponent_of(float d) {
    int exponent;
    frexpf(d, &exponent);
    return (uint8_t)(d > 0 ? exponent + 127 : 0);
}

static void put_ends(Packing *p) {
    const bool has_d = !format_has_panel_d(p->format) && !format_is_exact(p->format);
    for (int c = 0; has_d && c < PANEL_COLUMNS; c++) {
        float d = p->columns[c] ? p->columns[c]->d : 0;
        if (p->format->scales == SCALES_EXPONENT)
            *p->at++ = exponent_of(d);
        else if (p->format->scales == SCALES_FLOAT || p->format->scales == SCALES_127TH)
            put_float(p, d);
        else
            put_half(p, d);
    }
    for (int c = 0; format_has_minimum(p->format) && c < PANEL_COLUMNS; c++) {
        float m = p->columns[c] ? p->columns[c]->m : 0;
        (format_has_zero(p->format) ? put_float : put_half)(p, m);
    }
}

void pack_blocks(const Format *f, const CodedBlock *const columns[PANEL_COLUMNS], uint8_t *bytes) {
    Packing p = {f, columns, bytes};
    if (f->low == 5)
        put_ternary(&p);
    else
        put_plane(&p, 0, f->low);
    put_plane(&p, f->low, f->high);
    put_scales(&p);
    put_minima(&p);
    put_ends(&p);
}

static int integer_at(const Format *f, const CodedBlock *c, int k) {
    return c ? c->q[k] - coded_zero(f, c, 0) : 0;
}

static bool block_fits(const Format *f, const CodedBlock *const columns[PANEL_COLUMNS]) {
    enum { MOST = 128 };
    for (int c = 0; c < PANEL_COLUMNS; c++)
        for (int k = 0; k < f->block; k += 2)
            if (abs(integer_at(f, columns[c], k)) + abs(integer_at(f, columns[c], k + 1)) > MOST)
                return false;
    return true;
}

static void add_sums(const Format *f, const CodedBlock *const columns[PANEL_COLUMNS], uint8_t *at) {
    int32_t sums[PANEL_COLUMNS];
    memcpy(sums, at, sizeof sums);
    for (int c = 0; c < PANEL_COLUMNS; c++)
        for (int k = 0; k < f->block; k++) sums[c] += integer_at(f, columns[c], k);
    memcpy(at, sums, sizeof sums);
}

void pack_exact_end(const Format *f, const CodedBlock *const columns[PANEL_COLUMNS], int64_t n,
                    uint8_t *end) {
    enum { SUMS = PANEL_COLUMNS * sizeof(int32_t) };
    add_sums(f, columns, end);
    if (!format_has_fits(f) || !block_fits(f, columns)) return;
    add_sums(f, columns, end + SUMS);
    end[2 * SUMS + n] = 1;
}

void pack_panel_d(const CodedBlock *const columns[PANEL_COLUMNS], uint8_t *bytes) {
    for (int c = 0; c < PANEL_COLUMNS; c++) {
        float d = columns[c] ? columns[c]->d : 1;  // scales may be divided by it
        memcpy(bytes + (size_t)c * sizeof d, &d, sizeof d);
    }
}
