// A picture's memory, its orientation, and which reader a file is for.
#include "image/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/escape.h"

static char image_reason[160];

const char *burin_image_open(burin_image *image, uint64_t width, uint64_t height) {
    if (!width || !height) return "it has no pixels";
    if (width > BURIN_MOST_SIDE || height > BURIN_MOST_SIDE || width * height > BURIN_MOST_PIXELS) {
        burin_format(image_reason, sizeof image_reason,
                     "it has %llu x %llu pixels: expected at most %d in all, %d a side",
                     (unsigned long long)width, (unsigned long long)height, BURIN_MOST_PIXELS,
                     BURIN_MOST_SIDE);
        return image_reason;
    }
    image->width = (int32_t)width;
    image->height = (int32_t)height;
    image->pixels = burin_allocate((size_t)(width * height), 3);
    return NULL;
}

void burin_image_close(burin_image *image) {
    free(image->pixels);
    *image = (burin_image){0};
}

uint8_t burin_over_white(uint8_t value, uint8_t alpha) {
    unsigned sum = value * (unsigned)alpha + 255u * (255u - alpha) + 128;
    return (uint8_t)((sum + (sum >> 8)) >> 8);
}

// ---------------------------------------------------------------------------------- orientation
static uint32_t load_exif(const uint8_t *p, int bytes, bool big) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint32_t)p[i] << 8 * (big ? bytes - 1 - i : i);
    return value;
}

int burin_exif_orientation(const uint8_t *exif, size_t bytes) {
    enum { ORIENTATION = 0x112, SHORT = 3, ENTRY = 12 };
    if (bytes < 8 || (memcmp(exif, "II*\0", 4) != 0 && memcmp(exif, "MM\0*", 4) != 0)) return 1;
    bool big = *exif == 'M';
    size_t at = load_exif(exif + 4, 4, big);
    if (at > bytes - 2) return 1;
    uint32_t entries = load_exif(exif + at, 2, big);
    at += 2;
    for (uint32_t i = 0; i < entries && bytes - at >= ENTRY; i++, at += ENTRY) {
        if (load_exif(exif + at, 2, big) != ORIENTATION) continue;
        uint32_t value = load_exif(exif + at + 8, 2, big);
        return load_exif(exif + at + 2, 2, big) == SHORT && value >= 1 && value <= 8 ? (int)value
                                                                                     : 1;
    }
    return 1;
}

void burin_image_orient(burin_image *image, int orientation) {
    if (orientation < 2 || orientation > 8) return;
    bool swaps = orientation >= 5;
    bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    burin_image turned = {.width = swaps ? image->height : image->width,
                          .height = swaps ? image->width : image->height};
    turned.pixels = burin_allocate((size_t)turned.width * (size_t)turned.height, 3);
    for (int32_t y = 0; y < turned.height; y++) {
        for (int32_t x = 0; x < turned.width; x++) {
            int32_t column = swaps ? y : x, row = swaps ? x : y;
            if (from_right) column = image->width - 1 - column;
            if (from_bottom) row = image->height - 1 - row;
            memcpy(turned.pixels + 3 * ((size_t)y * (size_t)turned.width + (size_t)x),
                   image->pixels + 3 * ((size_t)row * (size_t)image->width + (size_t)column), 3);
        }
    }
    burin_image_close(image);
    *image = turned;
}

// -------------------------------------------------------------------------------------- formats
typedef struct image_format {
    const char *magic;
    size_t bytes, at;  // of the magic, and its offset in the file
    const char *(*read)(burin_image *, const uint8_t *file, size_t bytes);
    const char *why;  // where read is NULL
} image_format;

#define MAGIC(text, at) text, sizeof text - 1, at
static const image_format image_formats[] = {
#ifdef BURIN_PNG
    {MAGIC("\x89PNG\r\n\x1a\n", 0), burin_png_read, NULL},
#else
    {MAGIC("\x89PNG\r\n\x1a\n", 0), NULL, "it is PNG, and this program was built without libpng"},
#endif
#ifdef BURIN_JPEG
    {MAGIC("\xff\xd8\xff", 0), burin_jpeg_read, NULL},
#else
    {MAGIC("\xff\xd8\xff", 0), NULL, "it is JPEG, and this program was built without libjpeg"},
#endif
    {MAGIC("P5", 0), burin_netpbm_read, NULL},
    {MAGIC("P6", 0), burin_netpbm_read, NULL},
    {MAGIC("BM", 0), burin_bmp_read, NULL},
    {MAGIC("GIF87a", 0), burin_gif_read, NULL},
    {MAGIC("GIF89a", 0), burin_gif_read, NULL},
#ifdef BURIN_WEBP
    {MAGIC("WEBP", 8), burin_webp_read, NULL},
#else
    {MAGIC("WEBP", 8), NULL, "it is WebP, and this program was built without libwebp"},
#endif
    {MAGIC("ftypavif", 4), NULL, "it is AVIF"},
    {MAGIC("ftyphei", 4), NULL, "it is HEIC"},
    {MAGIC("ftypmif1", 4), NULL, "it is HEIC"},
    {MAGIC("II*\0", 0), NULL, "it is TIFF"},
    {MAGIC("MM\0*", 0), NULL, "it is TIFF"},
    {MAGIC("%PDF", 0), NULL, "it is PDF"},
    {MAGIC("<svg", 0), NULL, "it is SVG"},
    {MAGIC("<!DOCTYPE", 0), NULL, "it is HTML"},
    {MAGIC("<!doctype", 0), NULL, "it is HTML"},
    {MAGIC("<html", 0), NULL, "it is HTML"},
    {MAGIC("P1", 0), NULL, "it is a PBM of text"},
    {MAGIC("P2", 0), NULL, "it is a PGM of text"},
    {MAGIC("P3", 0), NULL, "it is a PPM of text"},
    {MAGIC("P4", 0), NULL, "it is PBM"},
    {MAGIC("\x93NUMPY", 0), NULL, "it is .npy, which --input takes"},
};

const char *burin_image_read(burin_image *image, const uint8_t *file, size_t bytes) {
    *image = (burin_image){0};
    if (!bytes) return "it is empty";
    for (size_t i = 0; i < sizeof image_formats / sizeof *image_formats; i++) {
        const image_format *f = &image_formats[i];
        if (bytes < f->at + f->bytes || memcmp(file + f->at, f->magic, f->bytes) != 0) continue;
        return f->read ? f->read(image, file, bytes) : f->why;
    }
    return "it begins as no picture does";
}
