// Resizing with PIL's bytes: each output pixel is a weighted sum of the input pixels that its
// filter covers, wider where the picture shrinks. Weights are in fixed point of 22 bits; rows are
// resized first, then columns, with bytes between.
#include "image/resize.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"

enum { WEIGHT_BITS = 22 };

static double weigh_linear(double x) {
    if (x < 0) x = -x;
    return x < 1 ? 1 - x : 0;
}

static double weigh_cubic(double x) {
    const double a = -0.5;
    if (x < 0) x = -x;
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

// sin(x) for |x| below 10: x less its nearest multiple of pi, then Taylor's series.
static double sine(double x) {
    const double pi = 3.14159265358979323846, pi_rest = 1.2246467991473532e-16;
    int n = (int)(x / pi + (x < 0 ? -0.5 : 0.5));
    double r = (x - n * pi) - n * pi_rest, term = r, sum = 0;
    for (int i = 2; i < 26; i += 2) {
        sum += term;
        term *= -r * r / (i * (i + 1));
    }
    return n % 2 ? -sum : sum;
}

static double weigh_sinc(double x) {
    const double pi = 3.14159265358979323846;
    if (x == 0) return 1;
    x *= pi;
    return sine(x) / x;
}

static double weigh_lanczos(double x) {
    return x >= -3 && x < 3 ? weigh_sinc(x) * weigh_sinc(x / 3) : 0;
}

static double weigh_box(double x) { return x > -0.5 && x <= 0.5 ? 1 : 0; }

typedef struct image_filter {
    double (*weigh)(double);
    double support;  // pixels on each side
} image_filter;

static image_filter filter_of(burin_resampling resample) {
    if (resample == BURIN_BICUBIC) return (image_filter){weigh_cubic, 2};
    if (resample == BURIN_LANCZOS) return (image_filter){weigh_lanczos, 3};
    if (resample == BURIN_BOX) return (image_filter){weigh_box, 0.5};
    return (image_filter){weigh_linear, 1};
}

// One axis: for each output pixel the first input pixel, how many, and their weights.
typedef struct filter_axis {
    int32_t *first, *n;  // [to]
    int32_t *weight;     // [to][most]
    size_t most;
} filter_axis;

static void set_weights(filter_axis *axis, int32_t at, double center, double scale,
                        const image_filter *f) {
    double sum = 0, *real = burin_allocate(axis->most, sizeof *real);
    int32_t *weight = axis->weight + (size_t)at * axis->most;
    for (int32_t i = 0; i < axis->n[at]; i++) {
        real[i] = f->weigh(((i + axis->first[at]) - center + 0.5) * (1.0 / scale));
        sum += real[i];
    }
    for (int32_t i = 0; i < axis->n[at]; i++) {
        double share = sum != 0 ? real[i] / sum : real[i];
        share *= 1 << WEIGHT_BITS;
        weight[i] = (int32_t)(share < 0 ? share - 0.5 : share + 0.5);
    }
    free(real);
}

static filter_axis filter_axis_of(int32_t from, int32_t to, const image_filter *f) {
    double ratio = (double)from / to, scale = ratio < 1 ? 1 : ratio, support = f->support * scale;
    int32_t reach = (int32_t)support;
    if (reach < support) reach++;
    filter_axis axis = {.most = (size_t)reach * 2 + 1};
    axis.first = burin_allocate((size_t)to, sizeof *axis.first);
    axis.n = burin_allocate((size_t)to, sizeof *axis.n);
    axis.weight = burin_allocate((size_t)to * axis.most, sizeof *axis.weight);
    for (int32_t i = 0; i < to; i++) {
        double center = (i + 0.5) * ratio;
        int32_t first = (int32_t)(center - support + 0.5), end = (int32_t)(center + support + 0.5);
        if (first < 0) first = 0;
        if (end > from) end = from;
        axis.first[i] = first;
        axis.n[i] = end - first;
        set_weights(&axis, i, center, scale, f);
    }
    return axis;
}

static void filter_axis_close(filter_axis *axis) {
    free(axis->first);
    free(axis->n);
    free(axis->weight);
}

// `step`: bytes from an input pixel to the next along the axis.
static void weigh_pixel(const filter_axis *axis, int32_t at, const uint8_t *from, size_t step,
                        uint8_t *to) {
    const int32_t *weight = axis->weight + (size_t)at * axis->most;
    from += (size_t)axis->first[at] * step;
    for (int c = 0; c < 3; c++) {
        int64_t sum = 1 << (WEIGHT_BITS - 1);
        for (int32_t i = 0; i < axis->n[at]; i++)
            sum += (int64_t)from[(size_t)i * step + c] * weight[i];
        sum >>= WEIGHT_BITS;
        to[c] = (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
    }
}

// One pass: along rows (`across`) or columns, to `size` pixels.
static void filter_image(burin_image *image, int32_t size, bool across, const image_filter *f) {
    burin_image out = {.width = across ? size : image->width,
                       .height = across ? image->height : size};
    filter_axis axis = filter_axis_of(across ? image->width : image->height, size, f);
    size_t stride = (size_t)image->width * 3;
    out.pixels = burin_allocate((size_t)out.width * (size_t)out.height, 3);
    uint8_t *to = out.pixels;
    for (int32_t y = 0; y < out.height; y++) {
        for (int32_t x = 0; x < out.width; x++, to += 3) {
            if (across)
                weigh_pixel(&axis, x, image->pixels + (size_t)y * stride, 3, to);
            else
                weigh_pixel(&axis, y, image->pixels + 3 * (size_t)x, stride, to);
        }
    }
    filter_axis_close(&axis);
    burin_image_close(image);
    *image = out;
}

// The input pixel of each output pixel; the position is a sum of steps, as PIL adds them.
static int32_t *nearest_pixels(int32_t from, int32_t to) {
    int32_t *pixel = burin_allocate((size_t)to, sizeof *pixel);
    double step = (double)from / to, at = step * 0.5;
    for (int32_t i = 0; i < to; i++, at += step) {
        pixel[i] = (int32_t)at;
        if (pixel[i] >= from) pixel[i] = from - 1;
    }
    return pixel;
}

static void take_nearest(burin_image *image, int32_t width, int32_t height) {
    burin_image out = {.width = width, .height = height};
    int32_t *column = nearest_pixels(image->width, width);
    int32_t *row = nearest_pixels(image->height, height);
    out.pixels = burin_allocate((size_t)width * (size_t)height, 3);
    uint8_t *to = out.pixels;
    for (int32_t y = 0; y < height; y++) {
        const uint8_t *from = image->pixels + (size_t)row[y] * (size_t)image->width * 3;
        for (int32_t x = 0; x < width; x++, to += 3) memcpy(to, from + 3 * (size_t)column[x], 3);
    }
    free(column);
    free(row);
    burin_image_close(image);
    *image = out;
}

void burin_image_resize(burin_image *image, int32_t width, int32_t height,
                        burin_resampling resample) {
    bool wide = width != image->width, high = height != image->height;
    const image_filter f = filter_of(resample);
    if (!wide && !high) return;
    if (resample == BURIN_NEAREST) {
        take_nearest(image, width, height);
        return;
    }
    if (wide) filter_image(image, width, true, &f);
    if (high) filter_image(image, height, false, &f);
}
