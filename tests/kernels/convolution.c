// Convolutions: windows with strides, dilations and channels that are no multiple of anything,
// every format of floats, and shares of threads, against one chain of fma for each result.
#include "reference.h"

typedef struct Shape {
    int batch, height, width, channels, filters;
    int kernel[2], stride[2], dilation[2];
} Shape;

typedef struct Output {
    float *y;
    int n;
} Output;

static inline void store(const void *context, vf sum, int row, int column) {
    const Output *o = context;
    vf_store_n(o->y + (size_t)row * (size_t)o->n + column, sum, o->n - column);
}

#define CONVOLUTION(name)                                                                     \
    __attribute__((noinline)) static void run_##name(const matmul_args *m, const Output *o) { \
        convolve_##name(*m, store, o);                                                        \
    }
CONVOLUTION(f32)
CONVOLUTION(f16)
CONVOLUTION(bf16)

__attribute__((noinline)) static void run_bordered(const matmul_args *m, const Output *o) {
    convolve_bordered_f32(*m, store, o);
}

static float rounded(weight_format format, float w) {
    if (format == WEIGHT_F16) return sf_from_f16(f16_from_float(w));
    return format == WEIGHT_BF16 ? sf_from_bf16(bf16_from_float(w)) : w;
}

static int outputs(const Shape *s, int axis) {
    int size = axis ? s->width : s->height;
    return (size - 1 - (s->kernel[axis] - 1) * s->dilation[axis]) / s->stride[axis] + 1;
}
static int rows_of(const Shape *s) { return s->batch * outputs(s, 0) * outputs(s, 1); }
static int terms_of(const Shape *s) { return s->kernel[0] * s->kernel[1] * s->channels; }

// [n][k] to panels
static void *packed(weight_format format, int n, int k, const float *w) {
    size_t element = format == WEIGHT_F32 ? 4 : 2, panels = (size_t)(n + 15) / 16;
    unsigned char *to = buffer_bytes(panels * (size_t)k * 16 * element);
    memset(to, 0, panels * (size_t)k * 16 * element);
    for (int c = 0; c < n; c++)
        for (int i = 0; i < k; i++) {
            size_t at = ((size_t)(c / 16) * (size_t)k + (size_t)i) * 16 + (size_t)(c % 16);
            float value = w[c * k + i];
            uint16_t half = format == WEIGHT_F16 ? f16_from_float(value) : bf16_from_float(value);
            memcpy(to + element * at, format == WEIGHT_F32 ? (void *)&value : (void *)&half,
                   element);
        }
    return to;
}

static float reference_term(const Shape *s, const float *x, int row, int k) {
    int h = outputs(s, 0), w = outputs(s, 1), tap = k / s->channels;
    int y = row / w % h * s->stride[0] + tap / s->kernel[1] * s->dilation[0];
    int across = row % w * s->stride[1] + tap % s->kernel[1] * s->dilation[1];
    return x[((row / w / h * s->height + y) * s->width + across) * s->channels + k % s->channels];
}

static float *expected(const Shape *s, const float *x, const float *w) {
    const int k = terms_of(s), rows = rows_of(s);
    float *y = buffer_floats((size_t)(rows * s->filters));
    for (int r = 0; r < rows; r++)
        for (int n = 0; n < s->filters; n++) {
            float sum = 0;
            for (int i = 0; i < k; i++) sum = sf_fma(reference_term(s, x, r, i), w[n * k + i], sum);
            y[r * s->filters + n] = sum;
        }
    return y;
}

// Taps along the width are adjacent where nothing is left out between them.
static matmul_windows windows_of(const Shape *s) {
    const int row = s->width * s->channels;
    const bool merged = s->dilation[1] == 1;
    matmul_windows w = {
        .rows = {outputs(s, 1), outputs(s, 0), s->batch},
        .row_steps = {s->stride[1] * s->channels, s->stride[0] * row, s->height * row},
        .taps = {s->kernel[1], s->kernel[0]},
        .tap_steps = {s->dilation[1] * s->channels, s->dilation[0] * row},
        .adjacent = s->channels};
    if (!merged) return w;
    w.taps[0] = s->kernel[0], w.taps[1] = 0, w.tap_steps[0] = s->dilation[0] * row;
    w.adjacent = s->kernel[1] * s->channels;
    return w;
}

static void check_shape(Suite *suite, const Shape *s, weight_format format) {
    char label[100];
    const int k = terms_of(s), rows = rows_of(s), panels = (s->filters + 15) / 16;
    float *x = random_floats((size_t)(s->batch * s->height * s->width * s->channels));
    float *w = random_floats((size_t)(s->filters * k));
    for (int i = 0; i < s->filters * k; i++) w[i] = rounded(format, w[i]);
    const matmul_windows windows = windows_of(s);
    matmul_args m = {.panels = panels, .k = k, .rows = rows, .x = x, .windows = &windows};
    m.w = packed(format, s->filters, k, w);
    const Output o = {buffer_floats((size_t)(rows * s->filters)), s->filters};
    const int units = matmul_units(panels, rows),
              split = (int)(random_bits() % (unsigned)(units + 1));
    for (int part = 0; part < 2; part++) {
        m.first = part ? split : 0, m.last = part ? units : split;
        if (format == WEIGHT_F32)
            run_f32(&m, &o);
        else if (format == WEIGHT_F16)
            run_f16(&m, &o);
        else
            run_bf16(&m, &o);
    }
    snprintf(label, sizeof label, "format %d, %d rows, %d terms, %d filters", (int)format, rows, k,
             s->filters);
    check_floats(suite, label, o.y, expected(s, x, w), (size_t)(rows * s->filters));
    buffers_end(suite, label);
}

// Zeros around the input: as of a padded copy
static void check_bordered(Suite *suite, const Shape *s) {
    char label[100];
    const int low[] = {1, 2}, c = s->channels, high = s->height - 3, wide = s->width - 3;
    const int k = terms_of(s), rows = rows_of(s), panels = (s->filters + 15) / 16, row = wide * c;
    const float *x = random_floats((size_t)(s->batch * high * row));
    const float *w = random_floats((size_t)(s->filters * k));
    float *padded = buffer_floats((size_t)(s->batch * s->height * s->width * c));
    memset(padded, 0, (size_t)(s->batch * s->height * s->width * c) * sizeof *padded);
    for (int i = 0; i < s->batch * high; i++)
        memcpy(padded + ((i / high * s->height + i % high + low[1]) * s->width + low[0]) * c,
               x + i * row, (size_t)row * sizeof *x);
    const matmul_windows windows = {.rows = {outputs(s, 1), outputs(s, 0), s->batch},
                                    .row_steps = {s->stride[1] * c, s->stride[0] * row, high * row},
                                    .taps = {s->kernel[1], s->kernel[0]},
                                    .tap_steps = {s->dilation[1] * c, s->dilation[0] * row},
                                    .adjacent = c,
                                    .border = {.size = {wide, high},
                                               .low = {low[0], low[1]},
                                               .stride = {s->stride[1], s->stride[0]},
                                               .dilation = {s->dilation[1], s->dilation[0]},
                                               .origin = low[0] * c + low[1] * row}};
    matmul_args m = {.panels = panels, .k = k, .rows = rows, .x = x, .windows = &windows};
    m.w = packed(WEIGHT_F32, s->filters, k, w), m.last = matmul_units(panels, rows);
    const Output o = {buffer_floats((size_t)(rows * s->filters)), s->filters};
    run_bordered(&m, &o);
    snprintf(label, sizeof label, "border, %d rows, %d terms", rows, k);
    check_floats(suite, label, o.y, expected(s, padded, w), (size_t)(rows * s->filters));
    buffers_end(suite, label);
}

// The result of a depthwise convolution, whose channels are its filters
static float *expected_depthwise(const Shape *s, const float *x, const float *w) {
    const int rows = rows_of(s), taps = s->kernel[0] * s->kernel[1];
    float *y = buffer_floats((size_t)(rows * s->channels));
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < s->channels; c++) {
            float sum = 0;
            for (int k = 0; k < taps; k++)
                sum = sf_fma(reference_term(s, x, r, k * s->channels + c), w[k * s->channels + c],
                             sum);
            y[r * s->channels + c] = sum;
        }
    return y;
}

static void check_depthwise(Suite *suite, const Shape *s) {
    char label[100];
    const int row = s->width * s->channels, rows = rows_of(s), taps = s->kernel[0] * s->kernel[1];
    const float *x = random_floats((size_t)(s->batch * s->height * row));
    const float *w = random_floats((size_t)(taps * s->channels));
    const matmul_windows windows = {
        .rows = {outputs(s, 1), outputs(s, 0), s->batch},
        .row_steps = {s->stride[1] * s->channels, s->stride[0] * row, s->height * row},
        .taps = {s->kernel[1], s->kernel[0]},
        .tap_steps = {s->dilation[1] * s->channels, s->dilation[0] * row}};
    depthwise_args a = {.channels = s->channels, .taps = taps, .windows = &windows, .x = x, .w = w};
    const Output o = {buffer_floats((size_t)(rows * s->channels)), s->channels};
    const int split = (int)(random_bits() % (unsigned)(rows + 1));
    for (int part = 0; part < 2; part++) {
        a.pixels = part ? (burin_range){split, rows} : (burin_range){0, split};
        depthwise_f32(a, store, &o);
    }
    snprintf(label, sizeof label, "%d rows, %d taps, %d channels", rows, taps, s->channels);
    check_floats(suite, label, o.y, expected_depthwise(s, x, w), (size_t)(rows * s->channels));
    buffers_end(suite, label);
}

void test_depthwise(void) {
    Suite suite = suite_begin("depthwise");
    static const Shape shapes[] = {
        {1, 3, 3, 2, 2, {3, 3}, {1, 1}, {1, 1}},    {1, 7, 9, 17, 17, {3, 3}, {1, 1}, {1, 1}},
        {2, 9, 8, 64, 64, {3, 2}, {2, 2}, {1, 1}},  {1, 1, 50, 33, 33, {1, 5}, {1, 2}, {1, 3}},
        {3, 12, 9, 48, 48, {7, 7}, {1, 1}, {1, 1}}, {1, 11, 10, 80, 80, {3, 3}, {1, 1}, {2, 2}},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) check_depthwise(&suite, &shapes[i]);
    suite_end(&suite);
}

void test_convolution(void) {
    Suite suite = suite_begin("convolution");
    static const Shape shapes[] = {
        {1, 3, 3, 1, 1, {1, 1}, {1, 1}, {1, 1}},    {1, 7, 9, 3, 17, {3, 3}, {1, 1}, {1, 1}},
        {2, 9, 8, 5, 64, {3, 2}, {2, 2}, {1, 1}},   {1, 1, 50, 7, 33, {1, 5}, {1, 2}, {1, 3}},
        {3, 5, 6, 2, 48, {2, 2}, {2, 2}, {1, 1}},   {1, 11, 10, 4, 80, {3, 3}, {1, 1}, {2, 2}},
        {1, 13, 4, 1, 20, {7, 3}, {3, 1}, {1, 1}},  {1, 4, 4, 600, 70, {3, 3}, {1, 1}, {1, 1}},
        {2, 6, 6, 16, 100, {1, 1}, {2, 2}, {1, 1}},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int f = 0; f < 3; f++)
            check_shape(&suite, &shapes[i],
                        (const weight_format[]){WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16}[f]);
    check_bordered(&suite, &(Shape){1, 9, 8, 5, 20, {3, 3}, {1, 1}, {1, 1}});
    check_bordered(&suite, &(Shape){2, 12, 11, 16, 70, {5, 3}, {2, 2}, {1, 2}});
    check_bordered(&suite, &(Shape){1, 5, 4, 500, 33, {5, 4}, {1, 1}, {1, 1}});
    suite_end(&suite);
}
