// ir/format.c and lower/pack_blocks.c: blocks of every format, their values, and their panels.
#include "ir/format.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/blocks.h"
#include "lower/pack_blocks.h"
#include "program/npy.h"
#include "unit.h"

#define BLOCKS "../shared/data/gguf/blocks/"

// Values of blocks made by ggml, bit for bit; the fixtures are in ../shared.
static void blocks_decode_as_ggml_does(void) {
    for (int i = 0; i < n_formats; i++) {
        const Format *f = &formats[i];
        char path[128];
        burin_array bytes, values;
        if (f->ggml < 0) continue;
        snprintf(path, sizeof path, BLOCKS "%s.bytes.npy", f->name);
        if (burin_npy_read(&bytes, path)) continue;
        snprintf(path, sizeof path, BLOCKS "%s.values.npy", f->name);
        CHECK(!burin_npy_read(&values, path));
        CHECK(bytes.count / (size_t)f->bytes == values.count / (size_t)f->block);
        float *got = malloc(values.count * sizeof *got);
        format_read(f, bytes.data, 0, 1, (int64_t)values.count, got);
        CHECK(!memcmp(got, values.data, values.count * sizeof *got));
        free(got);
        free(bytes.data);
        free(values.data);
    }
}

// Any bytes are a block: random ones, with scales that are finite.
static void random_block(const Format *f, uint8_t *block, unsigned *seed) {
    for (int i = 0; i < f->bytes; i++) {
        *seed = *seed * 1664525 + 1013904223;
        block[i] = (uint8_t)(*seed >> 24);
    }
    CodedBlock c;
    f->decode(block, &c);
    bool finite = c.d - c.d == 0 && c.m - c.m == 0 && fabsf(c.d) < 1e30f &&
                  (f->scales != SCALES_EXPONENT || block[0] < 250);
    if (format_has_panel_d(f)) finite &= fabsf(c.d) > 1e-30f;
    if (!finite) random_block(f, block, seed);
}

// What panels hold of a block, read by the runtime, are the block's values: column 3 of 16 is
// missing.
static void panels_hold_the_values(void) {
    for (int i = 0; i < n_formats; i++) {
        const Format *f = &formats[i];
        weight_format w = (weight_format)(WEIGHT_BF16 + 1 + i);
        CodedBlock coded[PANEL_COLUMNS];
        const CodedBlock *columns[PANEL_COLUMNS];
        uint8_t block[512], panel[8192];
        float values[FORMAT_BLOCK], got[16], d[16];
        unsigned seed = (unsigned)i;
        for (int c = 0; c < PANEL_COLUMNS; c++) {
            random_block(f, block, &seed);
            f->decode(block, &coded[c]);
            columns[c] = c == 3 ? NULL : &coded[c];
        }
        CHECK((size_t)format_panel_bytes(f) == block_bytes(w) &&
              block_bytes(w) * 100 <= (size_t)f->bytes * 16 * 103);
        memset(panel, 0xa5, sizeof panel);
        pack_blocks(f, columns, panel);
        CHECK(panel[format_panel_bytes(f)] == 0xa5);  // nothing after the block
        for (int c = 0; c < PANEL_COLUMNS; c++) d[c] = c == 3 ? 1 : coded[c].d;
        if (!format_has_panel_d(f)) vf_store(d, block_d(w, panel));
        int wrong = 0;
        for (int c = 0; c < PANEL_COLUMNS; c++) {
            coded_values(f, &coded[c], values);
            for (int k = 0; k < f->block; k++) {
                vf_store(got, block_values(w, panel, vf_load(d), k));
                wrong += got[c] != (c == 3 ? 0 : values[k]);
            }
        }
        CHECK(wrong == 0);
    }
}

// Two products of a block that fits are at most 255 * 128 in sum; column 3 of 16 is missing.
static void marks_blocks_whose_pairs_fit(void) {
    const Format *f = format_of(DT_i8_32);
    const struct {
        int8_t pair[2];
        bool fits;
    } cases[] = {{{64, 64}, true},
                 {{-128, 0}, true},
                 {{1, -127}, true},
                 {{-65, 64}, false},
                 {{127, 2}, false}};
    enum { CASES = 5, SUMS = 16 };
    CodedBlock coded;
    const CodedBlock *columns[PANEL_COLUMNS];
    uint8_t end[2 * SUMS * 4 + 64] = {0};
    CHECK(format_panel_end(f, CASES) == sizeof end &&
          panel_fits_at(WEIGHT_i8_32, CASES * 32) == CASES * 512 + 2 * SUMS * 4);
    for (int i = 0; i < CASES; i++) {
        memset(&coded, 0, sizeof coded);
        memcpy(coded.q + 30, cases[i].pair, sizeof cases[i].pair);
        for (int c = 0; c < PANEL_COLUMNS; c++) columns[c] = c == 3 ? NULL : &coded;
        pack_exact_end(f, columns, i, end);
        CHECK(end[2 * SUMS * 4 + i] == cases[i].fits);
    }
    int32_t sums[2][SUMS];
    memcpy(sums, end, sizeof sums);
    CHECK(sums[0][15] == 128 - 128 - 126 - 1 + 129 && sums[0][3] == 0);
    CHECK(sums[1][15] == 128 - 128 - 126 && sums[1][3] == 0);
}

SUITE(format) {
    TEST(blocks_decode_as_ggml_does);
    TEST(panels_hold_the_values);
    TEST(marks_blocks_whose_pairs_fit);
}
