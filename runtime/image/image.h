// A picture in memory, and the readers of each format.
#ifndef BURIN_IMAGE_H
#define BURIN_IMAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct burin_image {
    uint8_t *pixels;  // [height][width][3]: red, green, blue; the owner frees it
    int32_t width, height;
} burin_image;

enum { BURIN_MOST_SIDE = 65535, BURIN_MOST_PIXELS = 1 << 27 };

// Sets the size and allocates the pixels. NULL, or why the size is refused (nothing is allocated).
const char *burin_image_open(burin_image *, uint64_t width, uint64_t height);
void burin_image_close(burin_image *);

// One channel of a pixel over white, rounded to the nearest; alpha 0 to 255.
uint8_t burin_over_white(uint8_t value, uint8_t alpha);

// Turns and mirrors the picture; orientation: 1 to 8 of EXIF, others change nothing.
void burin_image_orient(burin_image *, int orientation);
// The orientation of an EXIF block that begins with its byte order; 1: none.
int burin_exif_orientation(const uint8_t *exif, size_t bytes);

// Readers of a whole file. NULL, or why it cannot be read (until the next call); then nothing is
// allocated.
const char *burin_image_read(burin_image *, const uint8_t *file, size_t bytes);  // any format
const char *burin_netpbm_read(burin_image *, const uint8_t *file, size_t bytes);
const char *burin_bmp_read(burin_image *, const uint8_t *file, size_t bytes);
const char *burin_gif_read(burin_image *, const uint8_t *file, size_t bytes);
#ifdef BURIN_WEBP
#define BURIN_WEBP_NAME "WebP, "
#else
#define BURIN_WEBP_NAME ""
#endif
#if defined(BURIN_PNG) && defined(BURIN_JPEG)
#define BURIN_PICTURE_LIBRARIES "PNG, JPEG, " BURIN_WEBP_NAME
#elif defined(BURIN_PNG)
#define BURIN_PICTURE_LIBRARIES "PNG, " BURIN_WEBP_NAME
#elif defined(BURIN_JPEG)
#define BURIN_PICTURE_LIBRARIES "JPEG, " BURIN_WEBP_NAME
#else
#define BURIN_PICTURE_LIBRARIES BURIN_WEBP_NAME
#endif
#ifdef BURIN_PNG
const char *burin_png_read(burin_image *, const uint8_t *file, size_t bytes);  // runtime/codecs
#endif
#ifdef BURIN_JPEG
const char *burin_jpeg_read(burin_image *, const uint8_t *file, size_t bytes);  // runtime/codecs
#endif
#ifdef BURIN_WEBP
const char *burin_webp_read(burin_image *, const uint8_t *file, size_t bytes);  // runtime/codecs
#endif
#endif
