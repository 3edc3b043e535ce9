// Encoders of block formats: integers and scales that make the weighted squared error of a block
// small.
//
//   one scale      x ~ d q         candidates of 1 / d that map the largest value to about an end of the range; for each
//                                  the rounded integers, and the d that fits them best. The best d is rounded with again, until
//                                  it stays
//   of 8 bits      x ~ d q         candidates of d in f16, from the largest value over 127 on; the least error
//   with minimum   x ~ d q + m     the same, d and m fitted
//   groups         x ~ d s q + m t each group as above; its scales (and minima) are quantized as a block with one scale; then
//                                  each group tries the scales next to its own, and d (and m) are fitted once more
//
// A value weighs importance * sqrt(mean square + x^2): large values matter more. d and m are f16
// before the last integers are chosen. Sums run in 8 lanes and everything is IEEE's, so every host
// gives the same bits.
#include "ir/encode.h"

#include <math.h>
#include <string.h>

#include "kernels/quantize.h"

enum { SUMS = 8, ROUNDS = 4, FINE_RANGE = 16 };
static const float smallest = 0x1p-100f, largest_half = 65504;

// A block, or one of its groups: values, weights, and rounded values
typedef struct {
    const float *x, *w;
    int n;                // a multiple of SUMS
    float lo, hi;         // of the integers
    const int8_t *table;  // 16 ascending values, or NULL: all from lo to hi
} Values;

// ---------------------------------------------------------------------------------------- rounding
static inline float round_even(float x) { return x + 0x1.8p23f - 0x1.8p23f; }  // |x| below 2^22
static inline float clamped(float x, float lo, float hi) { return x < lo ? lo : x > hi ? hi : x; }

static inline float nearest_in(const int8_t *table, float x) {
    int i = 0;
    for (int step = 8; step; step /= 2)
        if (x * 2 > (float)(table[i + step - 1] + table[i + step])) i += step;
    return table[i];
}

static inline float rounded(const Values *v, bool table, float x) {
    return table ? nearest_in(v->table, x) : round_even(clamped(x, v->lo, v->hi));
}

static float inverse_of(float d) { return fabsf(d) >= smallest ? 1 / d : 0; }

static void put_integers(const Values *v, float d, float m, int8_t *q) {
    float inverse = inverse_of(d);
    for (int i = 0; i < v->n; i++) q[i] = (int8_t)rounded(v, v->table, (v->x[i] - m) * inverse);
}

static float as_half(float x) {
    return clamped(sf_from_f16(f16_from_float(x)), -largest_half, largest_half);
}

// -------------------------------------------------------------------------------------------- sums
static float sum_of(const float lane[SUMS]) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// Sums of w q, w q q, w x q over the integers nearest to (x - shift) * inverse
typedef struct {
    float q, qq, xq;
} Moments;

static inline Moments moments_with(const Values *v, bool table, float inverse, float shift) {
    float q[SUMS] = {0}, qq[SUMS] = {0}, xq[SUMS] = {0};
    for (int i = 0; i < v->n; i += SUMS)
        for (int j = 0; j < SUMS; j++) {
            float x = v->x[i + j], r = rounded(v, table, (x - shift) * inverse),
                  wr = v->w[i + j] * r;
            q[j] += wr, qq[j] += wr * r, xq[j] += wr * x;
        }
    return (Moments){sum_of(q), sum_of(qq), sum_of(xq)};
}

static Moments moments_of(const Values *v, float inverse, float shift) {
    return v->table ? moments_with(v, true, inverse, shift)
                    : moments_with(v, false, inverse, shift);
}

// sum of w (x - d q - m)^2, q the integers nearest to (x - m) / d
static inline float error_with(const Values *v, bool table, float d, float m) {
    float e[SUMS] = {0}, inverse = inverse_of(d);
    for (int i = 0; i < v->n; i += SUMS)
        for (int j = 0; j < SUMS; j++) {
            float x = v->x[i + j] - m, off = x - d * rounded(v, table, x * inverse);
            e[j] += v->w[i + j] * off * off;
        }
    return sum_of(e);
}

static float error_of(const Values *v, float d, float m) {
    return v->table ? error_with(v, true, d, m) : error_with(v, false, d, m);
}

// Sums of w, w x, w x x
typedef struct {
    float w, x, xx;
} Totals;

static Totals totals_of(const Values *v) {
    float w[SUMS] = {0}, x[SUMS] = {0}, xx[SUMS] = {0};
    for (int i = 0; i < v->n; i += SUMS)
        for (int j = 0; j < SUMS; j++) {
            float wx = v->w[i + j] * v->x[i + j];
            w[j] += v->w[i + j], x[j] += wx, xx[j] += wx * v->x[i + j];
        }
    return (Totals){sum_of(w), sum_of(x), sum_of(xx)};
}

// --------------------------------------------------------------------------------------- one scale
typedef struct {
    float d, gain;  // gain: by how much d q lowers the sum of w x x
} Fit;

static bool try_scale(const Values *v, float inverse, Fit *best) {
    Moments s = moments_of(v, inverse, 0);
    if (!(s.qq > 0) || !(s.xq * s.xq > best->gain * s.qq)) return false;
    *best = (Fit){s.xq / s.qq, s.xq * s.xq / s.qq};
    return true;
}

static float extreme_of(const Values *v) {
    float extreme = 0;
    for (int i = 0; i < v->n; i++)
        if (fabsf(v->x[i]) > fabsf(extreme)) extreme = v->x[i];
    return extreme;
}

// The d that fits best, before it is rounded itself
static float fit_scale(const Values *v) {
    float extreme = extreme_of(v), unit = v->table ? (float)v->table[15] / 8 : 1;
    const float ends[2] = {v->lo, v->hi};
    Fit best = {0, 0};
    if (!(fabsf(extreme) >= smallest)) return 0;
    for (int e = 0; e < 2; e++)
        for (int step = -8; step <= 3 && ends[e] != 0; step++) {
            float off = (float)step * 0.25f * unit,
                  end = ends[e] < 0 ? ends[e] - off : ends[e] + off;
            if (end * ends[e] > 0) try_scale(v, end / extreme, &best);
        }
    for (int i = 0; i < ROUNDS && inverse_of(best.d) != 0 && try_scale(v, 1 / best.d, &best); i++)
        continue;
    return best.d;
}

// ---------------------------------------------------------------------------------- with a minimum
typedef struct {
    float d, m, error;
} Line;

// The d and m, at most `most`, that fit these integers
static bool fit_integers(const Totals *t, const Moments *s, float most, Line *line) {
    float determinant = t->w * s->qq - s->q * s->q;
    bool alike =
        !(determinant > t->w * s->qq * 0x1p-20f);  // one integer for all: only d can be told
    float d = (t->w * s->xq - s->q * t->x) / determinant,
          m = (s->qq * t->x - s->q * s->xq) / determinant;
    if (alike && most == INFINITY) return false;
    if (alike || m > most) m = most, d = (s->xq - m * s->q) / s->qq;
    if (!(d > 0)) return false;
    *line = (Line){
        d, m, t->xx + d * d * s->qq + m * m * t->w - 2 * (d * s->xq + m * t->x - d * m * s->q)};
    return true;
}

static bool try_line(const Values *v, const Totals *t, float most, Line at, Line *best) {
    Moments s = moments_of(v, 1 / at.d, at.m);
    Line line;
    if (!fit_integers(t, &s, most, &line) || !(line.error < best->error)) return false;
    *best = line;
    return true;
}

// x ~ d q + m with d > 0 and m at most `most`; d 0: all are alike
static Line fit_line(const Values *v, float most) {
    float low = v->x[0], high = v->x[0];
    for (int i = 1; i < v->n; i++)
        low = v->x[i] < low ? v->x[i] : low, high = v->x[i] > high ? v->x[i] : high;
    if (low > most) low = most;
    Line best = {0, low, INFINITY};
    if (!(high - low >= smallest)) return best;
    Totals t = totals_of(v);
    for (int step = -10; step <= 5; step++) {
        float end = v->hi + (float)step * 0.125f;
        try_line(v, &t, most, (Line){(high - low) / end, low, 0}, &best);
    }
    for (int i = 0; i < ROUNDS && best.d >= smallest; i++)
        if (!try_line(v, &t, most, best, &best)) break;
    return best;
}

// ------------------------------------------------------------------------------------------ blocks
typedef struct {
    float x[FORMAT_BLOCK], w[FORMAT_BLOCK];
    const Format *format;
    Values all;
} Block;

static const int8_t e2m1_ascending[16] = {-12, -8, -6, -4, -3, -2, -1, 0, 0, 1, 2, 3, 4, 6, 8, 12};

static Values integers_of(const Format *f) {
    if (f->table != TABLE_PLAIN) {
        const int8_t *table = f->table == TABLE_IQ4 ? iq4_values : e2m1_ascending;
        return (Values){.lo = table[0], .hi = table[15], .table = table};
    }
    bool ternary = f->offset == 1;
    int top = ternary ? 2 : (1 << (f->low + f->high)) - 1;
    return (Values){.lo = (float)-f->offset, .hi = (float)(top - f->offset)};
}

// NaN counts as 0, values beyond all scales as the largest representable one. false: a value is
// infinite
static bool read_values(Block *b, const Format *f, const EncodeInput *in) {
    bool finite = true;
    float square = 0;
    b->format = f, b->all = integers_of(f);
    b->all.x = b->x, b->all.w = b->w, b->all.n = f->block;
    for (int i = 0; i < f->block; i++) {
        float x = i < in->n && in->values[i] == in->values[i] ? in->values[i] : 0;
        finite &= fabsf(x) < INFINITY;
        b->x[i] = clamped(x, -0x1p29f, 0x1p29f);
        square += b->x[i] * b->x[i];
    }
    float mean = square / (float)(in->n ? in->n : 1);
    for (int i = 0; i < f->block; i++)
        b->w[i] = i >= in->n
                      ? 0
                      : (in->importance ? in->importance[i] : 1) * sqrtf(mean + b->x[i] * b->x[i]);
    return finite;
}

static void set_scale(CodedBlock *c, float d, float m) {
    c->d = d, c->m = m;
    for (int g = 0; g < FORMAT_GROUPS; g++) c->scale[g] = c->minimum[g] = 1;
}

// Products by it are NaN.
static void set_infinite(CodedBlock *c) {
    memset(c, 0, sizeof *c);
    set_scale(c, INFINITY, 0);
}

// Scales that map the largest value to the end of the range, and to a half less each; of equal ones
// the first, so that blocks that have been made so before stay as they are.
void encode_fine(const Format *f, const EncodeInput *in, CodedBlock *c) {
    Block b;
    if (!read_values(&b, f, in)) return set_infinite(c);
    const float top = fabsf(extreme_of(&b.all)), last = b.all.hi - FINE_RANGE;
    float best = INFINITY;
    set_scale(c, 0, 0);
    for (float end = b.all.hi; top >= smallest && best > 0 && end >= last; end -= 0.5f) {
        float d = as_half(top / end), error = error_of(&b.all, d, 0);
        if (error < best) best = error, c->d = d;
    }
    put_integers(&b.all, c->d, 0, c->q);
}

// Of a block whose integers, and 0, are at most 255 apart: x = q - zero
void encode_integers(const Format *f, const EncodeInput *in, CodedBlock *c) {
    float least = 0, most = 0;
    for (int64_t i = 0; i < in->n; i++)
        least = fminf(least, in->values[i]), most = fmaxf(most, in->values[i]);
    int zero = f->minimum != MINIMUM_ZERO ? 0
               : least < -128             ? -128 - (int)least
               : most > 127               ? 127 - (int)most
                                          : 0;
    set_scale(c, 1, 0);
    for (int g = 0; g < FORMAT_GROUPS; g++) c->minimum[g] = (int16_t)zero;
    for (int64_t i = 0; i < f->block; i++)
        c->q[i] = (int8_t)((i < in->n ? (int)in->values[i] : 0) + zero);
}

void encode_scale(const Format *f, const EncodeInput *in, CodedBlock *c) {
    Block b;
    if (!read_values(&b, f, in)) return set_infinite(c);
    set_scale(c, as_half(fit_scale(&b.all)), 0);
    put_integers(&b.all, c->d, 0, c->q);
}

void encode_line(const Format *f, const EncodeInput *in, CodedBlock *c) {
    Block b;
    if (!read_values(&b, f, in)) return set_infinite(c);
    Line line = fit_line(&b.all, INFINITY);
    float d = as_half(line.d), inverse = inverse_of(d);
    Totals t = totals_of(&b.all);
    Moments s = moments_of(&b.all, inverse, line.m);
    set_scale(c, d, as_half(t.w > 0 ? (t.x - d * s.q) / t.w : 0));
    put_integers(&b.all, d, c->m, c->q);
}

// d = 2^(e - 128) with e of 0 to 254
static float power_of_two(int exponent) {
    return ldexpf(1, exponent < -128 ? -128 : exponent > 126 ? 126 : exponent);
}

void encode_exponent(const Format *f, const EncodeInput *in, CodedBlock *c) {
    Block b;
    int top;
    float best = INFINITY;
    read_values(&b, f, in);
    frexpf(extreme_of(&b.all), &top);
    set_scale(c, power_of_two(-128), 0);
    for (int exponent = top - 5; exponent <= top - 2; exponent++) {
        float d = power_of_two(exponent), error = error_of(&b.all, d, 0);
        if (extreme_of(&b.all) != 0 && error < best) best = error, c->d = d;
    }
    put_integers(&b.all, c->d, 0, c->q);
}

// ------------------------------------------------------------------------------------------ groups
static Values group_of(const Block *b, int g) {
    Values v = b->all;
    v.x += g * b->format->group, v.w += g * b->format->group, v.n = b->format->group;
    return v;
}

// Integers that scales of groups can be; minima are from 0 to the same end
static Values scales_of(const Format *f) {
    bool six = f->scales == SCALES_SIX || f->table == TABLE_IQ4;
    if (f->scales == SCALES_PAIRED) return (Values){.hi = 15};
    if (f->scales == SCALES_BYTES) return (Values){.hi = 63};
    return (Values){.lo = six ? -32 : -128, .hi = six ? 31 : 127};
}

// One scale for those of the groups: x, of which each weighs w
static float quantize_scales(Values of, int n, const float *x, const float *w, int16_t *q) {
    of.x = x, of.w = w, of.n = n;
    float d = as_half(fit_scale(&of)), inverse = inverse_of(d);
    for (int g = 0; g < n; g++) q[g] = (int16_t)rounded(&of, false, x[g] * inverse);
    return d;
}

static void fit_groups(const Block *b, CodedBlock *c) {
    const Format *f = b->format;
    int n = f->block / f->group;
    bool minima = f->minimum != MINIMUM_NONE;
    float scale[FORMAT_GROUPS], minimum[FORMAT_GROUPS], of_scale[FORMAT_GROUPS],
        of_minimum[FORMAT_GROUPS];
    for (int g = 0; g < n; g++) {
        Values v = group_of(b, g);
        Line line = minima ? fit_line(&v, 0) : (Line){fit_scale(&v), 0, 0};
        scale[g] = line.d, minimum[g] = -line.m;
        of_scale[g] = moments_of(&v, inverse_of(line.d), line.m).qq,
        of_minimum[g] = totals_of(&v).w;
    }
    c->d = quantize_scales(scales_of(f), n, scale, of_scale, c->scale);
    c->m = 0;
    if (minima) c->m = -quantize_scales(scales_of(f), n, minimum, of_minimum, c->minimum);
}

static float group_error(const Block *b, const CodedBlock *c, int g, int scale, int minimum) {
    Values v = group_of(b, g);
    return error_of(&v, c->d * (float)scale, c->m * (float)minimum);
}

// The scale and the minimum of a group, or those next to them, whichever are best. Returns the
// error.
static float choose_neighbours(const Block *b, CodedBlock *c, int g) {
    Values range = scales_of(b->format);
    int scale = c->scale[g], minimum = c->minimum[g], reach = b->format->minimum != MINIMUM_NONE;
    float best = group_error(b, c, g, scale, minimum);
    for (int s = scale - 1; s <= scale + 1; s++)
        for (int t = minimum - reach; t <= minimum + reach; t++) {
            if ((float)s < range.lo || (float)s > range.hi || t < 0 ||
                (reach && (float)t > range.hi))
                continue;
            float error = s == scale && t == minimum ? best : group_error(b, c, g, s, t);
            if (error < best) best = error, c->scale[g] = (int16_t)s, c->minimum[g] = (int16_t)t;
        }
    return best;
}

// d and m once more, for the integers, scales and minima that were chosen
static void fit_ends(const Block *b, CodedBlock *c) {
    double ss = 0, st = 0, tt = 0, xs = 0, xt = 0;
    int n = b->format->block / b->format->group;
    for (int g = 0; g < n; g++) {
        Values v = group_of(b, g);
        double s = c->scale[g], t = c->minimum[g];
        Moments q =
            moments_of(&v, inverse_of(c->d * (float)c->scale[g]), c->m * (float)c->minimum[g]);
        Totals all = totals_of(&v);
        ss += s * s * q.qq, st += s * t * q.q, tt += t * t * all.w, xs += s * q.xq, xt += t * all.x;
    }
    double determinant = ss * tt - st * st;
    if (b->format->minimum == MINIMUM_NONE || !(tt > 0)) {
        if (ss > 0) c->d = as_half((float)(xs / ss));
    } else if (determinant > 0) {
        float d = as_half((float)((xs * tt - xt * st) / determinant)),
              m = as_half((float)((xt * ss - xs * st) / determinant));
        if (d > 0 && m <= 0) c->d = d, c->m = m;
    }
}

static float choose_all(const Block *b, CodedBlock *c) {
    float error = 0;
    for (int g = 0; g < b->format->block / b->format->group; g++)
        error += choose_neighbours(b, c, g);
    return error;
}

void encode_groups(const Format *f, const EncodeInput *in, CodedBlock *c) {
    Block b;
    if (!read_values(&b, f, in)) return set_infinite(c);
    memset(c, 0, sizeof *c);
    fit_groups(&b, c);
    float error = choose_all(&b, c);
    for (int i = 0; i < 2 && c->d != 0; i++) {
        CodedBlock again = *c;
        fit_ends(&b, &again);
        float less = choose_all(&b, &again);
        if (!(less < error)) break;
        error = less, *c = again;
    }
    for (int g = 0; g < f->block / f->group; g++) {
        Values v = group_of(&b, g);
        put_integers(&v, c->d * (float)c->scale[g], c->m * (float)c->minimum[g],
                     c->q + g * f->group);
    }
}
