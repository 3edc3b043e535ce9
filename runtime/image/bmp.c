// BMP: 1, 4 and 8 bits with a palette, 24 and 32 bits, without compression.
#include <string.h>

#include "base/escape.h"
#include "image/image.h"

static char bmp_reason[120];

typedef struct bmp {
    const uint8_t *file;
    size_t bytes;
    uint32_t data, header, width, height, bits, compression, colours;
    bool from_top;
    const uint8_t *palette;
    size_t entry;  // bytes of a colour of the palette
} bmp;

static uint32_t load_bmp(const uint8_t *p, int bytes) {
    uint32_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) value = value << 8 | p[i];
    return value;
}

// The first header of OS/2 has 12 bytes; all others begin as Windows' of 40.
static const char *read_bmp_header(bmp *b) {
    const uint8_t *p = b->file + 14;
    if (b->bytes < 26) return "its header is cut";
    b->data = load_bmp(b->file + 10, 4);
    b->header = load_bmp(p, 4);
    if (b->header != 12 && (b->header < 40 || b->header > 256))
        return "its header is of no known size";
    if (b->bytes < 14 + (size_t)b->header) return "its header is cut";
    bool old = b->header == 12;
    b->width = load_bmp(p + 4, old ? 2 : 4);
    b->height = load_bmp(p + (old ? 6 : 8), old ? 2 : 4);
    b->bits = load_bmp(p + (old ? 10 : 14), 2);
    b->compression = old ? 0 : load_bmp(p + 16, 4);
    b->colours = old ? 0 : load_bmp(p + 32, 4);
    b->from_top = !old && b->height > INT32_MAX;
    if (b->from_top) b->height = 0u - b->height;
    b->entry = old ? 3 : 4;
    b->palette = p + b->header;
    return NULL;
}

static const char *check_bmp(bmp *b) {
    uint32_t n = b->bits;
    if (b->compression) {
        burin_format(bmp_reason, sizeof bmp_reason, "it has compression %u: expected 0, none",
                     b->compression);
        return bmp_reason;
    }
    if (n != 1 && n != 4 && n != 8 && n != 24 && n != 32) {
        burin_format(bmp_reason, sizeof bmp_reason,
                     "it has %u bits per pixel: expected 1, 4, 8, 24 or 32", n);
        return bmp_reason;
    }
    if (n > 8) return NULL;
    if (!b->colours || b->colours > 1u << n) b->colours = 1u << n;
    size_t before = (size_t)(b->palette - b->file);
    return before + b->colours * b->entry > b->bytes ? "its palette is cut" : NULL;
}

// Blue, green, red; NULL: the pixel's colour is not in the palette.
static const uint8_t *bmp_colour(const bmp *b, const uint8_t *row, uint32_t x) {
    if (b->bits > 8) return row + (size_t)x * (b->bits / 8);
    uint32_t per_byte = 8 / b->bits, shift = 8 - b->bits * (x % per_byte + 1);
    uint32_t index = row[x / per_byte] >> shift & ((1u << b->bits) - 1);
    return index < b->colours ? b->palette + index * b->entry : NULL;
}

static const char *read_bmp_pixels(const bmp *b, burin_image *image, size_t stride) {
    for (uint32_t y = 0; y < b->height; y++) {
        uint32_t from = b->from_top ? y : b->height - 1 - y;
        const uint8_t *row = b->file + b->data + from * stride;
        uint8_t *to = image->pixels + (size_t)y * b->width * 3;
        for (uint32_t x = 0; x < b->width; x++, to += 3) {
            const uint8_t *colour = bmp_colour(b, row, x);
            if (!colour) return "a pixel has a colour that its palette lacks";
            to[0] = colour[2];
            to[1] = colour[1];
            to[2] = colour[0];
        }
    }
    return NULL;
}

const char *burin_bmp_read(burin_image *image, const uint8_t *file, size_t bytes) {
    bmp b = {.file = file, .bytes = bytes};
    const char *why = read_bmp_header(&b);
    if (!why) why = check_bmp(&b);
    if (why) return why;
    size_t stride = ((size_t)b.width * b.bits + 31) / 32 * 4;
    bool fits = b.width <= BURIN_MOST_SIDE && b.height <= BURIN_MOST_SIDE;
    if (fits && (b.data > bytes || stride * b.height > bytes - b.data))
        return "it is cut: the file ends before its last pixel";
    why = burin_image_open(image, b.width, b.height);
    if (!why) why = read_bmp_pixels(&b, image, stride);
    if (why) burin_image_close(image);
    return why;
}
