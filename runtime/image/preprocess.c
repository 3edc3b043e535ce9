// Resize, center crop, rescale, normalize: the values of transformers' processors that use PIL.
#include "image/preprocess.h"

#include "base/escape.h"
#include "image/resize.h"

static char preprocess_reason[160];

static const char *resize_shortest(burin_image *image, const burin_picture *p, int32_t to) {
    int64_t width = image->width, height = image->height, edge = to;
    int64_t shorter = width < height ? width : height, longer = width < height ? height : width;
    int64_t other = (int64_t)((double)(edge * longer) / (double)shorter);
    if (other > BURIN_MOST_SIDE || other * edge > BURIN_MOST_PIXELS) {
        burin_format(preprocess_reason, sizeof preprocess_reason,
                     "its %lld x %lld pixels become %lld x %lld: too long", (long long)width,
                     (long long)height, (long long)(width < height ? edge : other),
                     (long long)(width < height ? other : edge));
        return preprocess_reason;
    }
    bool upright = width <= height;
    burin_image_resize(image, (int32_t)(upright ? edge : other), (int32_t)(upright ? other : edge),
                       (burin_resampling)p->resample);
    return NULL;
}

// The nearest multiple, of two equally near the even one.
static int32_t round_side(double side, int32_t multiple) {
    const double quotient = side / multiple;
    int64_t n = (int64_t)quotient;
    const double rest = quotient - (double)n;
    if (rest > 0.5 || (rest == 0.5 && n % 2)) n++;
    return n * multiple > BURIN_MOST_SIDE ? BURIN_MOST_SIDE : (int32_t)(n * multiple);
}

// DPT's sizes: both sides are scaled by the factor that changes less.
static const char *resize_by_ratio(burin_image *image, const burin_picture *p) {
    double down = (double)p->height / image->height, across = (double)p->width / image->width;
    const double less_down = down < 1 ? 1 - down : down - 1,
                 less_across = across < 1 ? 1 - across : across - 1;
    if (p->keep_ratio && less_across < less_down) down = across;
    if (p->keep_ratio && less_across >= less_down) across = down;
    const int32_t multiple = p->multiple ? p->multiple : 1;
    const int32_t height = round_side(down * image->height, multiple),
                  width = round_side(across * image->width, multiple);
    if (height != p->height || width != p->width) {
        burin_format(preprocess_reason, sizeof preprocess_reason,
                     "its %d x %d pixels become %d x %d, the model takes %d x %d: cut it to that "
                     "ratio",
                     image->width, image->height, width, height, p->width, p->height);
        return preprocess_reason;
    }
    burin_image_resize(image, width, height, (burin_resampling)p->resample);
    return NULL;
}

// Makes a page smaller until it is within the size.
static void shrink_page(burin_image *image, const burin_picture *p) {
    const int64_t rows = image->height, columns = image->width;
    int64_t height = rows < p->height ? rows : p->height,
            width = columns < p->width ? columns : p->width;
    if (height == rows && width == columns) return;
    if (rows > columns) width = (int64_t)((double)(columns * height) / (double)rows);
    if (columns > rows) height = (int64_t)((double)(rows * width) / (double)columns);
    const int32_t filter = p->resample == BURIN_NEAREST ? BURIN_BICUBIC : p->resample;
    burin_image_resize(image, (int32_t)(width ? width : 1), (int32_t)(height ? height : 1),
                       (burin_resampling)filter);
}

static const char *prepare_page(burin_image *image, const burin_picture *p) {
    const bool upright = p->width<p->height, wide = p->width> p->height;
    if ((p->page & BURIN_PAGE_TURNED) &&
        ((upright && image->width > image->height) || (wide && image->width < image->height)))
        burin_image_orient(image, 6);
    if (p->page & BURIN_PAGE_RESIZED) {
        const char *why = resize_shortest(image, p, upright ? p->width : p->height);
        if (why) return why;
    }
    if (p->page & BURIN_PAGE_WITHIN) shrink_page(image, p);
    if (image->width <= p->width && image->height <= p->height) return NULL;
    burin_format(preprocess_reason, sizeof preprocess_reason,
                 "it becomes %d x %d pixels, more than the %d x %d that the model takes",
                 image->width, image->height, p->width, p->height);
    return preprocess_reason;
}

// Floor of half of `a`.
static int32_t halve(int32_t a) { return a >= 0 ? a / 2 : -((1 - a) / 2); }

float burin_preprocess_byte(const burin_picture *p, int channel, uint8_t byte) {
    float value = (float)(byte * p->scale);
    return (value - p->mean[channel]) / p->deviation[channel];
}

const char *burin_image_preprocess(burin_image *image, const burin_picture *p, int32_t height,
                                   int32_t width, float *values) {
    const char *why = NULL;
    if (p->resize == BURIN_SHORTEST_EDGE) why = resize_shortest(image, p, p->height);
    if (p->resize == BURIN_EXACT_SIZE && (p->keep_ratio || p->multiple))
        why = resize_by_ratio(image, p);
    else if (p->resize == BURIN_EXACT_SIZE)
        burin_image_resize(image, p->width, p->height, (burin_resampling)p->resample);
    if (p->resize == BURIN_PAGE) why = prepare_page(image, p);
    if (why) return why;
    const bool page = p->resize == BURIN_PAGE;
    if (!page && !p->crop_height && (image->height != height || image->width != width)) {
        burin_format(preprocess_reason, sizeof preprocess_reason,
                     "it has %d x %d pixels, the model takes %d x %d", image->width, image->height,
                     width, height);
        return preprocess_reason;
    }
    const int32_t top = page ? -((height - image->height) / 2) : halve(image->height - height),
                  left = page ? -((width - image->width) / 2) : halve(image->width - width);
    for (int c = 0; c < 3; c++) {
        for (int32_t y = 0; y < height; y++) {
            for (int32_t x = 0; x < width; x++) {
                int64_t row = y + top, column = x + left;
                bool inside =
                    row >= 0 && row < image->height && column >= 0 && column < image->width;
                size_t at = 3 * (size_t)(row * image->width + column) + (size_t)c;
                *values++ = burin_preprocess_byte(p, c, inside ? image->pixels[at] : 0);
            }
        }
    }
    return NULL;
}
