// ir/encode.c: what quantizing loses in each format, the same bits everywhere, importance, and
// values that are no numbers.
#include "ir/encode.h"

#include <math.h>

#include "kernels/blocks.h"
#include "lower/pack_blocks.h"
#include "unit.h"
#include "util/hash.h"

enum { VALUES = 8192 };

// Like weights: sums of four uniform numbers, with a few outliers
static void fill(float *x, unsigned seed) {
    for (int i = 0; i < VALUES; i++) {
        float sum = 0;
        for (int j = 0; j < 4; j++) {
            seed = seed * 1664525 + 1013904223;
            sum += (float)(seed >> 8) * 0x1p-24f - 0.5f;
        }
        x[i] = sum * (seed >> 24 < 4 ? 0.1f : 0.025f);
    }
}

typedef struct {
    double lost, all;
    uint64_t hash;
} Loss;

static Loss loss_of(const Format *f, const float *x, const float *importance, bool weighted) {
    Loss l = {0};
    float kept[FORMAT_BLOCK];
    for (int i = 0; i < VALUES; i += f->block) {
        CodedBlock c;
        const float *w = importance ? importance + i : NULL;
        f->encode(f, &(EncodeInput){x + i, w, f->block}, &c);
        coded_values(f, &c, kept);
        l.hash = hash_bytes(kept, (size_t)f->block * sizeof *kept, l.hash);
        for (int j = 0; j < f->block; j++) {
            double off = (double)x[i + j] - (double)kept[j], by = weighted ? (double)w[j] : 1;
            l.lost += by * off * off;
            l.all += by * (double)x[i + j] * (double)x[i + j];
        }
    }
    return l;
}

static const struct {
    DType format;
    double error;  // rms over rms, in thousandths
    uint64_t hash;
} expected[] = {
    {DT_q4_0, 115.58, 0xd71b4444b08a9573},  {DT_q4_1, 78.72, 0xfdbba9e24fa93ce7},
    {DT_q5_0, 57.55, 0xe4a85124a5f50d8e},   {DT_q5_1, 38.00, 0xeb26e54048fd02cf},
    {DT_q8_0, 6.86, 0xd46cef299c038ec5},    {DT_q2_k, 287.63, 0x2bf4772156aa4b54},
    {DT_q3_k, 180.14, 0x48879302daad6c82},  {DT_q4_k, 80.07, 0x684b94ff26e7a3d7},
    {DT_q5_k, 39.72, 0xc7e3552d015df499},   {DT_q6_k, 21.80, 0xc1e608dd5e08a200},
    {DT_iq4_nl, 91.04, 0x22056956e2ceec42}, {DT_iq4_xs, 92.41, 0x4c7b9051a0011ba2},
    {DT_tq1_0, 705.06, 0x96bbd5a475b304ba}, {DT_tq2_0, 705.06, 0x96bbd5a475b304ba},
    {DT_mxfp4, 136.90, 0xc8eaf5565d97e66d},
};

static void every_format_loses_little(void) {
    static float x[VALUES];
    fill(x, 1);
    size_t n = 0;
    for (int i = 0; i < n_formats; i++) n += format_is_made(&formats[i]);
    CHECK(sizeof expected / sizeof *expected == n);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        Loss l = loss_of(format_of(expected[i].format), x, NULL, false);
        double error = 1000 * sqrt(l.lost / l.all);
        bool right = error <= expected[i].error && error > expected[i].error * 0.98 &&
                     l.hash == expected[i].hash;
        if (!right)
            printf("# %s: %.2f, 0x%llx\n", dtype_name(expected[i].format), error,
                   (unsigned long long)l.hash);
        CHECK(right);
    }
}

// What panels hold of an encoded block, read by the runtime, are its values: integers and scales
// fit their bits.
static void panels_hold_what_was_encoded(void) {
    static float x[VALUES];
    fill(x, 2);
    for (int i = 0; i < n_formats; i++) {
        const Format *f = &formats[i];
        weight_format w = (weight_format)(WEIGHT_BF16 + 1 + i);
        if (!format_is_made(f)) continue;
        CodedBlock coded[PANEL_COLUMNS];
        const CodedBlock *columns[PANEL_COLUMNS];
        uint8_t panel[8192];
        float values[FORMAT_BLOCK], got[16];
        int wrong = 0;
        for (int c = 0; c < PANEL_COLUMNS; c++) {
            for (int k = 0; k < f->block; k++) x[c * f->block + k] *= ldexpf(1, c % 5 * 3 - 4);
            f->encode(f, &(EncodeInput){x + c * f->block, NULL, f->block}, &coded[c]);
            columns[c] = &coded[c];
        }
        pack_blocks(f, columns, panel);
        for (int c = 0; c < PANEL_COLUMNS; c++) {
            coded_values(f, &coded[c], values);
            for (int k = 0; k < f->block; k++) {
                vf_store(got, block_values(w, panel, block_d(w, panel), k));
                wrong += got[c] != values[k];
            }
        }
        CHECK(wrong == 0);
    }
}

static void importance_counts(void) {
    static float x[VALUES], importance[VALUES];
    fill(x, 3);
    for (int i = 0; i < VALUES; i++) importance[i] = i % 8 == 3 ? 50 : 1;
    for (int i = 0; i < n_formats; i++) {
        const Format *f = &formats[i];
        if (!format_is_made(f)) continue;
        Loss with = loss_of(f, x, importance, true), without = {0};
        for (int j = 0; j < VALUES; j += f->block) {
            CodedBlock c;
            float kept[FORMAT_BLOCK];
            f->encode(f, &(EncodeInput){x + j, NULL, f->block}, &c);
            coded_values(f, &c, kept);
            for (int k = 0; k < f->block; k++)
                without.lost +=
                    (double)importance[j + k] * pow((double)x[j + k] - (double)kept[k], 2);
        }
        CHECK(with.lost < without.lost);
    }
}

// Blocks of one value each, some of them NaN; the last is short.
static void odd_values(void) {
    static const float cases[] = {0, -0.0f, 1, -1, 0x1p-140f, 1e-30f, 6e-8f, 1e30f, -1e30f, NAN};
    for (int i = 0; i < n_formats; i++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            const Format *f = &formats[i];
            float x[FORMAT_BLOCK], kept[FORMAT_BLOCK];
            CodedBlock c;
            if (!format_is_made(f)) continue;
            for (int j = 0; j < f->block; j++) x[j] = cases[k];
            f->encode(f, &(EncodeInput){x, NULL, f->block - 5}, &c);
            coded_values(f, &c, kept);
            float most = fabsf(cases[k]) > 1e6f ? 3e38f : fabsf(cases[k]) * 1.2f + 1e-6f;
            int wrong = 0;
            for (int j = 0; j < f->block; j++)
                wrong += !(fabsf(kept[j]) <= (cases[k] != cases[k] ? 0 : most));
            if (fabsf(cases[k]) == 1) wrong += fabsf(kept[0] - cases[k]) > 0.03f;
            if (wrong)
                printf("# %s, blocks of %g: %d, first %g\n", f->name, (double)cases[k], wrong,
                       (double)kept[0]);
            CHECK(wrong == 0);
            if (f->scales == SCALES_EXPONENT) continue;
            x[1] = INFINITY;
            f->encode(f, &(EncodeInput){x, NULL, f->block}, &c);
            coded_values(f, &c, kept);
            CHECK(kept[0] != kept[0]);
        }
}

// Integers are kept, less a zero point if a format has one: 9 bits.
static void integers_are_kept(void) {
    float x[32], kept[FORMAT_BLOCK];
    for (int zero = 0; zero <= 255; zero += 85)
        for (int i = 0; i < 2; i++) {
            const Format *f = format_of(i ? DT_i9_32 : DT_i8_32);
            CodedBlock c;
            for (int k = 0; k < 32; k++) x[k] = (float)(i ? k % 4 * 85 - zero : k * 8 - 124);
            f->encode(f, &(EncodeInput){x, NULL, 29}, &c);
            coded_values(f, &c, kept);
            for (int k = 0; k < 32; k++) CHECK(kept[k] == (k < 29 ? x[k] : 0));
        }
}

SUITE(encode) {
    TEST(integers_are_kept);
    TEST(every_format_loses_little);
    TEST(panels_hold_what_was_encoded);
    TEST(importance_counts);
    TEST(odd_values);
}
