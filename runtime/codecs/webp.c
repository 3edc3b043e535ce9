// WebP by libwebp, with and without loss: as PIL's convert("RGB"), but over white where a pixel has
// alpha. Of an animation no picture is read.
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

#include "base/allocate.h"
#include "image/image.h"

static uint32_t webp_number(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

// The orientation of the chunk EXIF; 1: there is none.
static int webp_orientation(const uint8_t *file, size_t bytes) {
    for (size_t at = 12; bytes - at > 8;) {
        const uint8_t *chunk = file + at + 8;
        size_t n = webp_number(file + at + 4), head = 0;
        if (n > bytes - at - 8) return 1;
        if (n > 6 && !memcmp(chunk, "Exif\0", 6)) head = 6;
        if (!memcmp(file + at, "EXIF", 4)) return burin_exif_orientation(chunk + head, n - head);
        at += 8 + n + n % 2;
        if (at > bytes) return 1;
    }
    return 1;
}

// Colours and alpha, over white.
static bool webp_decode_alpha(burin_image *image, const uint8_t *file, size_t bytes) {
    size_t n = (size_t)image->width * (size_t)image->height;
    uint8_t *all = burin_allocate(n, 4), *to = image->pixels;
    bool read = WebPDecodeRGBAInto(file, bytes, all, 4 * n, 4 * image->width) != NULL;
    for (size_t i = 0; read && i < n; i++)
        for (int c = 0; c < 3; c++)
            *to++ = burin_over_white(all[4 * i + (size_t)c], all[4 * i + 3]);
    free(all);
    return read;
}

const char *burin_webp_read(burin_image *image, const uint8_t *file, size_t bytes) {
    WebPBitstreamFeatures about;
    if (WebPGetFeatures(file, bytes, &about) != VP8_STATUS_OK)
        return "libwebp: the header is damaged";
    if (about.has_animation) return "it is an animated WebP";
    const char *why = burin_image_open(image, (uint64_t)about.width, (uint64_t)about.height);
    if (why) return why;
    size_t n = 3 * (size_t)image->width * (size_t)image->height;
    bool read = about.has_alpha
                    ? webp_decode_alpha(image, file, bytes)
                    : WebPDecodeRGBInto(file, bytes, image->pixels, n, 3 * image->width) != NULL;
    if (read) {
        burin_image_orient(image, webp_orientation(file, bytes));
        return NULL;
    }
    burin_image_close(image);
    *image = (burin_image){0};
    return "libwebp: it ends early or is damaged";
}
