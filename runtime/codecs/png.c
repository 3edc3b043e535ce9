// PNG by libpng: bytes of red, green and blue, as PIL's convert("RGB") gives them, but over white
// where there is alpha. Gray of 16 bits is cut at 255, colours of 16 bits keep their upper byte.
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/escape.h"
#include "image/image.h"

static char png_reason[160];

typedef struct png_file {
    const uint8_t *at, *end;
    png_structp png;
    png_infop info;
    burin_image *image;
    uint8_t *rows;            // of the whole picture: interlaced pictures come in several passes
    size_t channels, sample;  // of a pixel as libpng gives it; bytes of a sample
    size_t stride;            // bytes of a row of `rows`
} png_file;

static void png_failed(png_structp png, png_const_charp why) {
    burin_format(png_reason, sizeof png_reason, "libpng: %s", why);
    longjmp(png_jmpbuf(png), 1);
}

static void png_warned(png_structp png, png_const_charp why) {
    (void)png;
    (void)why;
}

static void read_png_bytes(png_structp png, png_bytep to, size_t n) {
    png_file *f = png_get_io_ptr(png);
    if ((size_t)(f->end - f->at) < n) png_error(png, "the file is cut");
    memcpy(to, f->at, n);
    f->at += n;
}

static const char *open_png(png_file *f) {
    png_read_info(f->png, f->info);
    uint32_t width = png_get_image_width(f->png, f->info);
    uint32_t height = png_get_image_height(f->png, f->info);
    const char *why = burin_image_open(f->image, width, height);
    if (why) return why;
    bool gray = !(png_get_color_type(f->png, f->info) & PNG_COLOR_MASK_COLOR);
    bool wide = png_get_bit_depth(f->png, f->info) == 16;
    bool alpha = png_get_color_type(f->png, f->info) & PNG_COLOR_MASK_ALPHA;
    png_set_expand(f->png);
    if (wide && (!gray || alpha)) png_set_strip_16(f->png);
    png_set_interlace_handling(f->png);
    png_read_update_info(f->png, f->info);
    f->channels = png_get_channels(f->png, f->info);
    f->sample = png_get_bit_depth(f->png, f->info) / 8u;
    f->stride = png_get_rowbytes(f->png, f->info);
    f->rows = burin_allocate(height, f->stride);
    return NULL;
}

static uint8_t load_png_sample(const png_file *f, const uint8_t *p) {
    return f->sample == 2 && *p ? 255 : p[f->sample - 1];
}

static void store_png_pixels(const png_file *f) {
    size_t n = (size_t)f->image->width, pixel = f->channels * f->sample;
    bool gray = f->channels < 3, alpha = f->channels == 2 || f->channels == 4;
    uint8_t *to = f->image->pixels;
    for (int32_t y = 0; y < f->image->height; y++) {
        const uint8_t *from = f->rows + (size_t)y * f->stride;
        for (size_t x = 0; x < n; x++, from += pixel, to += 3) {
            uint8_t opaque = alpha ? load_png_sample(f, from + pixel - f->sample) : 255;
            for (size_t c = 0; c < 3; c++)
                to[c] = burin_over_white(load_png_sample(f, from + (gray ? 0 : c)), opaque);
        }
    }
}

static int png_orientation(const png_file *f) {
    png_uint_32 bytes = 0;
    png_bytep exif = NULL;
    if (!png_get_eXIf_1(f->png, f->info, &bytes, &exif) || !exif) return 1;
    return burin_exif_orientation(exif, bytes);
}

static const char *read_png(png_file *f) {
    if (setjmp(png_jmpbuf(f->png))) return png_reason;
    png_set_read_fn(f->png, f, read_png_bytes);
    png_set_user_limits(f->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    const char *why = open_png(f);
    if (why) return why;
    for (int pass = png_get_interlace_type(f->png, f->info) ? 7 : 1; pass > 0; pass--)
        for (int32_t y = 0; y < f->image->height; y++)
            png_read_row(f->png, f->rows + (size_t)y * f->stride, NULL);
    png_read_end(f->png, f->info);
    store_png_pixels(f);
    burin_image_orient(f->image, png_orientation(f));
    return NULL;
}

const char *burin_png_read(burin_image *image, const uint8_t *file, size_t bytes) {
    png_file f = {.at = file, .end = file + bytes, .image = image};
    f.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, png_failed, png_warned);
    if (f.png) f.info = png_create_info_struct(f.png);
    const char *why = f.info ? read_png(&f) : "there is no memory for it";
    png_destroy_read_struct(&f.png, &f.info, NULL);
    free(f.rows);
    if (why) burin_image_close(image);
    return why;
}
