// Kernels of one row: quantization, norms, softmax, rotary embedding, gather.
#include "reference.h"

static const int lengths[] = {1, 5, 16, 31, 32, 33, 48, 64, 100, 257};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void reference_quantize(int n, const float *x, q8_block *q) {
    float top = 0;
    for (int i = 0; i < n; i++)
        if (fabsf(x[i]) > top) top = fabsf(x[i]);
    bool zero = !(top >= 0x1p-100f), none = zero || top == INFINITY;
    *q = (q8_block){.scale = zero ? 0 : top / 127.0f};
    for (int i = 0; i < n; i++)
        q->q[i] = (int8_t)(none || x[i] != x[i] ? 0 : rintf(x[i] * (127.0f / top)));
    for (int i = 0; i < 32; i++) {
        q->start -= 128 * q->q[i];
        q->first += i < 16 ? q->q[i] : 0;
    }
}

void test_quantize(void) {
    Suite s = suite_begin("quantize_q8_0");
    for (int i = 0; i < 10 * LENGTHS; i++) {
        int n = lengths[i % LENGTHS], blocks = blocks_of(n);
        float *x = random_floats((size_t)n);
        for (int j = 0; j < n; j++)
            x[j] = i % 10 == 0 ? 0 : ldexpf(x[j], i % 9 == 8 ? -130 : j % 12);
        if (i % 10 == 3) x[n / 2] = NAN;
        if (i % 10 == 6) x[n / 3] = -INFINITY;
        q8_block *q = buffer_bytes((size_t)blocks * sizeof *q), expected;
        quantize_row_q8_0(n, x, q);
        for (int b = 0; b < blocks; b++) {
            reference_quantize(n - 32 * b < 32 ? n - 32 * b : 32, x + 32 * b, &expected);
            check_true(&s, "block", !memcmp(&expected, q + b, sizeof expected));
        }
        s.hash = burin_hash_bytes(s.hash, q, (size_t)blocks * sizeof *q);
        buffers_end(&s, "quantize");
    }
    suite_end(&s);
}

static void test_norms(void) {
    Suite rms = suite_begin("rms_norm"), layer = suite_begin("layer_norm"),
          softmax = suite_begin("softmax"), skip = suite_begin("add_row");
    for (int i = 0; i < 3 * LENGTHS; i++) {
        size_t n = (size_t)lengths[i % LENGTHS];
        float *x = random_floats(n), *w = random_floats(n), *b = random_floats(n),
              *y = buffer_floats(n), *expected = buffer_floats(n);
        rms_norm((int)n, 1e-5f, x, w, y);
        reference_rms_norm((int)n, 1e-5f, x, w, expected);
        check_floats(&rms, "row", y, expected, n);
        const float *weight_bias[2] = {w, i % 2 ? b : NULL};
        layer_norm((int)n, 1e-5f, x, weight_bias, y);
        reference_layer_norm((int)n, 1e-5f, x, weight_bias, expected);
        check_floats(&layer, "row", y, expected, n);
        add_row((int)n, x, b, y);
        for (size_t j = 0; j < n; j++) expected[j] = x[j] + b[j];
        check_floats(&skip, "row", y, expected, n);
        for (size_t j = 0; j < n; j++)
            x[j] = i % 7 == 6 || random_bits() % 5 == 0 ? -INFINITY : x[j] * 30;
        reference_softmax((int)n, x, expected);
        softmax_row((int)n, x, x);
        check_floats(&softmax, "row", x, expected, n);
        buffers_end(&rms, "norms");
    }
    suite_end(&rms);
    suite_end(&layer);
    suite_end(&softmax);
    suite_end(&skip);
}

static void test_rotary(void) {
    static const rotary_shape shapes[] = {{1, 2, 2},   {3, 8, 8},   {2, 24, 24}, {4, 40, 16},
                                          {2, 64, 64}, {3, 80, 32}, {2, 96, 96}, {5, 7, 4}};
    Suite half = suite_begin("rotary_half"), pairs = suite_begin("rotary_pairs");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        rotary_shape shape = shapes[i];
        size_t n = (size_t)(shape.heads * shape.head_dim);
        float *x = random_floats(n), *y = buffer_floats(n), *expected = buffer_floats(n);
        const float *table[2] = {random_floats((size_t)shape.turned / 2),
                                 random_floats((size_t)shape.turned / 2)};
        memcpy(expected, x, n * sizeof *x);
        reference_rotary(shape, false, table, expected);
        rotary_half(shape, x, table[0], table[1], y);
        check_floats(&half, "heads", y, expected, n);
        memcpy(expected, x, n * sizeof *x);
        reference_rotary(shape, true, table, expected);
        rotary_pairs(shape, x, table[0], table[1], x);
        check_floats(&pairs, "heads, in place", x, expected, n);
        buffers_end(&half, "rotary");
    }
    suite_end(&half);
    suite_end(&pairs);
}

static void test_gather(void) {
    Suite s = suite_begin("gather");
    for (int i = 0; i < LENGTHS; i++) {
        size_t n = (size_t)lengths[i];
        uint16_t *table = buffer_bytes(3 * n * sizeof *table);
        float *y = buffer_floats(n), *expected = buffer_floats(n), *floats = random_floats(3 * n);
        for (size_t j = 0; j < 3 * n; j++) table[j] = (uint16_t)(random_bits() % 0x7c00);
        gather_row_f16((int)n, table, 2, y);
        for (size_t j = 0; j < n; j++) expected[j] = sf_from_f16(table[2 * n + j]);
        check_floats(&s, "f16", y, expected, n);
        gather_row_bf16((int)n, table, 1, y);
        for (size_t j = 0; j < n; j++) expected[j] = sf_from_bf16(table[n + j]);
        check_floats(&s, "bf16", y, expected, n);
        gather_row_f32((int)n, floats, 1, y);
        check_floats(&s, "f32", y, floats + n, n);
        buffers_end(&s, "gather");
    }
    suite_end(&s);
}

// Columns of panels: element k of column n is [n / 16][k][n % 16], or in blocks of q8_0.
static void test_gather_columns(void) {
    Suite s = suite_begin("gather_column");
    for (int i = 0; i < LENGTHS; i++) {
        size_t k = (size_t)lengths[i], count = 2 * k * 16;
        int blocks = blocks_of((int)k), column = 16 + (int)(random_bits() % 16);
        float *y = buffer_floats(k), *expected = buffer_floats(k), *floats = random_floats(count);
        uint16_t *halves = buffer_bytes(count * sizeof *halves);
        uint8_t *panels = buffer_bytes(2 * block_panel_bytes(WEIGHT_q8_0, (int)k));
        for (size_t j = 0; j < count; j++) halves[j] = (uint16_t)(random_bits() % 0x7c00);
        for (size_t j = 0; j < 2 * block_panel_bytes(WEIGHT_q8_0, (int)k); j++)
            panels[j] = (uint8_t)(random_bits() % 0x7c);
        for (size_t j = 0; j < k; j++) expected[j] = floats[(k + j) * 16 + (size_t)column - 16];
        gather_column_f32((int)k, floats, column, y);
        check_floats(&s, "f32", y, expected, k);
        for (size_t j = 0; j < k; j++)
            expected[j] = sf_from_f16(halves[(k + j) * 16 + (size_t)column - 16]);
        gather_column_f16((int)k, halves, column, y);
        check_floats(&s, "f16", y, expected, k);
        for (size_t j = 0; j < k; j++)
            expected[j] = sf_from_bf16(halves[(k + j) * 16 + (size_t)column - 16]);
        gather_column_bf16((int)k, halves, column, y);
        check_floats(&s, "bf16", y, expected, k);
        for (size_t j = 0; j < k; j++) {
            const uint8_t *b = panels + ((size_t)blocks + j / 32) * block_bytes(WEIGHT_q8_0);
            uint16_t scale;
            memcpy(&scale, b + 512 + 2 * (column - 16), sizeof scale);
            expected[j] = sf_from_f16(scale) *
                          (float)(b[j % 32 / 4 * 64 + (size_t)(column - 16) * 4 + j % 4] - 128);
        }
        gather_column_q8_0((int)k, panels, column, y);
        check_floats(&s, "q8_0", y, expected, k);
        buffers_end(&s, "gather_column");
    }
    suite_end(&s);
}

void test_rows(void) {
    test_norms();
    test_rotary();
    test_gather();
    test_gather_columns();
}
